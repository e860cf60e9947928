"""Stores and graphs for the tests: each test gets its own, in memory and on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cortex_graph import GraphStore, NamespacedGraph, open_store


@pytest.fixture(params=["memory", "disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GraphStore]:
    opened = open_store("memory:" if request.param == "memory" else tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def graph(store: GraphStore) -> NamespacedGraph:
    return NamespacedGraph(store, "mayros")


@pytest.fixture
def plain() -> Iterator[NamespacedGraph]:
    """A graph in memory, for what no store makes different."""
    store = open_store("memory:")
    yield NamespacedGraph(store, "mayros")
    store.close()


@pytest.fixture
def fill(graph: NamespacedGraph) -> Callable[[int], list[str]]:
    """Writes so many triples of the subject `s`, with the objects 0, 1, …; answers their ids."""

    def filled(count: int) -> list[str]:
        rows = [{"subject": "s", "predicate": "p", "object": number} for number in range(count)]
        return [row["id"] for row in graph.create_triples(rows)]

    return filled
