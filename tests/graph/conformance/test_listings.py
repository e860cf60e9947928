"""Every store groups the triples of a resource, counts a namespace, and lists its assertions, the newest first."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from pyoxigraph import Literal, Quad

from cortex_graph import InvalidArguments, NamespacedGraph, Provenance, open_store
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.assertions import AssertionFilter, assertions_of, list_assertions
from cortex_graph.checks.moments import check_moment
from cortex_graph.index.counting import count_namespace
from cortex_graph.namespace.neighbourhood import COUNTED, neighbourhood
from cortex_graph.namespace.proved_write import assert_proved
from cortex_graph.naming.counted import Count
from cortex_graph.naming.vocabulary import LABEL
from tests.graph.conformance.kinds import Kind

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(hours: int, agent: str = "a1", skill: str | None = "shop", version: str | None = "1.0.0") -> Provenance:
    return Provenance(skill, version, agent, START + timedelta(hours=hours))


def node(name: str) -> dict[str, str]:
    return {"node": name}


def subjects(graph: NamespacedGraph, which: AssertionFilter | None = None) -> list[str]:
    page = list_assertions(graph, which, limit=1000)
    return [graph.names.name(each.triple[0].value).partition(":")[2] for each in page.assertions]


def test_the_triples_of_a_resource_are_grouped_by_predicate_in_both_directions(graph: NamespacedGraph) -> None:
    written = graph.create_triples(
        [
            {"subject": "hub", "predicate": "name", "object": "Hub"},
            {"subject": "hub", "predicate": "knows", "object": node("a")},
            {"subject": "hub", "predicate": "knows", "object": node("b")},
            {"subject": "a", "predicate": "knows", "object": node("hub")},
            {"subject": "a", "predicate": "likes", "object": node("b")},
        ]
    )
    found = neighbourhood(graph, "hub", values=1)
    assert [(graph.names.name(g.predicate.value), g.count, len(g.rows)) for g in found.outgoing.groups] == [
        (f"{graph.namespace}:knows", Count(2), 1),
        (f"{graph.namespace}:name", Count(1), 1),
    ]
    assert found.outgoing.groups[1].rows[0].term == Literal("Hub")
    assert found.outgoing.groups[1].rows[0].triple_id == written[0]["id"]
    (incoming,) = found.incoming.groups
    assert [(row.term, row.triple_id) for row in incoming.rows] == [(graph.names.node("a"), written[3]["id"])]
    assert (found.outgoing.count, found.outgoing.predicates) == (Count(3), Count(2))
    assert found.is_known
    assert not neighbourhood(graph, "nobody").is_known


def test_counts_are_of_one_namespace(graph: NamespacedGraph) -> None:
    other = NamespacedGraph(graph.store, f"{graph.namespace}x")
    other.create_triple({"subject": "a", "predicate": "q", "object": 1}, at(1, "spy"))
    gone = graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, at(1))["id"]
    graph.create_triple({"subject": "a", "predicate": "p", "object": "b"}, at(2))
    quad = graph.quad_of({"subject": "c", "predicate": "q", "object": 3})
    assert_proved(graph, quad, at(3), StoredProof("pol", "{}", "2026-01-01T00:00:00Z", (graph.index.identify(quad),)))
    graph.create_triple({"subject": "d", "predicate": "q", "object": 4})
    graph.withdraw(gone, at(4))
    counts = count_namespace(graph.store, graph.names)
    assert (counts.triples, counts.resources, counts.predicate_total) == (3, 3, 2)
    used = [(graph.names.name(each.predicate.value).partition(":")[2], each.triples) for each in counts.predicates]
    assert used == [("q", 2), ("p", 1)]
    assert (counts.assertions, counts.undated, counts.withdrawn, counts.proofs) == (2, 1, 1, 1)
    by = {graph.names.name(each.node.value).partition(":")[2]: each for each in counts.asserters}
    assert {name: (each.assertions, each.withdrawn) for name, each in by.items()} == {
        "agent:a1": (2, 1),
        "skill:shop@1.0.0": (2, 1),
    }
    assert counts.is_exact
    kept = graph.counts.latest(60.0)
    assert (kept.triples, kept.asserters, kept.is_current) == (3, counts.asserters, True)


def test_assertions_are_listed_newest_first_and_filtered(graph: NamespacedGraph) -> None:
    for number, (subject, by) in enumerate(
        [("a", at(0)), ("b", at(3, "a2")), ("c", at(1, version="2.0.0")), ("d", at(2, skill=None))]
    ):
        graph.create_triple({"subject": subject, "predicate": f"p{number % 2}", "object": node("x")}, by)
    graph.create_triple({"subject": "e", "predicate": "p0", "object": node("x")})  # without a record
    assert subjects(graph) == ["b", "d", "c", "a"]
    assert subjects(graph, AssertionFilter(subject="d")) == ["d"]
    assert subjects(graph, AssertionFilter(predicate="p0")) == ["c", "a"]
    assert subjects(graph, AssertionFilter(object=node("x"), agent="a1")) == ["d", "c", "a"]
    assert subjects(graph, AssertionFilter(object="x")) == []
    assert subjects(graph, AssertionFilter(skill="shop")) == ["b", "c", "a"]
    assert subjects(graph, AssertionFilter(skill="shop@1.0.0")) == ["b", "a"]
    assert subjects(graph, AssertionFilter(skill="other")) == []
    assert subjects(graph, AssertionFilter(since=START + timedelta(hours=2))) == ["b", "d"]
    assert subjects(graph, AssertionFilter(until="2026-01-01T01:00:00Z")) == ["c", "a"]
    (first,) = list_assertions(graph, limit=1).assertions
    assert (first.agent, first.skill, first.skill_version, first.time) == (
        "a2",
        "shop",
        "1.0.0",
        "2026-01-01T03:00:00Z",
    )
    assert first.is_present
    assert assertions_of(graph, [first.triple_id]) == {first.triple_id: first}


def test_a_withdrawn_assertion_is_listed_when_it_is_asked_for(graph: NamespacedGraph) -> None:
    triple = {"subject": "a", "predicate": "p", "object": 1}
    gone = graph.create_triple(triple, at(1))["id"]
    graph.create_triple({**triple, "subject": "b"}, at(2))
    graph.withdraw(gone, at(5, "eve"))
    assert subjects(graph) == ["b"]
    graph.create_triple(triple, at(6))
    found = list_assertions(graph, AssertionFilter(withdrawn=True)).assertions
    assert [(each.time, each.is_present, (each.withdrawn or {}).get("agent")) for each in found] == [
        ("2026-01-01T06:00:00Z", True, None),
        ("2026-01-01T02:00:00Z", True, None),
        ("2026-01-01T01:00:00Z", False, "eve"),
    ]
    assert found[0].triple_id == found[2].triple_id == gone
    assert found[0].record != found[2].record


def test_pages_of_assertions_have_each_of_them_once(graph: NamespacedGraph) -> None:
    for hour in (0, 0, 1, 2, 2, 2, 3):
        count = graph.count()
        graph.create_triple({"subject": f"s{count}", "predicate": "p", "object": count}, at(hour))
    found: list[str] = []
    cursor = None
    for _ in range(10):
        page = list_assertions(graph, limit=2, cursor=cursor)
        found += [each.triple_id for each in page.assertions]
        cursor = page.cursor
        if cursor is None:
            break
        graph.create_triple({"subject": f"late{len(found)}", "predicate": "p", "object": 1}, at(9))
    assert len(found) == len(set(found)) == 7


def test_a_large_resource_has_bounds(graph: NamespacedGraph, kind: Kind) -> None:
    if kind.server:
        pytest.skip("writing so much takes long")
    names = graph.names
    many = (Quad(names.node(f"s{i}"), names.node("p"), names.node("hub"), names.graph) for i in range(COUNTED + 500))
    wide = (Quad(names.node("hub"), names.node(f"q{i}"), Literal(i), names.graph) for i in range(2_000))
    named = [Quad(names.node("hub"), LABEL, Literal("Hub"), names.graph)]
    graph.store.bulk_insert(itertools.chain(many, wide, named))
    graph.counts.latest(60.0)
    found = neighbourhood(graph, "hub", predicates=3, values=2)
    (incoming,) = found.incoming.groups
    assert (incoming.count, len(incoming.rows)) == (Count(COUNTED, is_exact=False), 2)
    outgoing = found.outgoing
    assert (len(outgoing.groups), outgoing.predicates.is_exact, outgoing.count.is_exact) == (3, False, False)
    assert 200 <= outgoing.predicates.value < 2_001
    assert 200 < outgoing.count.value <= 2_001


@pytest.mark.parametrize(
    "name", ["", "a\ud800", "<urn:a b>", "<urn:x:\x00>"], ids=["empty", "surrogate", "malformed", "control"]
)
def test_a_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArguments):
        neighbourhood(NamespacedGraph(open_store("memory:"), "m"), name)


HOSTILE = ["x y", "a> } ?s ?p ?o . { <urn:x", '"""', "\\u003e", "🦉", "a" * 2000, "%00", "'); DROP GRAPH <x>"]


