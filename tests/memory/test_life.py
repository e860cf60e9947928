"""Memories under many threads and agents, and on a store on a server."""

from __future__ import annotations

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import psutil

from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query, new_memory
from tests.services.oxigraph import oxigraph


def texts(memories: Memories, query: str, agent: str = "a1") -> list[str]:
    found = memories.recall(memory_query(query, {"limit": 50}), agent=agent).found
    return sorted(memory.text for memory, _ in found)


def test_concurrent_threads_lose_no_memory(memories: Memories) -> None:
    def work(worker: int) -> None:
        for number in range(5):
            memories.remember(new_memory(f"tea {worker} {number}"), agent="a1")
            assert f"tea {worker} {number}" in texts(memories, f"{worker} {number} tea")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert texts(memories, "tea") == sorted(f"tea {worker} {number}" for worker in range(8) for number in range(5))


def test_the_same_text_remembered_concurrently_is_one_memory(memories: Memories) -> None:
    with ThreadPoolExecutor(8) as pool:
        said = set(pool.map(lambda _: memories.remember(new_memory("tea"), agent="a1")[0], range(32)))
    assert len(said) == 1
    assert texts(memories, "tea") == ["tea"]


def test_the_threads_of_old_agents_end(memories: Memories) -> None:
    others = threads()
    for number in range(8):
        memories.remember(new_memory("tea"), agent=f"a{number}")
    for number in range(8):
        assert texts(memories, "tea", f"a{number}") == ["tea"]
    for _ in range(3):
        for number in range(8):
            assert texts(memories, "tea", f"a{number}") == ["tea"]
    own = threads() - others
    assert len(own) <= 1  # what makes the index, for all agents
    memories.close()
    gc.collect()
    end = time.monotonic() + 100
    while own & threads():
        assert time.monotonic() < end
        time.sleep(0.05)


def threads() -> set[int]:
    """The ids of the threads of this process."""
    return {thread.id for thread in psutil.Process().threads()}


def test_a_store_on_a_server_keeps_memories(clock) -> None:
    with oxigraph() as server:
        store = open_store({"query": f"{server.url}/query", "update": f"{server.url}/update"})
        try:
            memories = Memories(NamespacedGraph(store, "mayros"), clock)
            identifier, _ = memories.remember(new_memory("tea is hot", {"tags": ["drinks"]}), agent="a1")
            assert texts(memories, "drinks") == ["tea is hot"]
            Memories(NamespacedGraph(store, "mayros"), clock).remember(new_memory("tea is green"), agent="a1")
            assert texts(memories, "tea") == ["tea is green", "tea is hot"]
            assert memories.forget(identifier, agent="a1")
            assert texts(memories, "tea") == ["tea is green"]
        finally:
            store.close()
