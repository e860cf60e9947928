"""Counts that took long are kept in the store, and the next process begins with them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyoxigraph import Literal, Quad

from cortex_graph import NamespacedGraph, Provenance, open_store
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
