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
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from itertools import chain, groupby
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from pyoxigraph import NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.memory_graphs import memory_graphs
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.store import Changes, Following, GraphStore, InFolder, Pattern, Revisioned
from cortex_skills.errors import CortexError
from cortex_skills.features.finder import index_follower
from cortex_skills.features.finder.entity_follower import quads_of
from cortex_skills.features.finder.index_follower import IndexFollower, IndexView
from cortex_skills.features.finder.index_updates import IndexUpdates
from cortex_skills.features.finder.kept_documents import DocumentsState
from cortex_skills.features.finder.owned_documents import OwnedDocuments, OwnedText
from cortex_skills.features.finder.word_stems import stems_of
from cortex_skills.features.memory.memory_triples import MemoryReader, id_of, memory_of, minute_of
from cortex_skills.features.memory.model import Memory

_MINUTE = timedelta(minutes=1)
_LONG_PAUSE = timedelta(hours=6)
_FULL_UPDATE = timedelta(hours=1)

_followers: WeakKeyDictionary[GraphStore, dict[str, MemoryFollower]] = WeakKeyDictionary()
_making = threading.Lock()


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
        with _making:
            of_store = _followers.setdefault(graph.store, {})
            follower = of_store.setdefault(graph.names.graph.value, MemoryFollower())
        return _Followed(follower, graph)
    return PolledMemories(agent, clock)


def owner_of(agent: str) -> str:
    """The owner of the documents of an agent."""
    return hashlib.sha256(agent.encode()).hexdigest()[:16]


def text_of(memory: Memory) -> OwnedText:
    """What of a memory is indexed."""
    stems = " ".join(stems_of(" ".join((memory.text, *memory.tags))))
    return OwnedText(f"{owner_of(memory.agent)}:{memory.id}", stems, memory.importance, memory.time.timestamp())


class MemoryFollower(IndexFollower):
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
        view = self._follower.current(self._graph, timeout_s)
        if view.reason:
            raise CortexError("graph_busy", view.reason, hint="try again in a while")
        return view


class PolledMemories:
    """The memories of one agent on a server."""

    def __init__(self, graph: AgentGraph, clock: Callable[[], datetime]) -> None:
        self._graph = graph
        self._store = graph.store if isinstance(graph.store, Revisioned) else None
        self._reader = MemoryReader(graph)
        self._clock = clock
        self._owner = owner_of(graph.agent)
        self._updates = IndexUpdates(self._refresh, "memories")
        self._documents = OwnedDocuments(None)
        self._changed: dict[str, OwnedText | None] = {}
        self._generation = 0
        self._known: set[str] = set()
        self._revision: str | None = None
        self._updated: datetime | None = None
        self._updated_fully: datetime | None = None

    def view(self, timeout_s: float) -> IndexView:
        """Do what `MemorySource.view` does."""
        with self._updates.current(timeout_s):
            return IndexView(self._documents, self._changed, "", self._generation)

    def _refresh(self) -> None:
        now = self._clock()
        revision = None if self._store is None else self._store.revision([self._graph.names.graph])
        if revision is not None and revision == self._revision:
            return
        gone: set[str] = set()
        if self._updated is None or self._updated_fully is None or _is_due(self._updated, self._updated_fully, now):
            everything = self._reader.identifiers()
            gone, new = self._known - everything, everything - self._known
            self._updated_fully = now
        else:
            minutes = _minutes(self._updated - _MINUTE, now + _MINUTE)
            new = set(chain.from_iterable(map(self._reader.identifiers_at, minutes))) - self._known
        changed: dict[str, OwnedText | None] = {f"{self._owner}:{identifier}": None for identifier in gone}
        changed |= {text.key: text for text in map(text_of, self._reader.many(new))}
        self._known = (self._known - gone) | {key.rpartition(":")[2] for key, text in changed.items() if text}
        if changed:
            self._changed = self._changed | changed
        if len(self._changed) > index_follower.MOVED_AT:
            self._move()
        self._updated, self._revision = now, revision

    def _move(self) -> None:
        with self._documents.writing() as writer:
            for key, text in self._changed.items():
                if text is None:
                    writer.discard(key)
                else:
                    writer.put(text)
            writer.commit(DocumentsState("read"))
        self._documents.reload()
        self._changed, self._generation = {}, self._generation + 1


def _is_due(updated: datetime, updated_fully: datetime, now: datetime) -> bool:
    """Whether all memories must be read again; also when the clock was set back."""
    return not timedelta() <= now - updated <= _LONG_PAUSE or now - updated_fully > _FULL_UPDATE


def _minutes(first: datetime, last: datetime) -> list[str]:
    count = int((last - first) / _MINUTE) + 1
    return [minute_of(first + number * _MINUTE) for number in range(count)]
