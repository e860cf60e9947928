"""Two processes on one data folder remember, recall and forget without losing memories."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query, new_memory
from tests.graph.shared.processes import ended, line_of, python

OTHER = """
import sys
from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import new_memory, memory_query

store = open_store(sys.argv[1])
memories = Memories(NamespacedGraph(store, "mayros"))
for line in sys.stdin:
    verb, _, text = line.rstrip().partition(" ")
    if verb == "remember":
        said = memories.remember(new_memory(text), agent="a1", skill="other")
    elif verb == "forget":
        said = memories.forget(text, agent="a1")
    else:
        said = sorted(m.text for m, _ in memories.recall(memory_query(text, {"limit": 50}), agent="a1").found)
    print(said, flush=True)
store.close()
"""


@pytest.fixture
def memories(tmp_path: Path):
    store = open_store(str(tmp_path / "store"))
    yield Memories(NamespacedGraph(store, "mayros"))
    store.close()


def texts(memories: Memories, query: str) -> list[str]:
    found = memories.recall(memory_query(query, {"limit": 50}), agent="a1").found
    return sorted(memory.text for memory, _ in found)


def test_processes_recall_the_memories_of_each_other_but_no_deleted_ones(memories, tmp_path) -> None:
    other = python(OTHER, tmp_path / "store")

    def say(line: str) -> str:
        assert other.stdin is not None
        other.stdin.write(f"{line}\n")
        other.stdin.flush()
        return line_of(other)

    try:
        assert say("recall tea") == "[]"
        assert texts(memories, "tea") == []
        for number in range(5):
            identifier, created = memories.remember(new_memory(f"tea {number}"), agent="a1")
            assert created
            assert say("recall tea") == str([f"tea {each}" for each in range(number + 1)])
            assert say(f"remember coffee {number}").endswith(", True)")
            assert texts(memories, "coffee") == [f"coffee {each}" for each in range(number + 1)]
        assert say("remember tea 4") == str((identifier, False))
        assert say(f"forget {identifier}") == "True"
        assert texts(memories, "tea") == ["tea 0", "tea 1", "tea 2", "tea 3"]
        assert memories.remember(new_memory("tea 4"), agent="a1") == (identifier, True)
        assert say("recall tea") == str([f"tea {each}" for each in range(5)])
    finally:
        code, _, errors = ended(other)
    assert (code, errors) == (0, "")


def test_memories_survive_a_killed_process(memories, tmp_path) -> None:
    other = python(OTHER, tmp_path / "store")
    try:
        assert other.stdin is not None
        other.stdin.write("remember tea is hot\n")
        other.stdin.flush()
        assert line_of(other).endswith(", True)")
    finally:
        other.kill()
        other.communicate()
    assert texts(memories, "tea") == ["tea is hot"]
