"""Memories on a Cortex server: each agent's are a graph there, for a token with the permission `memories`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cortex_graph import GraphError, NamespacedGraph, export_rdf, import_rdf, open_store
from cortex_graph.memory_graphs import agents_remembering
from cortex_graph.transfer import copy_store
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query, new_memory
from tests.graph.cortex.support import ALL, cortex_at
from tests.server.serving import Running, served


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The instance that has the data."""
    folder = tmp_path_factory.mktemp("far")
    with served(folder, store=str(folder / "store")) as server:
        yield server


def recalled(graph: NamespacedGraph, agent: str) -> list[str]:
    found = Memories(graph).recall(memory_query("tea", {"limit": 50}), agent=agent).found
    return sorted(memory.text for memory, _ in found)


def test_memories_are_kept_there_and_are_the_same_on_both_sides(far: Running) -> None:
    with cortex_at(far, permissions=(*ALL, "memories")) as store:
        near = NamespacedGraph(store, "mayros")
        there = far.plugin.graph
        identifier, _ = Memories(near).remember(
            new_memory("tea is hot", {"tags": ["drinks"]}), agent="a/ü 1", skill="s"
        )
        assert Memories(there).remember(new_memory("tea is hot"), agent="a/ü 1") == (identifier, False)
        Memories(there).remember(new_memory("tea is green"), agent="a/ü 1")
        assert recalled(near, "a/ü 1") == recalled(there, "a/ü 1") == ["tea is green", "tea is hot"]
        ((memory, _),) = Memories(near).recall(memory_query("drinks"), agent="a/ü 1").found
        assert (memory.skill, memory.authors) == ("s", ())
        assert recalled(near, "a2") == []
        assert (near.count(), there.count()) == (0, 0)
        assert agents_remembering(store, near.names.base)["mayros"] == ["a/ü 1"]
        with closing(open_store("memory:")) as copy:
            copy_store(store, copy)
            assert recalled(NamespacedGraph(copy, "mayros"), "a/ü 1") == ["tea is green", "tea is hot"]
        assert Memories(near).forget(identifier, agent="a/ü 1")
        assert recalled(there, "a/ü 1") == ["tea is green"]


def test_a_token_without_the_permission_keeps_no_memories_there(far: Running) -> None:
    with cortex_at(far) as store:
        memories = Memories(NamespacedGraph(store, "other"))
        with pytest.raises(GraphError, match="memories") as refused:
            memories.remember(new_memory("tea is cold"), agent="a1")
        assert refused.value.code in ("permission_denied", "graph_unavailable")
        assert agents_remembering(store, "urn:cortex:") == {}


def test_an_import_takes_memories_there(far: Running, tmp_path: Path) -> None:
    file = tmp_path / "all.ttl"
    with closing(open_store("memory:")) as store:
        here = NamespacedGraph(store, "third")
        Memories(here).remember(new_memory("tea is cold"), agent="a1")
        written = export_rdf(here, file)
    with cortex_at(far, permissions=(*ALL, "memories")) as store:
        near = NamespacedGraph(store, "third")
        assert import_rdf(near, file) == written
        assert (recalled(near, "a1"), near.count()) == (["tea is cold"], 0)
        assert agents_remembering(store, near.names.base)["third"] == ["a1"]
