"""Queries over real stores: what they answer, in which formats, and how they fail."""

from __future__ import annotations

import json

import pytest
from pyoxigraph import QueryResultsFormat, RdfFormat, parse

from cortex_graph import (
    WELL_KNOWN_VOCABULARIES,
    GraphStore,
    InvalidArguments,
    NamespacedGraph,
    NamespaceViolation,
    QueryLimit,
    open_store,
)
from cortex_graph.sparql import QueryLimits, query_graphs
from tests.graph.sparql.conftest import content, rows_of


def test_a_select_answers_the_rows_of_the_own_namespace(shop: NamespacedGraph) -> None:
    rows = rows_of(shop.query("SELECT ?thing ?price { ?thing shop:price ?price } ORDER BY ?price"))
    assert [(row["thing"], row["price"]) for row in rows] == [
        ("urn:cortex:shop:nails", "3"),
        ("urn:cortex:shop:hammer", "12"),
        ("urn:cortex:shop:box", "20"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SELECT (SUM(?p) AS ?x) { ?s shop:price ?p }", "35"),
        ("SELECT (COUNT(*) AS ?x) { ?s ?p ?o }", "6"),
        ("SELECT (COUNT(DISTINCT ?p) AS ?x) { ?s ?p ?o }", "3"),
        ("SELECT (GROUP_CONCAT(STR(?p);SEPARATOR='|') AS ?x) { SELECT ?p { ?s shop:price ?p } ORDER BY ?p }","3|12|20"),
        ("SELECT (COUNT(?whole) AS ?x) { shop:nails shop:partOf+ ?whole }", "2"),
        ("SELECT ?x { shop:crate ^shop:partOf/^shop:partOf ?x }", "urn:cortex:shop:nails"),
        ("SELECT ?x { shop:nails ex:label ?x FILTER(lang(?x) = '') }", "Nägel"),
        ("SELECT ?x { ?s shop:price ?p MINUS { ?s shop:partOf ?w } BIND(?s AS ?x) }", "urn:cortex:shop:hammer"),
        ("SELECT ?x { VALUES (?s ?x) { (shop:nails <urn:a#b>) (shop:gone 2) } ?s shop:price ?p }", "urn:a#b"),
        ("SELECT ?x { ?s shop:price ?p FILTER(?p<5&&?p>1) OPTIONAL { ?s ex:label ?x } }", "Nägel"),
        ("SELECT (xsd:integer('7') + 1 AS ?x) { }", "8"),
        ("SELECT ?x { GRAPH ?x { ?s ex:label ?o } }", "urn:cortex:shop"),
        ("SELECT ?x { GRAPH <urn:cortex:shop/provenance> "
         "{ ?r prov:wasAttributedTo ?x } FILTER(CONTAINS(STR(?x), 'agent')) } LIMIT 1", "urn:cortex:shop:agent:a1"),
    ],
)  # fmt: skip
def test_sparql_means_what_it_means_elsewhere(shop: NamespacedGraph, text: str, value: str) -> None:
    assert [row["x"] for row in rows_of(shop.query(text))] == [value]


def test_standard_prefixes_need_no_declaration_and_a_declared_one_replaces_them() -> None:
    shop = NamespacedGraph(open_store("memory:"), "shop")
    known = ["rdf", "rdfs", "xsd", "owl", "prov", "skos", "schema", "dcterms", "sh", "foaf"]
    shop.update(f"INSERT DATA {{ {' '.join(f'{prefix}:a schema:b {prefix}:c .' for prefix in known)} }}")
    rows = rows_of(shop.query("SELECT ?s { ?s <https://schema.org/b> ?o } ORDER BY ?s"))
    assert {row["s"] for row in rows} == {f"{WELL_KNOWN_VOCABULARIES[prefix]}a" for prefix in known}
    assert rows_of(shop.query("PREFIX schema: <urn:other:> SELECT ?s { ?s schema:b ?o }")) == []
    with pytest.raises(InvalidArguments, match="prefix `dc:` is not declared"):
        shop.query("SELECT ?s { ?s dc:b ?o }")


def test_a_namespace_with_the_name_of_a_standard_prefix_keeps_it() -> None:
    own = NamespacedGraph(open_store("memory:"), "schema")
    own.create_triple({"subject": "a", "predicate": "name", "object": 1})
    assert rows_of(own.query("SELECT ?s { ?s schema:name 1 }")) == [{"s": "urn:cortex:schema:a"}]


def test_ask_construct_and_describe_answer_in_their_forms(shop: NamespacedGraph) -> None:
    asked = shop.query("ASK { shop:nails shop:price 3 }")
    assert asked.form == QueryResultsFormat.JSON
    assert json.loads(content(asked))["boolean"] is True
    built = shop.query("CONSTRUCT { ?s a <urn:priced> } WHERE { ?s shop:price ?p }", graphs=RdfFormat.TURTLE)
    assert built.form == RdfFormat.TURTLE
    assert len(list(parse(content(built), RdfFormat.TURTLE))) == 3
    described = shop.query("DESCRIBE shop:nails")
    assert len(list(parse(content(described), RdfFormat.N_TRIPLES))) == 3


