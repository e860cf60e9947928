"""The index of memories is on disk, one for all agents and processes of a store."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.finder import index_follower
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query, new_memory
from tests.graph.shared.processes import ended, line_of, python


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def memories(folder: Path):
    store = open_store(str(folder))
    yield Memories(NamespacedGraph(store, "mayros"))
    store.close()


def found(memories: Memories, query: str, agent: str = "a1") -> list[str]:
    recalled = memories.recall(memory_query(query, {"limit": 50}), agent=agent, timeout_s=60)
    return sorted(memory.text for memory, _ in recalled.found)


AGAIN = """
import sys
from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.memory import memory_follower
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query

memory_follower.MemoryFollower.every = None  # nothing is indexed again
store = open_store(sys.argv[1])
memories = Memories(NamespacedGraph(store, "mayros"))
for agent in ("a1", "a2"):
    found = memories.recall(memory_query("tea", {"limit": 50}), agent=agent).found
    print(sorted(memory.text for memory, _ in found), flush=True)
store.close()
"""


def test_the_next_process_indexes_nothing_again_and_another_agent_finds_its_own(memories, folder, monkeypatch) -> None:
    monkeypatch.setattr(index_follower, "MOVED_AT", 3)
    for number in range(8):
        memories.remember(new_memory(f"tea {number}"), agent="a1")
        assert len(found(memories, "tea")) == number + 1
    memories.remember(new_memory("tea of another"), agent="a2")
    other = python(AGAIN, folder)
    assert line_of(other) == str([f"tea {number}" for number in range(8)])
    assert line_of(other) == "['tea of another']"
    assert ended(other) == (0, "", "")


KILLED = """
import sys, time
from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.finder import index_follower, kept_documents
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query, new_memory

commit = kept_documents.DocumentsWriter.commit
index_follower.MOVED_AT = 3
made = []

def stopped(self, state):
    made.append(state)
    if len(made) == 2:
        print("waiting", flush=True)
        time.sleep(60)
    commit(self, state)

kept_documents.DocumentsWriter.commit = stopped
store = open_store(sys.argv[1])
memories = Memories(NamespacedGraph(store, "mayros"))
for number in range(6):
    memories.remember(new_memory(f"tea {number}"), agent="a1")
    memories.recall(memory_query("tea"), agent="a1")
time.sleep(60)
"""


def test_a_kill_while_the_index_is_written_loses_and_repeats_nothing(folder: Path) -> None:
    other = python(KILLED, folder)
    assert line_of(other) == "waiting"
    os.kill(other.pid, signal.SIGKILL)
    other.wait(30)
    store = open_store(str(folder))
    memories = Memories(NamespacedGraph(store, "mayros"))
    first = found(memories, "tea")
    assert len(first) == len(set(first)) >= 4
    assert set(first) <= {f"tea {number}" for number in range(6)}
    assert first == sorted(memory.text for memory in _all(memories))
    store.close()


def _all(memories: Memories) -> list:
    from cortex_skills.features.memory.memory_triples import MemoryReader

    reader = MemoryReader(memories.graph_of("a1"))
    return list(reader.many(reader.identifiers()))


def test_what_is_forgotten_or_corrected_is_so_in_the_files_too(memories, monkeypatch) -> None:
    monkeypatch.setattr(index_follower, "MOVED_AT", 2)
    ids = [memories.remember(new_memory(f"tea {number}"), agent="a1")[0] for number in range(6)]
    assert len(found(memories, "tea")) == 6
    memories.forget(ids[0], agent="a1")
    from cortex_skills.features.memory.memory_triples import MemoryReader

    memory = MemoryReader(memories.graph_of("a1")).one(ids[1])
    assert memory is not None
    memories.correct(memory, new_memory("coffee 1"))
    assert found(memories, "tea") == ["tea 2", "tea 3", "tea 4", "tea 5"]
    assert found(memories, "coffee") == ["coffee 1"]
    for number in range(6):  # moved to the files meanwhile
        memories.remember(new_memory(f"milk {number}"), agent="a1")
        assert len(found(memories, "milk")) == number + 1
    assert found(memories, "tea") == ["tea 2", "tea 3", "tea 4", "tea 5"]


def test_recalls_while_the_files_are_replaced_find_what_is_there(memories, monkeypatch) -> None:
    monkeypatch.setattr(index_follower, "MOVED_AT", 1)
    for number in range(20):
        memories.remember(new_memory(f"tea {number}"), agent="a1")
    wrong: list[object] = []

    def recalls() -> None:
        for _ in range(40):
            texts = found(memories, "tea")
            if len(texts) < 20 or not all(text.startswith("tea") for text in texts):
                wrong.append(texts)

    readers = [threading.Thread(target=recalls) for _ in range(3)]
    for each in readers:
        each.start()
    for number in range(30):
        memories.remember(new_memory(f"milk {number}"), agent=f"a{number % 3}")
    for each in readers:
        each.join()
    assert wrong == []
