"""`Memories`: what agents remember in one namespace.

Rules kept here:
- a memory belongs to an agent, and only that agent recalls it: agents of one namespace share what they know as triples,
  and what they remember not at all. Skills that act for one agent share its memories;
- to remember a text again changes nothing;
- the indices of the agents that recalled last are kept, a few of them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

from cortex_graph import NamespacedGraph
from cortex_graph.store import Pattern
from cortex_skills.memory.model import NewMemory, Recalled, Wanted
from cortex_skills.memory.owned import PATIENCE_S, OwnedMemories
from cortex_skills.memory.reading import MemoryReader
from cortex_skills.memory.records import memory_id, memory_node, triples_of

_MAX_AGENTS = 4


def _now() -> datetime:
    return datetime.now(UTC)


class Memories:
    """The memories in a namespace. Safe to use from several threads.

    Args:
        graph: of the namespace.
        clock: the time, in UTC.

    """

    def __init__(self, graph: NamespacedGraph, clock: Callable[[], datetime] = _now) -> None:
        self._graph = graph
        self._clock = clock
        self._owned: OrderedDict[str, OwnedMemories] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, new: NewMemory, *, agent: str, skill: str | None = None) -> tuple[str, bool]:
        """Remember something on behalf of an agent.

        Returns:
            The memory's id, and whether it is new.

        Raises:
            GraphError: the store cannot write.

        """
        identifier = memory_id(agent, new.text)
        if MemoryReader(self._graph, agent).one(identifier) is not None:
            return identifier, False
        self._graph.create_triples(triples_of(self._graph.names, new, agent, skill, self._clock()))
        return identifier, True

    def recall(self, wanted: Wanted, *, agent: str, patience_s: float = PATIENCE_S) -> Recalled:
        """What an agent remembers about something, best first.

        Args:
            wanted: the query.
            agent: whose memories.
            patience_s: how long to wait for their index, in seconds; the first time it has to be made.

        Raises:
            CortexError: `graph_busy`, while its memories are being indexed.
            GraphError: the store cannot be read.

        """
        with self._lock:
            owned = self._owned.get(agent)
            if owned is None:
                owned = self._owned[agent] = OwnedMemories(self._graph, agent, self._clock)
            self._owned.move_to_end(agent)
            while len(self._owned) > _MAX_AGENTS:
                self._owned.popitem(last=False)
        return owned.recall(wanted, patience_s)

    def forget(self, identifier: str, *, agent: str) -> bool:
        """Delete a memory of an agent; True if there was one."""
        if MemoryReader(self._graph, agent).one(identifier) is None:
            return False
        graph = self._graph.names.graph
        quads = list(self._graph.store.quads(Pattern(graph, memory_node(self._graph.names, identifier))))
        for quad in quads:
            self._graph.delete_triple(self._graph.index.identify(quad))
        return True

    def close(self) -> None:
        """Let go of the indices."""
        with self._lock:
            self._owned.clear()