def test_hostile_filters_are_terms_and_no_syntax() -> None:
    graph = NamespacedGraph(open_store("memory:"), "m")
    graph.create_triple({"subject": "s", "predicate": "p", "object": "o"}, at(1))
    for text in HOSTILE:
        for field in ("subject", "predicate", "object", "agent", "skill"):
            assert subjects(graph, AssertionFilter(**{field: text})) == []
        graph.create_triple({"subject": text, "predicate": text, "object": text}, at(2, text, text, text))
        for field in ("subject", "predicate", "object", "agent"):
            assert len(subjects(graph, AssertionFilter(**{field: text}))) == 1
        assert len(subjects(graph, AssertionFilter(skill=text))) == 1
        assert neighbourhood(graph, text).is_known
        (gone,) = graph.list_triples({"subject": text})["triples"]
        graph.delete_triple(gone["id"])


@pytest.mark.parametrize("cursor", ["x", "AAAA", "é", "A" * 900, "a\nb"])
def test_a_malformed_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArguments, match="cursor"):
        list_assertions(NamespacedGraph(open_store("memory:"), "m"), cursor=cursor)


def test_a_cursor_of_another_namespace_or_filter_is_refused() -> None:
    store = open_store("memory:")
    graphs = [NamespacedGraph(store, name) for name in ("m", "mm")]
    for graph in graphs:
        for number in range(3):
            graph.create_triple({"subject": "a", "predicate": "p", "object": number}, at(number))
    cursor = list_assertions(graphs[0], limit=1).cursor
    assert len(list_assertions(graphs[0], cursor=cursor).assertions) == 2
    for graph, which in ((graphs[1], None), (graphs[0], AssertionFilter(subject="a"))):
        with pytest.raises(InvalidArguments, match="cursor"):
            list_assertions(graph, which, cursor=cursor)


@pytest.mark.parametrize(
    "moment", ["tomorrow", "2026-01-01T00:00:00", "2026-13-01", "2026-01-01T25:00:00Z", "0001-01-01T00:00:00+14:00", 5]
)
def test_a_malformed_moment_names_its_field(moment: object) -> None:
    with pytest.raises(InvalidArguments) as caught:
        list_assertions(NamespacedGraph(open_store("memory:"), "m"), AssertionFilter(since=moment))  # type: ignore[arg-type]
    assert caught.value.details["field"] == "since"


def test_a_date_is_its_beginning_in_utc() -> None:
    assert check_moment("2026-01-31", "asOf") == datetime(2026, 1, 31, tzinfo=UTC)
    assert check_moment("2026-01-31t12:00:00.5+01:00", "asOf") == datetime(2026, 1, 31, 11, 0, 0, 500_000, tzinfo=UTC)
