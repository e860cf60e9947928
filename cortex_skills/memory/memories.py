"""The memories of the agents of one namespace.

Rules kept here:
- a memory belongs to an agent, and only that agent recalls it: agents of one namespace share triples, not memories;
  skills that act for one agent share its memories;
- remembering a text again changes nothing;
- the indexes of the last few agents that recalled are kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

from cortex_graph import NamespacedGraph
from cortex_graph.store import Pattern
from cortex_skills.memory.agent_memories import INDEX_TIMEOUT_S, AgentMemories
from cortex_skills.memory.memory_triples import MemoryReader, memory_id, memory_node, triples_of
from cortex_skills.memory.model import MemoryQuery, NewMemory, Recalled

_MAX_AGENTS = 4


def _now() -> datetime:
    return datetime.now(UTC)


class Memories:
    """The memories in a namespace. Safe to use from several threads.

    Args:
        graph: the graph of the namespace.
        clock: returns the time, in UTC.

    """

    def __init__(self, graph: NamespacedGraph, clock: Callable[[], datetime] = _now) -> None:
        self._graph = graph
        self._clock = clock
        self._owned: OrderedDict[str, AgentMemories] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, new: NewMemory, *, agent: str, skill: str | None = None) -> tuple[str, bool]:
        """Store a memory of an agent.

        Returns:
            The id of the memory, and whether it is new.

        Raises:
            GraphError: the write failed.

        """
        identifier = memory_id(agent, new.text)
        if MemoryReader(self._graph, agent).one(identifier) is not None:
            return identifier, False
        self._graph.create_triples(triples_of(self._graph.names, new, agent, skill, self._clock()))
        return identifier, True

    def recall(self, query: MemoryQuery, *, agent: str, timeout_s: float = INDEX_TIMEOUT_S) -> Recalled:
        """The memories of an agent that match a query, best first.

        Args:
            query: the query.
            agent: the owner of the memories.
            timeout_s: how long to wait for the index, in seconds; the first recall builds it.

        Raises:
            CortexError: `graph_busy`, while the memories are being indexed.
            GraphError: the read failed.

        """
        with self._lock:
            owned = self._owned.get(agent)
            if owned is None:
                owned = self._owned[agent] = AgentMemories(self._graph, agent, self._clock)
            self._owned.move_to_end(agent)
            while len(self._owned) > _MAX_AGENTS:
                self._owned.popitem(last=False)
        return owned.recall(query, timeout_s)

    def forget(self, identifier: str, *, agent: str) -> bool:
        """Delete a memory of an agent; True if it existed."""
        if MemoryReader(self._graph, agent).one(identifier) is None:
            return False
        graph = self._graph.names.graph
        quads = list(self._graph.store.quads(Pattern(graph, memory_node(self._graph.names, identifier))))
        for quad in quads:
            self._graph.delete_triple(self._graph.index.identify(quad))
        return True

    def close(self) -> None:
        """Release the indexes."""
        with self._lock:
            self._owned.clear()
