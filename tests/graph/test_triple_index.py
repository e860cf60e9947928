"""Triples are found by their ids, wherever they came from."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from cortex_graph import GraphBusy, NamespacedGraph, Pattern, import_rdf
from cortex_graph.index import triple_index
from cortex_graph.store_access import recent_cache as recent

UNKNOWN = "0" * 64
Fill = Callable[[int], list[str]]


@pytest.fixture
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triple_index, "SMALL", 0)


def anew(graph: NamespacedGraph) -> NamespacedGraph:
    """The same namespace, as a process sees it that has just opened the store."""
    return NamespacedGraph(graph.store, graph.namespace)


def indexed(graph: NamespacedGraph) -> int:
    return graph.store.count(Pattern(graph.names.index_graph))


def test_an_id_of_a_small_graph_is_found_without_an_index(graph: NamespacedGraph, fill: Fill) -> None:
    ids = fill(20)
    assert anew(graph).get_triple(ids[7]) is not None
    assert anew(graph).get_triple(UNKNOWN) is None
    assert indexed(graph) == 0


@pytest.mark.usefixtures("_everything_is_large")
def test_an_id_of_a_large_graph_is_found_after_it_was_read_once(graph: NamespacedGraph, fill: Fill) -> None:
    ids = fill(20)
    assert anew(graph).get_triple(ids[7])["object"] == 7  # type: ignore[index]
    assert indexed(graph) == 20 + 2
    assert anew(graph).get_triple(UNKNOWN) is None
    assert anew(graph).delete_triple(ids[7])
    assert indexed(graph) == 19 + 2


@pytest.mark.usefixtures("_everything_is_large")
def test_once_there_is_an_index_new_triples_are_in_it(graph: NamespacedGraph, fill: Fill) -> None:
    older, other = graph, anew(graph)
    fill(3)
    other.get_triple(UNKNOWN)
    for writer in (older, other, older):
        triple_id = writer.create_triple({"subject": "late", "predicate": "p", "object": indexed(graph)})["id"]
        assert anew(graph).get_triple(triple_id) is not None
    assert indexed(graph) == 3 + 3 + 2


@pytest.mark.usefixtures("_everything_is_large")
def test_an_import_is_indexed_when_it_is_needed(graph: NamespacedGraph, fill: Fill) -> None:
    fill(3)
    graph.get_triple(UNKNOWN)
    import_rdf(graph, io.BytesIO(b'<urn:a> <urn:p> "imported" .'), "n-triples")
    (triple,) = anew(graph).list_triples({"object": "imported"})["triples"]
    assert indexed(graph) == 3 + 1
    assert anew(graph).delete_triple(triple["id"])
    assert anew(graph).list_triples({"object": "imported"})["total"] == 0
    assert indexed(graph) == 3 + 2


@pytest.mark.usefixtures("_everything_is_large")
def test_while_a_graph_is_rewritten_an_unknown_id_is_busy(graph: NamespacedGraph, fill: Fill) -> None:
    fill(3)
    with graph.store.maintenance, pytest.raises(GraphBusy) as caught:
        graph.get_triple(UNKNOWN)
    assert caught.value.code == "graph_busy"


def test_only_so_many_recent_triples_are_kept(
    graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch, fill: Fill
) -> None:
    monkeypatch.setattr(recent, "HALF", 10)
    ids = fill(95)
    assert len(graph.index.recent) <= 20
    assert all(graph.get_triple(triple_id) for triple_id in ids)
