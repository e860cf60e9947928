"""Updates on real stores: what they write, where, and what is kept about it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from cortex_graph import (
    GraphStore,
    InvalidArguments,
    NamespacedGraph,
    NamespaceViolation,
    PermissionDenied,
    Provenance,
    QueryLimit,
    QueryTimeout,
    open_store,
)
from cortex_graph.sparql import QueryLimits, Updated, update_graphs
from cortex_graph.store import Pattern

Row = tuple[str, str, Any]


def triples(graph: NamespacedGraph) -> list[Row]:
    rows = graph.list_triples({"limit": 1000})["triples"]
    return sorted(((row["subject"], row["predicate"], row["object"]) for row in rows), key=str)


def in_memory() -> NamespacedGraph:
    """A graph for what is refused or read before any store is asked."""
    return NamespacedGraph(open_store("memory:"), "mayros")


@pytest.fixture
def other(store: GraphStore) -> NamespacedGraph:
    graph = NamespacedGraph(store, "may")
    graph.create_triple({"subject": "secret", "predicate": "p", "object": "canary"}, Provenance(agent="spy"))
    return graph


def test_data_is_inserted_and_deleted(graph: NamespacedGraph) -> None:
    text = """INSERT DATA { mayros:a mayros:p 1, +2, -3.5, "x"@EN, TRUE, 01, '''long
        "one"''', "\\u00e9\\\\u0041", <urn:x:o#1> ; mayros:q 1e0 }"""
    assert graph.update(text) == Updated(9, 0)  # 01 is stored as 1
    values = {repr(row[2]) for row in triples(graph)}
    decimal = {"value": "-3.5", "datatype": "http://www.w3.org/2001/XMLSchema#decimal"}
    tagged = {"value": "x", "language": "en"}
    written = [1, 2, decimal, tagged, True, 'long\n        "one"', "é\\u0041", {"node": "urn:x:o#1"}, 1.0]
    assert values == set(map(repr, written))
    assert graph.update(text) == Updated(0, 0)
    assert graph.update("DELETE DATA { mayros:a mayros:p 1, 77 }") == Updated(0, 1)


def test_what_was_inserted_is_found_by_its_id_and_what_was_deleted_is_not(graph: NamespacedGraph) -> None:
    graph.update("INSERT DATA { mayros:a mayros:p 1, 2.50 }")
    rows = graph.list_triples()["triples"]
    assert all(graph.get_triple(row["id"]) == row for row in rows)
    graph.update("DELETE WHERE { ?s ?p ?o }")
    assert all(graph.get_triple(row["id"]) is None for row in rows)


def test_provenance_comes_with_new_triples_and_goes_with_those_that_go(graph: NamespacedGraph) -> None:
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, Provenance(agent="first"))
    graph.update("INSERT DATA { mayros:a mayros:p 1, 2 }", Provenance(agent="second", skill="s", skill_version="1.0.0"))
    ids = {row["object"]: row["id"] for row in graph.list_triples()["triples"]}
    agents = {value: (graph.provenance_of(triple_id) or {}).get("agent") for value, triple_id in ids.items()}
    assert agents == {1: "first", 2: "second"}
    assert graph.update("DELETE { ?s ?p 1 } INSERT { ?s ?p 3 } WHERE { ?s ?p 1 }") == Updated(1, 1)
    assert graph.provenance_of(ids[1]) is None
    assert graph.provenance_of(ids[2]) is not None


