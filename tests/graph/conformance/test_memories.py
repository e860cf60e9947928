"""Every store keeps reflections with their depth, their sources and their uses."""

from __future__ import annotations

import pytest

from cortex_graph import NamespacedGraph
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import new_memory
from tests.graph.conformance.kinds import Subject

pytestmark = pytest.mark.timeout(400)


def test_a_reflection_is_kept_counted_and_three_deep_at_most(subject: Subject) -> None:
    if not subject.kind.any_graph:
        pytest.skip("a store of namespaces only keeps no memories of agents")
    graph = NamespacedGraph(subject.store, "reflecting")
    place = Pattern(graph.names.of_memories("a1").graph)
    subject.store.apply(remove=list(subject.store.quads(place)))  # of another kind on the same server
    memories = Memories(graph)
    source, _ = memories.remember(new_memory("It rained."), agent="a1")
    for depth, text in enumerate(("Rain is likely.", "Rain is common.", "Rain is usual."), start=1):
        memory, created = memories.reflect(new_memory(text), [source], agent="a1")
        assert (memory.depth, memory.reflects_on, created) == (depth, (source,), True)
        source = memory.id
    with pytest.raises(CortexError) as caught:
        memories.reflect(new_memory("Rain is all."), [source], agent="a1")
    assert caught.value.code == "reflection_depth_exceeded"
    memories.used([memory], agent="a1")
    found = {each.text: each.uses for each in memories.reflections("a1", "reflecting")}
    assert found == {"Rain is likely.": 0, "Rain is common.": 0, "Rain is usual.": 1}
