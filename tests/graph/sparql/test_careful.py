"""Forms of queries that Oxigraph answers wrongly: GRAPH around other things than triples, and paths of length zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyoxigraph import NamedNode

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_graph.sparql.careful import careful_query
from cortex_graph.sparql.tokens import read_tokens
from cortex_graph.store import Dataset
from tests.graph.sparql.conftest import rows_of

OWN, RECORDS = "urn:cortex:m", "urn:cortex:m/provenance"


@pytest.fixture(scope="module")
def graph() -> Iterator[NamespacedGraph]:
    store = open_store("memory:")
    opened = NamespacedGraph(store, "m")
    opened.update("INSERT DATA { m:a m:p m:b . m:b m:p m:c . m:a m:n 1 . m:b m:n 2 }")
    opened.create_triple({"subject": "c", "predicate": "n", "object": 3}, Provenance(agent="a1"))
    yield opened
    store.close()


def counted(graph: NamespacedGraph, text: str) -> Counter[tuple[tuple[str, str], ...]]:
    return Counter(tuple(sorted(row.items())) for row in rows_of(graph.query(text)))


@pytest.mark.parametrize(
    "pattern",
    [
        "VALUES ?x { 1 2 }",
        "BIND(1 AS ?x)",
        "FILTER(true)",
        "",
        "?x ?y ?z",
        "OPTIONAL { ?x m:p ?y }",
        "OPTIONAL { VALUES ?x { 1 } }",
        "VALUES ?x { m:a } ?x m:p ?y",
        "{ VALUES ?x { 1 } } UNION { ?x m:p ?y }",
        "{ ?x m:p ?y } UNION { ?x m:n ?y }",
        "{ ?x m:p ?y } MINUS { ?x m:n 1 }",
        "VALUES ?x { m:a } FILTER NOT EXISTS { ?x m:p ?y }",
        "VALUES ?x { m:a } FILTER EXISTS { ?x m:p ?y }",
        "VALUES ?x { m:a m:b } MINUS { ?x m:p m:b }",
        "SELECT ?x { ?x m:p ?y }",
        "SELECT (COUNT(*) AS ?x) { ?y ?p ?z }",
        "SELECT DISTINCT ?x { VALUES ?x { 1 1 } }",
        "{ SELECT ?x { ?x m:n ?y } ORDER BY ?y LIMIT 1 } ?x m:p ?z",
        "?x m:p ?y { SELECT (MAX(?n) AS ?most) { ?z m:n ?n } }",
        "?x m:p* ?y",
        "m:a m:p* ?x",
        "m:unknown m:p* ?x",
        "GRAPH ?inner { VALUES ?x { 1 } }",
        "?x m:n ?n FILTER(?n > 1)",
    ],
)
def test_a_variable_graph_is_the_union_of_the_named_graphs(graph: NamespacedGraph, pattern: str) -> None:
    each = sum(
        (
            counted(graph, f"SELECT * {{ VALUES ?g {{ <{iri}> }} GRAPH <{iri}> {{ {pattern} }} }}")
            for iri in (OWN, RECORDS)
        ),
        Counter(),
    )
    assert counted(graph, f"SELECT * {{ GRAPH ?g {{ {pattern} }} }}") == each
    assert "GRAPH" not in pattern or len(each) == 4
    narrowed = f"SELECT * FROM NAMED <{OWN}> {{ GRAPH ?g {{ {pattern} }} }}"
    assert counted(graph, narrowed) == Counter({row: count for row, count in each.items() if ("g", OWN) in row}) or (
        "GRAPH" in pattern
    )


@pytest.mark.parametrize(
    "pattern", ["VALUES ?x { 1 }", "BIND(1 AS ?x)", "", "SELECT (COUNT(*) AS ?x) { ?s ?p ?o }", "m:a m:p* ?x"]
)
def test_a_graph_that_does_not_exist_matches_nothing(graph: NamespacedGraph, pattern: str) -> None:
    assert not counted(graph, f"SELECT * {{ GRAPH <urn:nowhere> {{ {pattern} }} }}")
    assert not counted(graph, f"SELECT * {{ VALUES ?g {{ <urn:nowhere> }} GRAPH ?g {{ {pattern} }} }}")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("<urn:z> m:p* ?x", ["urn:z"]),
        ("<urn:z> m:p? ?x", ["urn:z"]),
        ("?x m:p* <urn:z>", ["urn:z"]),
        ("?x (m:p|m:n)* 99", ["99"]),
        ('?x m:p* "z"@en', ["z"]),
        ("?x m:p* -99", ["-99"]),
        ("?x m:p* true", ["true"]),
        ("<urn:z> ^(m:p*) ?x", ["urn:z"]),
        ("<urn:z> m:p*/m:n? ?x", ["urn:z"]),
        ("<urn:z> (m:p+)? ?x", ["urn:z"]),
        ("<urn:z> m:p|m:n? ?x", ["urn:z"]),
        ("<urn:z> (!m:p)* ?x", ["urn:z"]),
        ("<urn:z> m:p* [] VALUES ?x { 1 }", ["1"]),
        ("[] m:p* <urn:z> VALUES ?x { 1 }", ["1"]),
        ("<urn:z> m:p+ [] VALUES ?x { 1 }", []),
        ("<urn:z> m:p+ ?x", []),
        ("<urn:z> m:p*/m:n ?x", []),
        ("<urn:z> m:p ?x", []),
        ("<urn:z> m:p* <urn:z> VALUES ?x { 1 }", ["1"]),
        ("<urn:z> m:p* <urn:y> VALUES ?x { 1 }", []),
        ("<urn:z> m:p* ?x ; m:n? ?y", ["urn:z"]),
        ("<urn:z> m:p* ?x , ?y .", ["urn:z"]),
        ("<urn:z> m:p* ?x . ?x m:n ?y", []),
        ("m:a m:p* ?x", [f"{OWN}:a", f"{OWN}:b", f"{OWN}:c"]),
        ("m:a m:p* ?x . ?x m:n ?n FILTER(?n > 1)", [f"{OWN}:b", f"{OWN}:c"]),
        ("m:c m:p* ?x", [f"{OWN}:c"]),
        ("VALUES ?v { <urn:z> } ?v m:p* ?x", []),  # a variable has the nodes of the graph only
        ("GRAPH ?g { <urn:z> m:p* ?x } FILTER(?g = <urn:cortex:m>)", ["urn:z"]),
        ("GRAPH <urn:cortex:m> { <urn:z> m:p* ?x . ?x m:n ?n }", []),
        ("{ SELECT ?x { <urn:z> m:p* ?x } }", ["urn:z"]),
        ("OPTIONAL { <urn:z> m:p* ?x }", ["urn:z"]),
        ("VALUES ?x { 1 } FILTER EXISTS { <urn:z> m:p* <urn:z> }", ["1"]),
        ("m:a m:n +1 . <urn:z> m:p* ?x", ["urn:z"]),
    ],
)
def test_a_path_of_length_zero_begins_at_a_constant_of_no_graph(
    graph: NamespacedGraph, pattern: str, found: list[str]
) -> None:
    assert sorted(row["x"] for row in rows_of(graph.query(f"SELECT DISTINCT ?x {{ {pattern} }}"))) == found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?o FILTER(?o < 5) }",
        "SELECT (SUM(?o) AS ?m) { ?s ?p ?o } GROUP BY ?s HAVING(SUM(?o) > 3)",
        "SELECT * { ?s ?p ?o FILTER(?o > 1700000000000000000 || ?o = '12345678901234567890 nails') }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * { GRAPH ?g { { ?s <urn:p> ?o } UNION { ?s <urn:q> ?o } } }",
        "SELECT * { ?s <urn:p>* ?o }",
        "SELECT * { ?s <urn:p>/<urn:q>+ <urn:o> }",
    ],
)
def test_an_ordinary_query_is_not_rewritten(text: str) -> None:
    assert careful_query(text, read_tokens(text, 64), Dataset(()), has_long_numbers=False) is None


def test_a_mistake_has_its_place_in_a_text_that_would_be_rewritten(graph: NamespacedGraph) -> None:
    from cortex_graph import InvalidArguments

    with pytest.raises(InvalidArguments) as raised:
        graph.query("SELECT * {\n GRAPH ?g { VALUES ?x { 1 } }\n ?s ?p }")
    assert raised.value.details["line"] == 3


def test_what_is_not_rewritten_is_a_warning(graph: NamespacedGraph) -> None:
    deep = "?n"
    for _ in range(8):
        deep = f"STRLEN(STR({deep} + 1))"
    answer = graph.query(f"SELECT ({deep} AS ?x) {{ ?s m:n ?n FILTER(?n < 12345678901234567890123) }}")
    assert "nest too deeply" in answer.warnings[0]
    assert not graph.query("SELECT (STRLEN(STR(?n + 1)) AS ?x) { ?s m:n ?n }").warnings
    chain = " + ".join(["?n"] * 2000)
    tokens = read_tokens(f"SELECT ({chain} AS ?x) {{ ?s <urn:p> ?n }}", 64)
    long = careful_query("", tokens, Dataset(()), has_long_numbers=True)
    assert long is not None
    assert "too many" in long.warnings[0]
    text = "SELECT * { GRAPH ?g { SELECT ?x { VALUES ?x { 1 } } } }"
    many = Dataset((), tuple(NamedNode(f"urn:g{number}") for number in range(5000)))
    careful = careful_query(text, read_tokens(text, 64), many, has_long_numbers=False)
    assert careful is not None
    assert "so many graphs" in careful.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * {" + "GRAPH ?g { SELECT ?x { ?x ?y ?z } }" * 1500 + "}",
        "SELECT * {" + "GRAPH ?g { " * 30 + "VALUES ?x { 1 }" + "}" * 30 + "}",
        "SELECT (" + "1 + STRLEN(STR(" * 30 + " ?a + 1 " * 1 + "))" * 30 + " AS ?x) { ?s ?p ?a }",
        "SELECT (" + "1 + STRLEN(STR(" * 5 + "+".join(["?a"] * 300) + "))" * 5 + " AS ?x) { ?s ?p ?a }",
        "SELECT * { FILTER(" + " || ".join(["?a < 1"] * 5000) + ") }",
        "SELECT * { ?s ?p ?o } ORDER BY " + "EXISTS { SELECT * { ?s ?p ?o } ORDER BY " * 25 + "?o" + " }" * 25,
        "SELECT (" + "MAX(" * 25 + "?o" + ")" * 25 + " AS ?x) { ?s ?p ?o }",
        "SELECT (" + "MAX(EXISTS { SELECT (" * 15 + "?o" + " AS ?x) { ?s ?p ?o } })" * 15 + " AS ?x) { ?s ?p ?o }",
    ],
)
@pytest.mark.parametrize("has_long_numbers", [True, False])
def test_a_rewritten_text_has_a_bounded_size(text: str, has_long_numbers: bool) -> None:
    named = tuple(NamedNode(f"urn:g{number}") for number in range(1000))
    careful = careful_query(text, read_tokens(text, 1000), Dataset((), named), has_long_numbers=has_long_numbers)
    if careful is None:
        assert not has_long_numbers
        return
    assert len(careful.text) < 4 << 20


def test_a_user_cannot_call_the_functions_of_a_rewritten_query(graph: NamespacedGraph) -> None:
    text = "SELECT (<urn:cortex-graph:exact/0>(1) AS ?a) (<urn:cortex-graph:exact/order>(1) AS ?b) (1 < ?n AS ?c) { }"
    assert rows_of(graph.query(f"{text} ORDER BY (12345678901234567890123 + 1)")) == [{}]


def test_an_update_finds_long_numbers_too() -> None:
    own = NamespacedGraph(open_store("memory:"), "u")
    own.update("INSERT DATA { u:a u:n 12345678901234567890123 . u:b u:n 5 }")
    assert own.update("DELETE { ?s u:n ?n } WHERE { ?s u:n ?n FILTER(?n > 9) }").removed == 1
    assert own.update("INSERT { ?g u:has ?x } WHERE { GRAPH ?g { VALUES ?x { 1 } } }").inserted == 2
