"""Memories as the graph has them, read from the namespace's own graph.

Rules kept here:
- every read names that graph, so nothing of another namespace comes; what is not the agent's is no memory here;
- few are read one by one, many in a few streams over the graph's memories.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.store import Pattern
from cortex_graph.vocabulary import (
    MEMORY_IMPORTANCE,
    MEMORY_MINUTE,
    MEMORY_OWNER,
    MEMORY_TAG,
    MEMORY_TEXT,
    MEMORY_TIME,
)
from cortex_skills.memory.model import Memory
from cortex_skills.memory.records import agent_node, memory_node, memory_of

_FEW = 1000


class MemoryReader:
    """Reads the memories of one agent."""

    def __init__(self, graph: NamespacedGraph, agent: str) -> None:
        self._store = graph.store
        self._names = graph.names
        self._agent = agent
        self._owner = agent_node(graph.names, agent)

    def one(self, identifier: str) -> Memory | None:
        """The memory that has this ID, if it is one and the agent's."""
        quads = self._store.quads(Pattern(self._names.graph, memory_node(self._names, identifier)))
        return memory_of(quads, self._names, self._agent, self._owner)

    def identifiers(self) -> set[str]:
        """The IDs of whatever names the agent as its owner."""
        owned = Pattern(self._names.graph, None, MEMORY_OWNER, self._owner)
        return set(self._ids(self._store.quads(owned)))

    def identifiers_at(self, minute: str) -> set[str]:
        """The IDs of whatever says that it is of this minute, of any agent."""
        pattern = Pattern(self._names.graph, None, MEMORY_MINUTE, Literal(minute))
        return set(self._ids(self._store.quads(pattern)))

    def several(self, identifiers: set[str]) -> Iterator[Memory]:
        """The memories that have these IDs, without the skills that remembered them when they are many."""
        if len(identifiers) <= _FEW:
            yield from filter(None, map(self.one, sorted(identifiers)))
            return
        quads: dict[str, list[Quad]] = defaultdict(list)
        for predicate in (MEMORY_TEXT, MEMORY_IMPORTANCE, MEMORY_TIME, MEMORY_TAG, MEMORY_OWNER):
            value = self._owner if predicate == MEMORY_OWNER else None
            for quad in self._store.quads(Pattern(self._names.graph, None, predicate, value)):
                identifier = self._id(quad)
                if identifier in identifiers:
                    quads[identifier].append(quad)
        while quads:
            memory = memory_of(quads.popitem()[1], self._names, self._agent, self._owner)
            if memory is not None:
                yield memory

    def _ids(self, quads: Iterable[Quad]) -> Iterator[str]:
        return filter(None, map(self._id, quads))

    def _id(self, quad: Quad) -> str:
        """The ID of the memory that a quad is about; empty when it is not about one."""
        start = f"{self._names.graph.value}:memory:"
        subject = quad.subject
        if not isinstance(subject, NamedNode) or not subject.value.startswith(start):
            return ""
        return subject.value[len(start) :]