@pytest.mark.parametrize(
    ("form", "start"),
    [
        (QueryResultsFormat.JSON, b'{"head"'),
        (QueryResultsFormat.XML, b"<?xml"),
        (QueryResultsFormat.CSV, b"p\r\n"),
        (QueryResultsFormat.TSV, b"?p\n"),
    ],
)
def test_rows_come_in_every_format_of_the_standard(
    shop: NamespacedGraph, form: QueryResultsFormat, start: bytes
) -> None:
    answer = shop.query("SELECT ?p { ?s shop:price ?p }", results=form)
    assert answer.form == form
    assert content(answer).startswith(start)


@pytest.mark.parametrize("form", [RdfFormat.TURTLE, RdfFormat.N_TRIPLES, RdfFormat.JSON_LD, RdfFormat.RDF_XML])
def test_graphs_come_in_every_format(shop: NamespacedGraph, form: RdfFormat) -> None:
    built = shop.query("CONSTRUCT { ?s <urn:x:p> ?o } WHERE { ?s ?p ?o }", graphs=form)
    assert len(list(parse(content(built), form))) == 6


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { GRAPH <urn:cortex:shop-2> { ?s ?p ?o } }",
        "SELECT * { GRAPH <urn:cortex:shop-2/provenance> { ?s ?p ?o } }",
        "SELECT * { GRAPH <urn:cortex:shop/index> { ?s ?p ?o } }",
        "SELECT * { GRAPH ?g { ?s ?p 99 } }",
        "SELECT * { ?s ?p 99 }",
        "SELECT * { <urn:cortex:shop-2:secret> ?p ?o }",
        "SELECT * { BIND(IRI(CONCAT('urn:cortex:shop', '-2')) AS ?g) GRAPH ?g { ?s ?p ?o } }",
        "PREFIX shop: <urn:cortex:shop-2:> SELECT * { shop:secret ?p ?o }",
        "SELECT * { VALUES ?g { <urn:cortex:shop-2> } GRAPH ?g { ?s (shop:price|!shop:price)* ?o } }",
    ],
)
def test_another_namespace_is_not_there(shop: NamespacedGraph, text: str) -> None:
    assert rows_of(shop.query(text)) == []


@pytest.mark.parametrize(
    "clause",
    ["FROM <urn:cortex:shop-2>", "FROM NAMED <urn:cortex:shop-2>", "FROM <urn:cortex:shop> FROM <urn:nowhere>"],
)
def test_a_dataset_beyond_the_own_graphs_is_refused(shop: NamespacedGraph, clause: str) -> None:
    with pytest.raises(NamespaceViolation, match="cannot be read here"):
        shop.query(f"SELECT * {clause} {{ ?s ?p ?o }}")


def test_from_narrows_what_is_seen(shop: NamespacedGraph) -> None:
    def count(clause: str, pattern: str) -> str:
        return rows_of(shop.query(f"SELECT (COUNT(*) AS ?n) {clause} {{ {pattern} }}"))[0]["n"]

    assert count("FROM <urn:cortex:shop>", "?s ?p ?o") == "6"
    assert count("FROM <urn:cortex:shop>", "GRAPH ?g { ?s ?p ?o }") == "0"
    assert count("FROM NAMED <urn:cortex:shop>", "?s ?p ?o") == "0"
    assert count("FROM NAMED <urn:cortex:shop>", "GRAPH ?g { ?s ?p ?o }") == "6"
    assert int(count("FROM <urn:cortex:shop/provenance>", "?s ?p ?o")) > 6


def test_the_dataset_of_the_request_goes_before_that_of_the_text(shop: NamespacedGraph) -> None:
    text = "SELECT (COUNT(*) AS ?n) FROM <urn:cortex:shop-2> { ?s ?p ?o }"
    answer = query_graphs(shop.store, [shop], text, default_graphs=["urn:cortex:shop"])
    assert rows_of(answer) == [{"n": "6"}]
    with pytest.raises(NamespaceViolation):
        query_graphs(shop.store, [shop], text, default_graphs=["urn:cortex:shop-2"])


