"""Counts that took long are kept in the store, and the next process begins with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_graph.index import counts as kept_counts
from cortex_graph.index import kept as summaries
from cortex_graph.index.counting import NamespaceCounts
from cortex_graph.naming.vocabulary import VALUE
from cortex_graph.store import GraphStore, Pattern


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GraphStore]:
    monkeypatch.setattr(summaries, "_WORTH_KEEPING_S", 0.0)
    opened = open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


def filled(store: GraphStore) -> NamespacedGraph:
    graph = NamespacedGraph(store, "m")
    for number in range(3):
        by = Provenance("shop", "1", "a 1")
        graph.create_triple({"subject": f"s{number}", "predicate": "p'\"\n", "object": number}, by)
    return graph


def kept(graph: NamespacedGraph) -> list[Quad]:
    return list(graph.store.quads(Pattern(graph.names.index_graph, graph.counts._node, VALUE)))


def numbers(found: NamespaceCounts) -> tuple[object, ...]:
    return (found.triples, found.predicates, found.asserters, found.assertions, found.is_exact, found.counted_at)


def test_the_next_process_begins_with_the_counts_of_the_last_one(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = filled(store)
    counted = graph.counts.latest(60.0)
    assert (counted.triples, counted.is_current, len(kept(graph))) == (3, True, 1)
    graph.create_triple({"subject": "later", "predicate": "p", "object": 1})
    monkeypatch.setattr(summaries, "_SHARE", 1e9)  # nothing is due
    again = NamespacedGraph(store, "m")
    known = again.counts.latest(0.0)
    assert numbers(known) == numbers(counted)
    assert not known.is_current
    # Who waits for longer than counting takes gets new ones.
    assert (again.counts.latest(60.0).triples, again.counts.latest(60.0).is_current) == (4, True)
    assert NamespacedGraph(store, "m").counts.latest(0.0).triples == 4
    assert len(kept(graph)) == 1
    assert NamespacedGraph(store, "mm").counts.latest(60.0).triples == 0


def test_old_counts_are_made_again_in_the_background(store: GraphStore) -> None:
    graph = filled(store)
    graph.counts.latest(60.0)
    (old,) = kept(graph)
    assert isinstance(old.object, Literal)
    now = datetime.now(UTC)
    text = old.object.value.replace(str(now.year), str((now - timedelta(days=800)).year))
    store.apply([Quad(old.subject, VALUE, Literal(text), old.graph_name)], [old])
    graph.create_triple({"subject": "later", "predicate": "p", "object": 1})
    again = NamespacedGraph(store, "m")
    assert again.counts.latest(0.0).triples in (3, 4)
    found = again.counts.latest(60.0)
    assert (found.triples, found.is_current) == (4, True)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", '{"took": 1}', '{"took": "x"}', "NEW", "TYPE", "NODE", "DATE"],
)
def test_damaged_counts_are_not_shown(store: GraphStore, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    graph = filled(store)
    graph.counts.latest(60.0)
    (old,) = kept(graph)
    assert isinstance(old.object, Literal)
    whole = old.object.value
    damaged = {
        "NEW": whole.replace('"triples"', '"others"'),
        "TYPE": whole.replace('"triples":3', '"triples":"3"'),
        "NODE": whole.replace("urn:cortex:m:agent", "<"),
        "DATE": whole.replace('"counted_at":"', '"counted_at":"x'),
    }.get(text, text)
    assert damaged != whole
    store.apply([Quad(old.subject, VALUE, Literal(damaged), old.graph_name)], [old])
    monkeypatch.setattr(summaries.KeptSummary, "_make", lambda *_: None)
    assert NamespacedGraph(store, "m").counts.latest(0.0) == NamespaceCounts(triples=3, is_exact=False)


def test_quick_counts_are_not_written(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "_WORTH_KEEPING_S", 3600.0)
    graph = filled(store)
    graph.counts.latest(60.0)
    assert kept(graph) == []


def predicates(graph: NamespacedGraph) -> list[str] | None:
    found = graph.counts.predicates()
    return None if found is None else [each.value.removeprefix("urn:cortex:m:") for each in found]


WRITES = st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.sampled_from("pq")), max_size=8)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=WRITES, after=st.lists(WRITES, max_size=4))
def test_the_predicates_are_those_in_use_after_any_writes(before: Any, after: Any) -> None:
    with closing(open_store("memory:")) as store, pytest.MonkeyPatch.context() as patch:
        graph, reader = NamespacedGraph(store, "m"), NamespacedGraph(store, "m")
        for writes in (before, *after):
            for is_new, subject, predicate in writes:
                statement = {"subject": subject, "predicate": predicate, "object": 1}
                made = graph.create_triple(statement)["id"]
                if not is_new:
                    graph.delete_triple(made)
            reader.counts.latest(60.0)
            patch.setattr(summaries, "_SHARE", 1e9)  # after the first count none is due
            rows = store.quads(Pattern(graph.names.graph))
            assert predicates(reader) == sorted({quad.predicate.value.rpartition(":")[2] for quad in rows})


def test_the_predicates_are_known_to_the_next_process_and_not_when_one_may_be_missing(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = filled(store)
    with monkeypatch.context() as patch:
        patch.setattr(summaries.KeptSummary, "_make", lambda *_: None)
        assert predicates(NamespacedGraph(store, "m")) is None  # nothing was counted
    graph.counts.latest(60.0)
    monkeypatch.setattr(summaries, "_SHARE", 1e9)
    graph.create_triples({"subject": "later", "predicate": f"p{number}", "object": 1} for number in range(5))
    again = NamespacedGraph(store, "m")
    assert again.counts.latest(0.0).is_current is False
    assert predicates(again) == ["p'%22%0A", "p0", "p1", "p2", "p3", "p4"]
    monkeypatch.setattr(kept_counts, "_READ_AGAIN", 6)
    again.create_triple({"subject": "later", "predicate": "q", "object": 1})
    assert predicates(again) is None


def test_current_counts_have_the_predicates_where_earlier_changes_are_no_longer_known(store: GraphStore) -> None:
    graph = filled(store)
    assert graph.counts.latest(60.0).is_current
    graph.counts._position = ""
    assert predicates(graph) == ["p'%22%0A"]
    graph.create_triple({"subject": "later", "predicate": "p", "object": 1})
    assert predicates(graph) == ["p", "p'%22%0A"]
