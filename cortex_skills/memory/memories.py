"""The memories of the agents of one namespace.

Rules kept here:
- a memory belongs to an agent, and only that agent recalls it: agents of one namespace share triples, not memories;
  skills that act for one agent share its memories. Each agent has a graph for them (`cortex_graph.memory_graphs`);
- a store on a server may have memories of an earlier version, in the graph of the namespace: they are moved at the
  first use. Those of a folder are moved when it is opened;
- remembering a text again changes nothing;
- the indexes of the last few agents that recalled are kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

from cortex_graph import NamespacedGraph, Provenance
from cortex_graph.agent_graph import AgentGraph
from cortex_graph.memory_graphs import memory_id, move_memories
from cortex_graph.store import Pattern
from cortex_skills.finder import Embedder
from cortex_skills.memory.agent_memories import INDEX_TIMEOUT_S, AgentMemories
from cortex_skills.memory.memory_triples import MemoryReader, memory_node, triples_of
from cortex_skills.memory.model import MemoryQuery, NewMemory, Recalled

_MAX_AGENTS = 4


def _now() -> datetime:
    return datetime.now(UTC)


class Memories:
    """The memories in a namespace. Safe to use from several threads.

    Args:
        graph: the graph of the namespace.
        clock: returns the time, in UTC.
        embedder: finds memories by their meaning too; None for words alone.

    """

    def __init__(
        self, graph: NamespacedGraph, clock: Callable[[], datetime] = _now, embedder: Embedder | None = None
    ) -> None:
        self._graph = graph
        self._clock = clock
        self._embedder = embedder
        self._owned: OrderedDict[str, AgentMemories] = OrderedDict()
        self._lock = threading.Lock()
        self._settled = False

    def settle(self) -> None:
        """Move the memories of an earlier version out of the graph of the namespace; once in a process.

        Raises:
            GraphError: the store cannot be read or written.

        """
        if not self._settled:
            move_memories(self._graph.store, self._graph.names.graph)
            self._settled = True

    def graph_of(self, agent: str) -> AgentGraph:
        """The memories of an agent as a graph."""
        self.settle()
        return AgentGraph(self._graph, agent)

    def remember(
        self, new: NewMemory, *, agent: str, skill: str | None = None, author: str | None = None
    ) -> tuple[str, bool]:
        """Store a memory of an agent; `author` is the agent that writes it, if it is another.

        Returns:
            The id of the memory, and whether it is new.

        Raises:
            GraphError: the write failed.

        """
        graph = self.graph_of(agent)
        known = MemoryReader(graph).of_text(new.text)
        if known is not None:
            return known.id, False
        identifier = memory_id(graph.make_key(), new.text)
        provenance = None if author is None else Provenance(agent=author)
        graph.create_triples(triples_of(graph, identifier, new, skill, self._clock()), provenance)
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
        self.settle()
        with self._lock:
            owned = self._owned.get(agent)
            if owned is None:
                owned = self._owned[agent] = AgentMemories(AgentGraph(self._graph, agent), self._clock, self._embedder)
            self._owned.move_to_end(agent)
            while len(self._owned) > _MAX_AGENTS:
                self._owned.popitem(last=False)
        return owned.recall(query, timeout_s)

    def forget(self, identifier: str, *, agent: str) -> bool:
        """Delete a memory of an agent; True if it existed."""
        graph = self.graph_of(agent)
        if MemoryReader(graph).one(identifier) is None:
            return False
        quads = list(graph.store.quads(Pattern(graph.names.graph, memory_node(graph.names, identifier))))
        index = graph.index
        entries = [index.entry(index.hash_of(quad), quad) for quad in quads] if index.has_begun() else []
        graph.store.apply(remove=[*quads, *entries])
        return True

    def close(self) -> None:
        """Release the indexes."""
        with self._lock:
            self._owned.clear()
