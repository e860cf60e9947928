"""The index of the memories of all agents of a namespace, which follows their graphs.

Rules kept here:
- a store that states what changed has one index on disk for all agents and processes (`index_follower.py`), in a folder
  of its own: of one index, the numbers of texts of both kinds would decide scores of both;
- a server does not: the memories of an agent are in an index in memory, and those that other processes write are found
  by their minute. After a change of the graph, the minutes since the last update are read again (and one before, for
  clock differences). All memories are read at first, after a long pause, and once an hour, which also finds imported
  and deleted ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Protocol

from pyoxigraph import NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.memory_graphs import memory_graphs
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.store import Changes, Following, InFolder, Pattern, Revisioned
from cortex_skills.features.finder.entity_follower import quads_of
from cortex_skills.features.finder.index_follower import IndexFollower, IndexView, follower_of
from cortex_skills.features.finder.owned_documents import OwnedDocuments, OwnedText
from cortex_skills.features.finder.polled_index import PolledIndex
from cortex_skills.features.finder.word_stems import stems_of
from cortex_skills.features.memory.memory_triples import MemoryReader, id_of, memory_of, minute_of
from cortex_skills.features.memory.model import Memory

_MINUTE = timedelta(minutes=1)
_LONG_PAUSE = timedelta(hours=6)
_FULL_UPDATE = timedelta(hours=1)


class MemorySource(Protocol):
    """The index of the memories of an agent, and maybe of others."""

    def view(self, timeout_s: float) -> IndexView:
        """The index as the graph is now.

        Raises:
            CortexError: `graph_busy`: it is being made.
        """


def source_of(graph: NamespacedGraph, agent: AgentGraph, clock: Callable[[], datetime]) -> MemorySource:
    """The index of the memories of an agent."""
    if isinstance(graph.store, Following):
        return _Followed(follower_of(MemoryFollower, graph), graph)
    return PolledMemories(agent, clock)


def owner_of(agent: str) -> str:
    """The owner of the documents of an agent."""
    return hashlib.sha256(agent.encode()).hexdigest()[:16]


def text_of(memory: Memory) -> OwnedText:
    """What of a memory is indexed."""
    stems = " ".join(stems_of(" ".join((memory.text, *memory.tags))))
    return OwnedText(f"{owner_of(memory.agent)}:{memory.id}", stems, memory.importance, memory.time.timestamp())


class MemoryFollower(IndexFollower[NamespacedGraph]):
    """The memories of all agents of a namespace."""

    documents = OwnedDocuments
    contents = "memories"
    kind = "/memories"

    def changed_in(self, graph: NamespacedGraph, changes: Changes) -> dict[str, Any] | None:
        """The memories that were written to."""
        if changes.subjects is None:
            return None
        found: dict[str, OwnedText | None] = {}
        for iri, subjects in changes.subjects.items():
            agent = graph.names.remembering(NamedNode(iri))
            if agent is None:
                continue
            if subjects is None:
                return None
            reader = MemoryReader(AgentGraph(graph, agent))
            for identifier in filter(None, (id_of(subject, graph.names) for subject in subjects)):
                memory = reader.one(identifier)
                found[f"{owner_of(agent)}:{identifier}"] = None if memory is None else text_of(memory)
        return found

    def every(self, graph: NamespacedGraph) -> Generator[OwnedText, None, None]:
        """All memories of all agents."""
        for node in memory_graphs(graph.store, graph.names):
            agent = graph.names.remembering(node)
            if agent is not None:
                yield from map(text_of, _memories(AgentGraph(graph, agent)))


def _memories(graph: AgentGraph) -> Iterator[Memory]:
    """All memories of an agent."""
    if not isinstance(graph.store, InFolder):
        reader = MemoryReader(graph)
        yield from reader.many(reader.identifiers())
        return
    with closing(quads_of(graph.store, Pattern(graph.names.graph))) as quads:  # in the order of the subjects
        for subject, group in groupby(quads, lambda quad: quad.subject):
            identifier = id_of(subject.value, graph.names)
            memory = memory_of(identifier, group, graph) if identifier else None
            if memory is not None:
                yield memory


class _Followed:
    def __init__(self, follower: MemoryFollower, graph: NamespacedGraph) -> None:
        self._follower = follower
        self._graph = graph

    def view(self, timeout_s: float) -> IndexView:
        return self._follower.complete(self._graph, timeout_s)


class PolledMemories(PolledIndex):
    """The memories of one agent on a server."""

    def __init__(self, graph: AgentGraph, clock: Callable[[], datetime]) -> None:
        super().__init__("memories")
        self._graph = graph
        self._store = graph.store if isinstance(graph.store, Revisioned) else None
        self._reader = MemoryReader(graph)
        self._clock = clock
        self._owner = owner_of(graph.agent)
        self._known: set[str] = set()
        self._revision: str | None = None
        self._updated: datetime | None = None
        self._updated_fully: datetime | None = None

    def changes(self) -> dict[str, OwnedText | None]:
        """The memories that are new or gone."""
        now = self._clock()
        revision = None if self._store is None else self._store.revision([self._graph.names.graph])
        if revision is not None and revision == self._revision:
            return {}
        gone: set[str] = set()
        if self._updated is None or self._updated_fully is None or _is_due(self._updated, self._updated_fully, now):
            everything = self._reader.identifiers()
            gone, new = self._known - everything, everything - self._known
            self._updated_fully = now
        else:
            minutes = _minutes(self._updated - _MINUTE, now + _MINUTE)
            new = self._reader.identifiers_at(minutes) - self._known
        changed: dict[str, OwnedText | None] = {f"{self._owner}:{identifier}": None for identifier in gone}
        changed |= {text.key: text for text in map(text_of, self._reader.many(new))}
        self._known = (self._known - gone) | {key.rpartition(":")[2] for key, text in changed.items() if text}
        self._updated, self._revision = now, revision
        return changed


def _is_due(updated: datetime, updated_fully: datetime, now: datetime) -> bool:
    """Whether all memories must be read again; also when the clock was set back."""
    return not timedelta() <= now - updated <= _LONG_PAUSE or now - updated_fully > _FULL_UPDATE


def _minutes(first: datetime, last: datetime) -> list[str]:
    count = int((last - first) / _MINUTE) + 1
    return [minute_of(first + number * _MINUTE) for number in range(count)]
