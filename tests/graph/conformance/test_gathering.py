"""Every store answers several patterns as it answers each of them; one that reads ahead has what it read."""

from __future__ import annotations

from itertools import product

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph, Pattern, Provenance
from cortex_graph.assertion_records.records import select
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, GENERATED_AT, PREDICATE, PROVES, SUBJECT
from cortex_graph.store import GraphStore
from cortex_graph.store_access.gathered import gathered
from cortex_graph.store_access.read_ahead import UpTo, WholeSubjects, reading_ahead, subjects_ahead

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine


def filled(graph: NamespacedGraph) -> list[NamedNode]:
    rows = [
        {"subject": f"s{s}", "predicate": f"p{p}", "object": value}
        for s, p in product(range(4), range(2))
        for value in (f"text {s}", s + 2, {"node": f"s{(s + 1) % 4}"})
    ]
    graph.create_triples(rows, Provenance(skill="shop", skill_version="1.0.0", agent="a1"))
    return [graph.names.node(f"s{number}") for number in range(5)]  # the last one has no triple


def patterns(graph: NamespacedGraph, nodes: list[NamedNode]) -> list[Pattern]:
    own, records = graph.names.graph, graph.names.provenance_graph
    p0, p1 = graph.names.node("p0"), graph.names.node("p1")
    ids = [row["id"] for row in graph.list_triples({"limit": 30})["triples"]]
    return [
        *(Pattern(own, node) for node in nodes),
        *(Pattern(own, node, p) for node in nodes for p in (p0, p1)),
        *(Pattern(own, None, None, node) for node in nodes),
        *(Pattern(own, None, p0, node) for node in nodes),
        *(Pattern(own, node, p0, Literal("text 1")) for node in nodes),
        *(
            Pattern(own, nodes[0], p0, object_)
            for object_ in (Literal(2), Literal("text 0"), Literal("none"), nodes[1])
        ),
        Pattern(own, None, p1, Literal("text 2")),
        Pattern(own, None, p1),
        *(Pattern(records, graph.names.record(triple_id)) for triple_id in ids),
        *(Pattern(records, graph.names.record(triple_id), GENERATED_AT) for triple_id in ids),
        Pattern(own, nodes[0]),
    ]


def test_several_patterns_are_answered_as_each_of_them(graph: NamespacedGraph) -> None:
    wanted = patterns(graph, filled(graph))
    found = gathered(graph.store, wanted)
    assert [set(quads) for quads in found] == [set(graph.store.quads(pattern)) for pattern in wanted]
    assert [len(quads) for quads in found[:5]] == [6, 6, 6, 6, 0]
    assert [len(quads) for quads in found] == [len(set(quads)) for quads in found]


def test_what_is_read_ahead_is_what_the_store_has(graph: NamespacedGraph, store: GraphStore) -> None:
    nodes = filled(graph)
    graph.create_triple({"subject": "s0", "predicate": "p2", "object": 1})
    own, records = graph.names.graph, graph.names.provenance_graph
    wanted = patterns(graph, nodes)
    before = [set(store.quads(pattern)) for pattern in wanted]
    record = next(iter(store.quads(Pattern(records, None, SUBJECT, nodes[0])))).subject
    assert isinstance(record, NamedNode)
    skill = next(iter(store.quads(Pattern(records, record, ATTRIBUTED_TO)))).object
    described = set(store.quads(Pattern(records, skill)))  # type: ignore[arg-type]
    few, many = Pattern(own, nodes[1]), Pattern(own, nodes[2])
    of_both = WholeSubjects(Pattern(records, None, SUBJECT, nodes[0]), also=((PREDICATE, graph.names.node("p1")),))
    lacking = WholeSubjects(Pattern(own, None, graph.names.node("p0")), lacks=(graph.names.node("p2"),))
    ahead = [
        lacking,
        *wanted,
        UpTo(few, 6),
        UpTo(many, 5),
        of_both,
        WholeSubjects(Pattern(records, record, ATTRIBUTED_TO), of_objects=True),
        WholeSubjects(Pattern(records, None, SUBJECT, nodes[3])),
        UpTo(WholeSubjects(Pattern(records, None, SUBJECT, nodes[2])), 500),
    ]
    with reading_ahead(store, lambda: ahead):
        assert [set(store.quads(pattern)) for pattern in wanted] == before
        assert set(store.quads(Pattern(records, skill))) == described  # type: ignore[arg-type]
        for number in (2, 3):
            links = list(store.quads(Pattern(records, None, SUBJECT, nodes[number])))
            assert len(links) == 6
            assert all(len(list(store.quads(Pattern(records, link.subject)))) > 5 for link in links)  # type: ignore[arg-type]
        page = store.match(few, 10)
        assert (set(page.quads), page.cursor) == (set(store.quads(few)), None)
        assert {quad.subject for quad in store.match(many, 100).quads} == {nodes[2]}
        found = subjects_ahead(store, of_both)
        assert found is None or {
            tuple(sorted(str(quad.object) for quad in store.quads(Pattern(records, node, PREDICATE)))) for node in found
        } == {(str(graph.names.node("p1")),)}
        assert found is None or len(found) == 3
        found = subjects_ahead(store, lacking)
        assert found is None or set(found) == {*nodes[1:4]}


def test_more_than_was_expected_is_read_when_it_is_needed(graph: NamespacedGraph, store: GraphStore) -> None:
    nodes = filled(graph)
    own = graph.names.graph
    new = Quad(nodes[4], graph.names.node("p0"), Literal("new"), own)
    with reading_ahead(store, lambda: [UpTo(Pattern(own, node), 5) for node in nodes]):
        assert [store.count(Pattern(own, node)) for node in nodes] == [6, 6, 6, 6, 0]
        store.apply([new])
        assert list(store.quads(Pattern(own, nodes[4]))) == [new]


def test_a_query_of_this_package_may_have_names_that_a_user_of_the_store_may_not_write(
    graph: NamespacedGraph, store: GraphStore
) -> None:
    filled(graph)
    where = f"?record {SUBJECT} {graph.names.node('s0')} ; {PREDICATE} {graph.names.node('p0')}"
    rows = select(store, graph.names.provenance_graph, f"SELECT ?record {{ {where} FILTER(?record != {PROVES}) }}")
    found = {row["record"] for row in rows}
    ids = [row["id"] for row in graph.list_triples({"subject": "s0", "predicate": "p0"})["triples"]]
    assert found == {graph.names.record(triple_id) for triple_id in ids}