def test_several_namespaces_are_asked_as_one(shop: NamespacedGraph) -> None:
    other = NamespacedGraph(shop.store, "shop-2")
    both = query_graphs(shop.store, [shop, other], "SELECT (COUNT(*) AS ?n) (MAX(?o) AS ?m) { ?s ?p ?o }")
    assert rows_of(both)[0]["n"] == "7"
    answer = query_graphs(shop.store, [shop, other], "SELECT ?g { GRAPH ?g { ?s shop-2:price ?o } }")
    assert rows_of(answer) == [{"g": "urn:cortex:shop-2"}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT * {\n ?s shop:price ,\n ?o }", "line 2, column 16"),
        ("SELECT ?s { ?s ?p ?o } GROUP BY ?p", "the SPARQL text, line 1"),
        ("INSERT DATA { shop:a shop:b 1 }", "`INSERT` begins an update, not a query"),
        ("SELECT * { ?s ?p ?o } ; DROP ALL", "`DROP` is not allowed in a query"),
        ("HELLO", "`HELLO` is no keyword of SPARQL"),
        ("", "is empty"),
        ("PREFIX a: <urn:a>", "is empty"),
        (7, "must be a string"),
        ("ASK { ?s ?p '\ud800' }", "lone surrogate"),
    ],
)
def test_what_is_no_query_is_refused(shop: NamespacedGraph, text: str, problem: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        shop.query(text)
    assert problem in refused.value.message


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT ?s { ?s shop:price ?p FILTER(<urn:f>(?p)) }", []),
        ("SELECT ?s { ?s shop:price 3 FILTER(!<urn:f>(?s) || true) }", [{"s": "urn:cortex:shop:nails"}]),
        ("SELECT ?s ?x { ?s shop:price 3 BIND(<bif:sys_stat>('x') AS ?x) }", [{"s": "urn:cortex:shop:nails"}]),
        ("SELECT (<urn:f>() AS ?x) ?s { ?s shop:price 3 }", [{"s": "urn:cortex:shop:nails"}]),
        ("SELECT ?s { ?s shop:price 3 } ORDER BY DESC(?s) <urn:f>(?s)", [{"s": "urn:cortex:shop:nails"}]),
        ("SELECT (COUNT(*) AS ?n) { ?s shop:price 3 } GROUP BY <urn:f>(?s) HAVING <urn:f>(1)", []),
        ("SELECT ?x { ?s <urn:f> (1 2) }", []),
    ],
)
def test_a_call_of_an_unknown_function_is_an_error_of_its_expression(
    shop: NamespacedGraph, text: str, rows: list[dict[str, str]]
) -> None:
    assert rows_of(shop.query(text)) == rows


def test_a_node_that_was_blank_is_an_iri(store: GraphStore) -> None:
    graph = NamespacedGraph(store, "shop")
    graph.update("INSERT DATA { [] shop:p 1 }")
    asked = "SELECT (isBlank(?s) AS ?b) (isIRI(?s) AS ?i) (isURI(?s) AS ?u) { ?s ?p ?o %s }"
    found = [{"b": "false", "i": "true", "u": "true"}]
    assert rows_of(graph.query(asked % "")) == found
    assert rows_of(graph.query(asked % "FILTER STRSTARTS(STR(?s), STR(shop:genid:))")) == found
    assert rows_of(graph.query("SELECT (isBlank(BNODE()) AS ?b) {}")) == [{"b": "true"}]


def test_a_text_that_is_too_long_is_refused(shop: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments, match="has 31 bytes, and 30 are allowed"):
        query_graphs(shop.store, [shop], "ASK { ?s ?p ?o }" + " " * 15, limits=QueryLimits(query_bytes=30))


def test_a_chain_that_overflows_the_engine_is_an_error(shop: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments, match="too long a chain"):
        shop.query("ASK { FILTER(" + "1+" * 30_000 + "1) }")
    assert content(shop.query("ASK { }"))


def test_an_answer_that_is_too_long_ends_with_an_error(shop: NamespacedGraph) -> None:
    text = "SELECT ?s { ?s ?p ?o . ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    answer = shop.query(text, max_bytes=100_000)
    received = len(next(answer.chunks))
    with pytest.raises(QueryLimit, match="more than 100000 bytes") as refused:
        content(answer)
    assert received <= 100_000
    assert refused.value.code == "query_limit"
    assert len(content(shop.query("ASK {}", max_bytes=100))) < 100


def test_a_namespace_sees_what_was_written_before_it_asks(store: GraphStore) -> None:
    graph = NamespacedGraph(store, "mayros")
    for number in range(5):
        made = graph.create_triple({"subject": "a", "predicate": "p", "object": number})
        assert rows_of(graph.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")) == [{"n": str(number + 1)}]
    assert graph.delete_triple(made["id"])
    assert rows_of(graph.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")) == [{"n": "4"}]


def test_a_closed_store_answers_no_query() -> None:
    from cortex_graph import GraphUnavailable

    store = open_store("memory:")
    graph = NamespacedGraph(store, "mayros")
    content(graph.query("ASK {}"))
    store.close()
    with pytest.raises(GraphUnavailable):
        graph.query("ASK {}")


def test_a_byte_order_mark_before_a_text_is_no_part_of_it(shop: NamespacedGraph) -> None:
    """Editors write one to files; it is neither data nor syntax."""
    assert rows_of(shop.query("\ufeffSELECT (1 AS ?x) {}")) == [{"x": "1"}]
    with pytest.raises(InvalidArguments, match="line 1, column 1: '\\\\ufeff'"):
        shop.query("\ufeff\ufeffSELECT (1 AS ?x) {}")
    own = NamespacedGraph(open_store("memory:"), "own")
    assert own.update("\ufeffINSERT DATA { own:a own:p '\ufeff' }").inserted == 1
    assert own.list_triples()["triples"][0]["object"] == "\ufeff"