def test_an_index_that_has_begun_follows_updates(graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.index.triple_index.SMALL", 0)
    graph.update("INSERT DATA { mayros:a mayros:p 1 }")
    assert graph.get_triple("0" * 64) is None  # begins the index
    graph.update("INSERT DATA { mayros:a mayros:p 2 }")
    gone, kept = (row["id"] for row in sorted(graph.list_triples()["triples"], key=lambda row: row["object"]))
    graph.update("DELETE DATA { mayros:a mayros:p 1 }")
    fresh = NamespacedGraph(graph.store, graph.namespace)
    assert fresh.get_triple(gone) is None
    assert (fresh.get_triple(kept) or {})["object"] == 2


def test_delete_and_insert_by_a_pattern(graph: NamespacedGraph) -> None:
    graph.update("INSERT DATA { mayros:a mayros:p 1 . mayros:b mayros:p 2 . mayros:b mayros:q mayros:a }")
    changed = graph.update(
        "DELETE { ?s mayros:p ?o } INSERT { ?s mayros:p ?n } WHERE { ?s mayros:p ?o BIND(?o+1 AS ?n) }"
    )
    assert changed == Updated(2, 2)
    assert triples(graph) == [
        ("mayros:a", "mayros:p", 2),
        ("mayros:b", "mayros:p", 3),
        ("mayros:b", "mayros:q", {"node": "mayros:a"}),
    ]
    # What is deleted and inserted at once stays.
    assert graph.update("DELETE { ?s ?p ?o } INSERT { ?s ?p ?o } WHERE { ?s ?p ?o }") == Updated(0, 0)
    assert (
        graph.update("INSERT { mayros:n mayros:count ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }").inserted == 1
    )
    assert ("mayros:n", "mayros:count", 3) in triples(graph)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { GRAPH <urn:cortex:mayros> { mayros:a mayros:p 1 . } mayros:a mayros:p 2 }",
        "INSERT DATA { mayros:a mayros:p 2 . GRAPH <urn:cortex:mayros> { mayros:a mayros:p 1 } . }",
        "WITH <urn:cortex:mayros> DELETE { ?s ?p ?x } INSERT { mayros:a mayros:p 1, 2 } WHERE { OPTIONAL { ?s ?p ?x }}",
        "INSERT { GRAPH <urn:cortex:mayros> { mayros:a mayros:p ?n } } WHERE { VALUES ?n { 1 2 } }",
        "INSERT DATA { mayros:a mayros:p 1 } ; PREFIX m: <urn:cortex:mayros:> INSERT DATA { m:a m:p 2 } ;",
        "INSERT DATA { mayros:x mayros:p 1 } ; CLEAR DEFAULT ; INSERT DATA { mayros:a mayros:p 1, 2 }",
        "INSERT DATA { mayros:x mayros:p 1 } ; DROP SILENT GRAPH <urn:cortex:mayros> ; "
        "CREATE SILENT GRAPH <urn:cortex:mayros> ; INSERT DATA { mayros:a mayros:p 1, 2 }",
        "BASE <urn:cortex:mayros:> INSERT { <urn:cortex:mayros:a> mayros:p 1, 2 } USING <urn:cortex:mayros> WHERE { }",
    ],
)  # fmt: skip
def test_the_own_graph_may_be_named(graph: NamespacedGraph, text: str) -> None:
    graph.update(text)
    assert triples(graph) == [("mayros:a", "mayros:p", 1), ("mayros:a", "mayros:p", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { GRAPH <urn:cortex:may> { mayros:a mayros:p 1 } }",
        "DELETE DATA { GRAPH <urn:cortex:may> { <urn:cortex:may:secret> <urn:cortex:may:p> 'canary' } }",
        "INSERT DATA { mayros:a mayros:p 1 } ; DELETE WHERE { GRAPH <urn:cortex:may> { ?s ?p ?o } }",
        "WITH <urn:cortex:may> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "WITH <urn:cortex:mayros> DELETE { GRAPH <urn:cortex:may> { ?s ?p ?o } } WHERE { ?s ?p ?o }",
        "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }",
        "INSERT { ?s ?p ?o } USING <urn:cortex:may> WHERE { ?s ?p ?o }",
        "INSERT { ?s ?p ?o } USING NAMED <urn:cortex:may> WHERE { GRAPH ?g { ?s ?p ?o } }",
        "INSERT DATA { GRAPH <urn:cortex:mayros/provenance> { mayros:a mayros:p 1 } }",
        "INSERT DATA { GRAPH <urn:cortex:mayros/index> { mayros:a mayros:p 1 } }",
        "BASE <urn:cortex:> INSERT DATA { GRAPH <urn:cortex:m\\u0061y> { mayros:a mayros:p 1 } }",
        "DROP GRAPH <urn:cortex:may>",
        "DROP SILENT GRAPH <urn:cortex:may>",
        "INSERT DATA { mayros:a mayros:p 1 } ; CLEAR SILENT GRAPH <urn:cortex:may>",
        "CREATE GRAPH <urn:cortex:may>",
        "COPY <urn:cortex:may> TO DEFAULT",
        "MOVE DEFAULT TO <urn:cortex:may>",
        "ADD SILENT <urn:cortex:may> TO <urn:cortex:mayros>",
    ],
)
def test_an_update_that_names_another_graph_does_nothing(
    graph: NamespacedGraph, other: NamespacedGraph, text: str
) -> None:
    with pytest.raises(NamespaceViolation) as refused:
        graph.update(text)
    assert refused.value.code == "namespace_violation"
    assert triples(graph) == []
    assert triples(other) == [("may:secret", "may:p", "canary")]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT { ?s ?p ?o } WHERE { GRAPH <urn:cortex:may> { ?s ?p ?o } }",
        "INSERT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }",
        "INSERT { mayros:x mayros:n ?n } WHERE { { SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o }}} FILTER(?n>0) }",
        "DELETE { <urn:cortex:may:secret> ?p ?o } WHERE { <urn:cortex:may:secret> ?p ?o }",
        "DELETE WHERE { ?s ?p 'canary' }",
    ],
)  # fmt: skip
def test_an_update_sees_nothing_of_another_graph(graph: NamespacedGraph, other: NamespacedGraph, text: str) -> None:
    assert graph.update(text) == Updated(0, 0)
    assert triples(graph) == []
    assert triples(other) == [("may:secret", "may:p", "canary")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT * { ?s ?p ?o }", "`SELECT` begins a query, not an update"),
        ("INSERT DATA { mayros:a mayros:p ?x }", "data cannot contain variables"),
        ("DELETE DATA { _:a mayros:p 1 }", "a blank node cannot be deleted"),
        ("DELETE { [] ?p ?o } WHERE { ?s ?p ?o }", "a blank node cannot be deleted"),
        ("INSERT DATA { mayros:a mayros:p 1 FILTER(1) }", "`FILTER` is not allowed in triples"),
        ("INSERT DATA { { mayros:a mayros:p 1 } }", "`{` is not allowed in triples"),
        ("INSERT DATA {\n mayros:a mayros:p\n 'x' 'y' }", "line 3, column 6: no triples"),
        (
            "INSERT DATA { mayros:a mayros:p 1 } INSERT DATA { mayros:a mayros:p 1 }",
            "`;` is expected here, not `INSERT`",
        ),
        ("INSERT DATA { mayros:a mayros:p 1 ", "`{` is not closed"),
        (
            "INSERT DATA { _:a mayros:p 1 } ;\nINSERT DATA { mayros:x mayros:p _:a }",
            "line 2, column 33: `_:a` is the label of a blank node in an earlier operation",
        ),
        ("INSERT DATA { <a> mayros:p 1 }", "<a> is relative, and there is no base"),
        ("CLEAR mayros:a", "DEFAULT, NAMED, ALL or GRAPH is expected"),
        ("INSERT DATA", "the text ends where `{` is expected"),
        ("INSERT { ?s ?p ?o } WHERE { ?s ?p ?o . INSERT { ?s ?p 1 } }", "`INSERT` is not allowed in a pattern"),
        ("INSERT { ?s ?p\n ?o ?x } WHERE { ?s ?p ?o }", "line 2, column 5"),
        ("WITH <urn:cortex:mayros> SELECT", "DELETE or INSERT is expected here"),
        ("INSERT DATA { <<( mayros:a mayros:p 1 )>> mayros:p 1 }", "triple terms"),
    ],
)
def test_what_is_no_update_is_refused_and_changes_nothing(graph: NamespacedGraph, text: str, problem: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        graph.update(text)
    assert problem in refused.value.message
    assert triples(graph) == []


def test_blank_nodes_become_names_of_the_namespace(graph: NamespacedGraph) -> None:
    graph.update("INSERT DATA { _:a mayros:p _:b . _:b mayros:q (1 2) . [] mayros:r [] }")
    named = {row[0] for row in triples(graph)}
    assert all(name.startswith("mayros:genid:") for name in named)
    assert len(named) == 5
    first = next(row for row in triples(graph) if row[1] == "mayros:p")
    assert any(row[0] == first[2]["node"] and row[1] == "mayros:q" for row in triples(graph))


def test_one_node_in_the_graph_named_and_not_named_stays_one(graph: NamespacedGraph) -> None:
    graph.update("INSERT DATA { _:a mayros:p 1 . GRAPH <urn:cortex:mayros> { _:a mayros:q 2 } }")
    graph.update("INSERT { _:a mayros:r 3 . GRAPH <urn:cortex:mayros> { _:a mayros:s 4 } } WHERE {}")
    found = triples(graph)
    nodes = {predicate: subject for subject, predicate, _ in found}
    assert nodes["mayros:p"] == nodes["mayros:q"]
    assert nodes["mayros:r"] == nodes["mayros:s"]
    assert len(set(nodes.values())) == 2


def test_labels_of_templates_belong_to_one_solution_of_one_operation(graph: NamespacedGraph) -> None:
    graph.update("INSERT { _:a mayros:p ?n } WHERE { VALUES ?n { 1 2 } } ; INSERT { _:a mayros:p 3 } WHERE {}")
    assert len({subject for subject, _, _ in triples(graph)}) == 3


def test_one_node_in_two_namespaces_stays_one(graph: NamespacedGraph, other: NamespacedGraph) -> None:
    text = "INSERT DATA { GRAPH <urn:cortex:mayros> { _:a mayros:p 1 } GRAPH <urn:cortex:may> { _:a mayros:q 2 } }"
    assert update_graphs(graph.store, [graph, other], text) == Updated(2, 0)
    ((node, _, _),) = triples(graph)
    assert f"urn:cortex:{node}" in [subject for subject, _, _ in triples(other)]


@pytest.mark.parametrize("text", ["", "  # nothing\n", "BASE <urn:x:> PREFIX : <urn:y:>"])
def test_an_update_without_operations_is_valid(graph: NamespacedGraph, text: str) -> None:
    assert graph.update(text) == Updated(0, 0)


@pytest.mark.parametrize("word", ["CLEAR", "DROP"])
@pytest.mark.parametrize("silent", ["", "SILENT"])
@pytest.mark.parametrize("which", ["ALL", "NAMED", "DEFAULT"])
def test_all_graphs_are_those_of_the_request(
    graph: NamespacedGraph, other: NamespacedGraph, word: str, silent: str, which: str
) -> None:
    graph.update("INSERT DATA { mayros:a mayros:p 1, 2 }", Provenance(agent="a1"))
    assert graph.update(f"{word} {silent} {which}") == Updated(0, 2)
    assert list(graph.store.quads(Pattern(graph.names.provenance_graph))) == []
    assert triples(other) == [("may:secret", "may:p", "canary")]


def test_all_graphs_of_several_namespaces_are_cleared(graph: NamespacedGraph, other: NamespacedGraph) -> None:
    graph.update("INSERT DATA { mayros:a mayros:p 1 }")
    assert update_graphs(graph.store, [graph, other], "CLEAR ALL") == Updated(0, 2)
    assert triples(graph) == triples(other) == []


def test_data_of_several_operations_is_written_as_one_or_not_at_all(graph: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments):
        graph.update("INSERT DATA { mayros:a mayros:p 1 } ; INSERT DATA { mayros:a mayros:p 'x' 'y' }")
    assert triples(graph) == []
    assert graph.update("INSERT DATA { mayros:a mayros:p 1 } ; DELETE DATA { mayros:a mayros:p 1 }") == Updated(0, 0)


def test_an_update_that_touches_too_many_triples_does_nothing(graph: NamespacedGraph) -> None:
    graph.create_triples([{"subject": "a", "predicate": "p", "object": number} for number in range(20)])
    for text in ("DELETE WHERE { ?s ?p ?o }", "INSERT { ?s mayros:q ?o } WHERE { ?s ?p ?o }", "CLEAR DEFAULT"):
        with pytest.raises(QueryLimit, match="more than 10 triples"):
            update_graphs(graph.store, [graph], text, limits=QueryLimits(triples=10))
    assert graph.count() == 20


@pytest.mark.parametrize(
    "text",
    [
        f"PREFIX p: <urn:x:{'x' * 10_000}> INSERT DATA {{ {'p:a p:b p:c . ' * 2000} }}",
        f"BASE <urn:x:{'x' * 10_000}/> INSERT DATA {{ {'<a> <b> <c> . ' * 2000} }}",
        f"PREFIX p: <urn:x:{'x' * 10_000}> " + "INSERT DATA { p:a p:b 1 } ; " * 4000,
        f"BASE <urn:x:{'x' * 10_000}/> " + "".join(f"PREFIX p{i}: <{i}> " for i in range(5000)) + "CLEAR DEFAULT",
        "".join(f"PREFIX p{i}: <urn:x:{i}> " for i in range(4000)) + "INSERT DATA {} ; PREFIX q: <urn:x> " * 200,
        f"PREFIX p: <urn:x:{'x' * 10_000}> INSERT {{ ?s ?p 1 }} WHERE {{ {'?s p:b.c ?o . ' * 4000} }}",
    ],
)
def test_short_names_of_long_iris_do_not_make_a_short_text_a_huge_one(text: str) -> None:
    graph = in_memory()
    with pytest.raises(QueryLimit, match="MiB when they are written in full"):
        graph.update(text)
    assert triples(graph) == []


def test_what_a_prefix_means_is_not_changed_by_a_later_declaration(graph: NamespacedGraph) -> None:
    graph.update("PREFIX p: <urn:x:> INSERT DATA { p:a p:b 1 } ; PREFIX p: <urn:y:> INSERT DATA { p:a p:b 2 }")
    assert {(row[0], row[2]) for row in triples(graph)} == {("urn:x:a", 1), ("urn:y:a", 2)}


@pytest.mark.slow
def test_the_longest_update_is_read_in_time_or_refused() -> None:
    graph = in_memory()
    with pytest.raises(QueryTimeout):
        update_graphs(graph.store, [graph], f"INSERT DATA {{ mayros:a mayros:b 1 {'.' * 2_000_000} }}", timeout_s=0.5)
    text = f"INSERT DATA {{ mayros:a mayros:b 1 {'.' * 100_000} }}"
    assert graph.update(text) == Updated(1, 0)
    many = "".join(f"PREFIX p{i}: <urn:x:{i}> " for i in range(4000)) + "INSERT DATA { p1:a p2:b 1 } ; " * 3000
    assert update_graphs(graph.store, [graph], many, timeout_s=100) == Updated(1, 0)  # on a busy machine, too


def test_triples_that_are_too_long_together_are_not_changed_at_once(graph: NamespacedGraph) -> None:
    long = "x" * 3000
    graph.update(f'INSERT DATA {{ mayros:a mayros:p "1{long}", "2{long}" }}')
    few = QueryLimits(triples=10)
    for text in ("CLEAR DEFAULT", "DELETE WHERE { ?s ?p ?o }", "INSERT { ?s mayros:q ?o } WHERE { ?s ?p ?o }"):
        with pytest.raises(QueryLimit, match="together"):
            update_graphs(graph.store, [graph], text, limits=few)
    assert len(triples(graph)) == 2
    update_graphs(graph.store, [graph], 'DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(STRSTARTS(?o, "1")) }', limits=few)
    assert len(triples(graph)) == 1


def test_the_time_of_an_update_holds_for_data_as_well(graph: NamespacedGraph) -> None:
    with pytest.raises(QueryTimeout):
        update_graphs(graph.store, [graph], "INSERT DATA { mayros:a mayros:p 1 }", timeout_s=0.0)
    assert triples(graph) == []


def test_of_several_namespaces_the_one_to_write_to_is_named(graph: NamespacedGraph, other: NamespacedGraph) -> None:
    both = [graph, other]
    with pytest.raises(InvalidArguments, match="names none of several graphs"):
        update_graphs(graph.store, both, "INSERT DATA { mayros:a mayros:p 1 }")
    moved = (
        "DELETE { GRAPH <urn:cortex:may> { ?s ?p ?o } } INSERT { GRAPH <urn:cortex:mayros> { ?s ?p ?o } } "
        "WHERE { ?s ?p ?o }"
    )
    assert update_graphs(graph.store, both, moved) == Updated(1, 1)
    assert triples(other) == []
    assert triples(graph) == [("urn:cortex:may:secret", "urn:cortex:may:p", "canary")]


def test_the_protocol_may_narrow_what_where_reads(graph: NamespacedGraph, other: NamespacedGraph) -> None:
    text = "WITH <urn:cortex:mayros> INSERT { ?s ?p ?o } WHERE { ?s ?p ?o }"
    with pytest.raises(InvalidArguments, match="itself has WITH or USING"):
        update_graphs(graph.store, [graph], text, using_graphs=["urn:cortex:mayros"])
    with pytest.raises(NamespaceViolation):
        update_graphs(graph.store, [graph], text.partition(">")[2], using_graphs=["urn:cortex:may"])


def test_concurrent_updates_lose_nothing(graph: NamespacedGraph) -> None:
    graph.update("INSERT DATA { mayros:counter mayros:value 0 }")
    failed: list[Exception] = []

    def count() -> None:
        for _ in range(5):
            try:
                graph.update("DELETE { ?s ?p ?o } INSERT { ?s ?p ?n } WHERE { ?s ?p ?o BIND(?o + 1 AS ?n) }")
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    ((_, _, value),) = triples(graph)
    assert value + len(failed) == 15
    assert all(getattr(error, "code", "") == "graph_busy" for error in failed)


def test_loading_is_refused(graph: NamespacedGraph) -> None:
    with pytest.raises(PermissionDenied):
        graph.update("LOAD <file:///etc/passwd>")
