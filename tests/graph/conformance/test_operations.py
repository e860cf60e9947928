"""Every operation of a store, on every kind of store."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat, parse

from cortex_graph import GraphStore, InvalidArguments, NamespacedGraph, Pattern, Provenance
from cortex_graph.store import Dataset
from tests.graph.conformance.kinds import Kind

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

S, P = NamedNode("urn:s"), NamedNode("urn:p")


def quad(number: int, graph: NamedNode, subject: NamedNode = S) -> Quad:
    return Quad(subject, P, Literal(number), graph)


def numbers(store: GraphStore, graph: NamedNode) -> list[int]:
    return sorted(int(found.object.value) for found in store.quads(Pattern(graph)))  # type: ignore[union-attr]


def test_creating_and_removing_again_changes_nothing(store: GraphStore, name: NamedNode) -> None:
    assert [store.insert([[quad(1, name)]]) for _ in range(3)] == [[True], [False], [False]]
    assert numbers(store, name) == [1]
    assert [store.remove(quad(1, name)) for _ in range(3)] == [True, False, False]
    assert numbers(store, name) == []


def test_a_group_is_written_when_its_first_quad_is_new(store: GraphStore, name: NamedNode) -> None:
    first = [[quad(1, name), quad(10, name)], [quad(2, name), quad(20, name)], [quad(1, name), quad(11, name)]]
    assert store.insert(first) == [True, True, False]
    assert store.insert([[quad(1, name), quad(12, name)]]) == [False]
    assert store.insert([[quad(1, name)], [quad(3, name)]]) == [False, True]
    assert store.insert([]) == []
    assert numbers(store, name) == [1, 2, 3, 10, 20]


def test_many_groups_at_once(store: GraphStore, name: NamedNode) -> None:
    store.insert([[quad(number, name)] for number in range(0, 200, 3)])
    created = store.insert([[quad(number, name)] for number in range(200)])
    assert created == [number % 3 != 0 for number in range(200)]
    assert numbers(store, name) == list(range(200))


def test_a_quad_goes_with_what_hangs_on_it(store: GraphStore, name: NamedNode) -> None:
    other = NamedNode(f"{name.value}-other")
    store.insert([[quad(1, name), quad(1, other), quad(2, other), quad(3, other, P)]])
    assert store.remove(quad(5, name), [(other, S)]) is False
    assert numbers(store, other) == [1, 2, 3]
    assert store.remove(quad(1, name), [(other, S), (other, NamedNode("urn:nobody"))]) is True
    assert (numbers(store, name), numbers(store, other)) == ([], [3])


def test_a_change_removes_and_inserts(store: GraphStore, name: NamedNode) -> None:
    other = NamedNode(f"{name.value}-other")
    store.insert([[quad(1, name)], [quad(2, name)]])
    store.apply(insert=[quad(3, name), quad(4, other)], remove=[quad(1, name), quad(9, name)])
    store.apply(insert=[quad(2, name)], remove=[quad(2, name)])
    store.apply()
    assert (numbers(store, name), numbers(store, other)) == ([2, 3], [4])


def test_a_large_change(store: GraphStore, name: NamedNode) -> None:
    store.apply(insert=[quad(number, name) for number in range(1_200)])
    store.apply(
        insert=[quad(number, name) for number in range(2_000, 2_700)],
        remove=[quad(number, name) for number in range(1_100)],
    )
    assert numbers(store, name) == [*range(1_100, 1_200), *range(2_000, 2_700)]


@pytest.mark.parametrize(("ceiling", "counted"), [(None, 5), (3, 3), (5, 5), (9, 5), (0, 0)])
def test_a_count_stops_at_its_ceiling(store: GraphStore, name: NamedNode, ceiling: int | None, counted: int) -> None:
    store.insert([[quad(number, name)] for number in range(5)])
    assert store.count(Pattern(name), ceiling) == counted
    assert store.count(Pattern(name, S), ceiling) == counted
    assert store.count(Pattern(name, S, P, Literal(1)), ceiling) == min(1, counted)
    assert store.count(Pattern(name, P), ceiling) == 0


def test_graphs_have_names_while_they_hold_something(store: GraphStore, name: NamedNode) -> None:
    other = NamedNode(f"{name.value}-other")
    store.insert([[quad(1, name)], [quad(1, other)]])
    assert {name, other} <= set(store.graph_names())
    store.remove(quad(1, other))
    assert name in store.graph_names()
    assert other not in store.graph_names()


@pytest.mark.parametrize("bound", range(8))
def test_every_shape_of_pattern(store: GraphStore, name: NamedNode, bound: int) -> None:
    subjects, predicates = (S, NamedNode("urn:s2")), (P, NamedNode("urn:p2"))
    objects = (Literal("o"), Literal("o", language="en"), NamedNode("urn:o"), Literal(5))
    everything = {Quad(s, p, o, name) for s in subjects for p in predicates for o in objects}
    store.bulk_insert(everything)
    store.bulk_insert([quad(1, NamedNode(f"{name.value}-other"))])
    for o in objects:
        pattern = Pattern(name, S if bound & 1 else None, P if bound & 2 else None, o if bound & 4 else None)
        expected = {
            each
            for each in everything
            if pattern.subject in (None, each.subject)
            and pattern.predicate in (None, each.predicate)
            and pattern.object_ in (None, each.object)
        }
        assert set(store.quads(pattern)) == expected
        assert set(store.match(pattern, 100).quads) == expected
        assert store.count(pattern) == len(expected)


def test_bulk_writing_and_loading(store: GraphStore, name: NamedNode, tmp_path: Path) -> None:
    store.bulk_insert(quad(number, name) for number in range(1_500))
    (tmp_path / "more.nt").write_text("".join(f"{quad(number, name).triple} .\n" for number in range(1_000, 2_000)))
    store.bulk_load(tmp_path / "more.nt", name)
    store.bulk_insert([])
    assert numbers(store, name) == list(range(2_000))


def test_a_query_sees_its_dataset_and_nothing_else(store: GraphStore, kind: Kind, name: NamedNode) -> None:
    other = NamedNode(f"{name.value}-other")
    store.insert([[quad(1, name)], [quad(2, other)]])

    def rows(text: str, *graphs: NamedNode) -> list[str]:
        answer = store.query(text, Dataset(graphs, graphs))
        assert answer.form == QueryResultsFormat.JSON
        found = json.loads(b"".join(answer.chunks))["results"]["bindings"]
        return sorted(row["o"]["value"] for row in found)

    assert rows("SELECT ?o { ?s ?p ?o }", name) == ["1"]
    assert rows("SELECT ?o { ?s ?p ?o }", name, other) == ["1", "2"]
    assert rows("SELECT ?o { ?s ?p ?o }") == []
    assert rows("# nothing\nPREFIX x: <urn:>\nSELECT ?o { x:s x:p ?o } ORDER BY ?o LIMIT 1", name, other) == ["1"]
    for text in (
        f"SELECT ?o {{ GRAPH {other} {{ ?s ?p ?o }} }}",
        f"SELECT ?o FROM {other} {{ ?s ?p ?o }}",
        f"SELECT ?o FROM NAMED {other} {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        f"SELECT ?o {{ VALUES ?g {{ {other} }} GRAPH ?g {{ ?s ?p ?o }} }}",
        f"SELECT ?o {{ {{ SELECT ?o {{ GRAPH {other} {{ ?s ?p ?o }} }} }} }}",
    ):
        try:
            assert "2" not in rows(text, name)
        except InvalidArguments:
            assert not kind.any_query
    if kind.any_query:
        assert rows("SELECT ?o { GRAPH ?g { ?s ?p ?o } }", name) == ["1"]


def test_a_query_answers_in_the_form_that_was_asked_for(store: GraphStore, name: NamedNode) -> None:
    store.insert([[quad(1, name)]])
    data = Dataset((name,))
    graph = store.query("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", data, graphs=RdfFormat.N_TRIPLES)
    assert graph.form == RdfFormat.N_TRIPLES
    assert [each.object for each in parse(b"".join(graph.chunks), graph.form)] == [Literal(1)]
    table = store.query("SELECT ?o { ?s ?p ?o }", data, results=QueryResultsFormat.XML)
    assert b"<literal" in b"".join(table.chunks)
    truth = store.query("ASK { ?s ?p ?o }", data)
    assert json.loads(b"".join(truth.chunks))["boolean"] is True
    empty = store.query("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o . FILTER(false) }", data)
    assert list(parse(b"".join(empty.chunks), RdfFormat.N_TRIPLES)) == []


@pytest.mark.parametrize(
    "text", ["SELECT {", "", "INSERT DATA { <urn:s> <urn:p> 1 }", "DROP ALL", "SELECT * { ?s ?p }"]
)
def test_what_is_no_query_is_refused(store: GraphStore, name: NamedNode, text: str) -> None:
    store.insert([[quad(1, name)]])
    with pytest.raises(InvalidArguments):
        b"".join(store.query(text, Dataset((name,))).chunks)
    assert numbers(store, name) == [1]


def test_threads_that_create_the_same_create_it_once(store: GraphStore, name: NamedNode) -> None:
    created: list[bool] = []

    def create() -> None:
        for number in range(10):
            created.extend(store.insert([[quad(number, name)]]))

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(created) == [False] * 30 + [True] * 10
    assert numbers(store, name) == list(range(10))


def test_a_namespace_with_provenance(graph: NamespacedGraph) -> None:
    about = Provenance("verify-kyc", "1.0.0", "a1")
    made = graph.create_triple({"subject": "a", "predicate": "p", "object": {"node": "b"}}, about)
    assert (
        made["created"],
        graph.create_triple({"subject": "a", "predicate": "p", "object": {"node": "b"}})["id"],
    ) == (
        True,
        made["id"],
    )
    record = graph.provenance_of(made["id"])
    assert record
    assert (record["agent"], record["skill"], record["skillVersion"]) == ("a1", "verify-kyc", "1.0.0")
    assert graph.get_triple(made["id"])
    assert graph.delete_triple(made["id"])
    assert (graph.delete_triple(made["id"]), graph.provenance_of(made["id"]), graph.count()) == (False, None, 0)


def test_a_namespace_does_not_touch_another(store: GraphStore, graph: NamespacedGraph) -> None:
    other = NamespacedGraph(store, graph.namespace + "0")
    triple = {"subject": "a", "predicate": "p", "object": "x"}
    ours, theirs = graph.create_triple(triple)["id"], other.create_triple(triple)["id"]
    assert ours != theirs
    assert not graph.delete_triple(theirs)
    assert graph.get_triple(theirs) is None
    assert graph.delete_triple(ours)
    assert other.count() == 1
