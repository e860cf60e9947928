"""The memories of many agents are in one index, where an agent finds its own, as if there were no others."""

from __future__ import annotations

import gc
import threading
from datetime import UTC, datetime, timedelta

import pytest

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.memory_graphs import memory_id
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.features.finder import index_follower
from cortex_skills.features.memory import agent_memories, memory_follower
from cortex_skills.features.memory import memories as memories_module
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.memory_triples import triples_of
from cortex_skills.features.memory.model import NewMemory
from cortex_skills.features.memory.requests import memory_query
from tests.memory.conftest import Clock


def remembered(graph: NamespacedGraph, agent: str, texts: list[str]) -> None:
    own = AgentGraph(graph, agent)
    key, time = own.make_key(), datetime(2026, 5, 1, tzinfo=UTC)
    for text in texts:
        time += timedelta(hours=1)  # so that none lends another one words
        own.create_triples(triples_of(own, memory_id(key, text), NewMemory(text, 0.5, ()), None, time))


def recalled(memories: Memories, query: str, agent: str) -> list[object]:
    found = memories.recall(memory_query(query, {"limit": 50}), agent=agent)
    shown = sorted((memory.text, scored.to_json()) for memory, scored in found.found)
    return [shown, found.words, found.considered, found.less_important]


def indexed(graph: NamespacedGraph) -> int:
    """How many memories the index of the namespace has, moved to its files or not."""
    view = index_follower.follower_of(memory_follower.MemoryFollower, graph).current(graph, 10.0)
    later = {key for key, text in view.changed.items() if text is not None}
    return view.documents.count + sum(view.documents.place_of(key) is None for key in later)


@pytest.mark.parametrize("few", [0, 10_000])
@pytest.mark.parametrize("query", ["tea", "tea milk", "oslo", "milk number7 tea", "secret"])
def test_what_an_agent_recalls_does_not_depend_on_other_agents(query, few, monkeypatch):
    monkeypatch.setattr(index_follower, "MOVED_AT", few)
    texts = [f"tea {'milk ' * (number % 3)}number{number} oslo" for number in range(40)]
    alone, among = NamespacedGraph(open_store("memory:"), "m"), NamespacedGraph(open_store("memory:"), "m")
    for graph in (alone, among):
        remembered(graph, "a1", texts)
    for agent in range(5):
        of_another = [f"milk oslo secret of {agent} {number} " + "long " * 30 for number in range(60)]
        remembered(among, f"b{agent}", [*of_another, *texts[:3]])
    clock = Clock()
    first, second = Memories(alone, clock), Memories(among, clock)
    for agent in range(5):
        assert recalled(second, "secret", f"b{agent}")[0]
    assert recalled(first, query, "a1") == recalled(second, query, "a1")
    assert recalled(second, "secret", "a1") == [[], ("secret",), 0, 0]


def test_where_more_match_than_are_ranked_the_frequency_of_words_elsewhere_decides_nothing(monkeypatch):
    monkeypatch.setattr(agent_memories, "POOL", 5)
    monkeypatch.setattr(index_follower, "MOVED_AT", 0)
    texts = [f"{'tea oslo june' if number % 8 else 'milk rome may'} n{number}" for number in range(60)]
    alone, among = NamespacedGraph(open_store("memory:"), "m"), NamespacedGraph(open_store("memory:"), "m")
    for graph in (alone, among):
        remembered(graph, "a1", texts)
    remembered(among, "a2", [f"milk milk other n{number}" for number in range(600)])
    first, second = Memories(alone, clock := Clock()), Memories(among, clock)
    recalled(second, "milk", "a2")
    for memories in (first, second):
        found = memories.recall(memory_query("milk tea oslo june"), agent="a1").found
        assert {memory.text[:13] for memory, _ in found} == {"milk rome may"}  # the rare word of this agent counts


def test_an_agent_costs_no_thread_and_no_index(monkeypatch):
    monkeypatch.setattr(index_follower, "MOVED_AT", 0)
    graph = NamespacedGraph(open_store("memory:"), "m")
    memories = Memories(graph)
    counts = []
    for number in range(30):
        remembered(graph, f"a{number}", [f"tea of {number}"])
        assert len(recalled(memories, "tea", f"a{number}")[0]) == 1  # type: ignore[arg-type]
        counts.append(threading.active_count())
    assert max(counts) <= min(counts) + 1  # the one that moves what was written to the files
    assert indexed(graph) == 30


def test_the_agents_that_recalled_last_stay_indexed_and_the_others_are_indexed_again(monkeypatch):
    monkeypatch.setattr(memories_module, "MAX_KEPT", 10)
    monkeypatch.setattr(index_follower, "MOVED_AT", 0)
    graph = NamespacedGraph(open_store("memory:"), "m")
    memories = Memories(graph)
    for number in range(5):
        remembered(graph, f"a{number}", [f"tea {place} of {number}" for place in range(4)])
    for _ in range(2):
        for number in range(5):
            assert len(recalled(memories, "tea", f"a{number}")[0]) == 4  # type: ignore[arg-type]
    for count in (5, 6):
        memories.remember(NewMemory(f"tea again {count}", 0.5, ()), agent="a4")
        assert len(recalled(memories, "tea", "a4")[0]) == count  # type: ignore[arg-type]
        gc.collect()
    assert list(memories._owned) == ["a3", "a4"]
    assert indexed(graph) == 22  # of all agents, in one index
