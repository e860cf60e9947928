"""The memories of the agents of one namespace.

Rules kept here:
- a memory belongs to an agent, and only that agent recalls it: agents of one namespace share triples, not memories;
  skills that act for one agent share its memories. Each agent has a graph for them (`cortex_graph.memory_graphs`);
- a store on a server may have memories of an earlier version, in the graph of the namespace: they are moved at the
  first use. Those of a folder are moved when it is opened;
- remembering a text again changes nothing;
- what one process remembers has ascending times, a millisecond apart where the clock does not go on: their order counts
  (`ranking`);
- a reflection is one deeper than its deepest source, and at most three deep; its sources are memories of the same
  agent;
- a recalled reflection is counted, where the store can be written to;
- a provider of the host, where there is one, gets what is remembered after the graph, and what it recalls is ranked
  with the memories of the graph;
- the times of the memories of the agents that recalled last are kept in memory, together at most `MAX_KEPT` if they
  are of several agents.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from pyoxigraph import Literal, Quad

from cortex_graph import GraphError, NamespacedGraph
from cortex_graph.as_of import today_of
from cortex_graph.memory_graphs import memory_id
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.naming.vocabulary import MEMORY_USES
from cortex_graph.store import Pattern
from cortex_graph.store_access.read_ahead import reading_ahead
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedder_choice import embedder_of
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.memory.agent_memories import INDEX_TIMEOUT_S, AgentMemories
from cortex_skills.features.memory.memory_follower import source_of
from cortex_skills.features.memory.memory_triples import (
    MemoryReader,
    ahead_of_memory,
    memory_node,
    memory_of,
    triples_of,
)
from cortex_skills.features.memory.model import Memory, MemoryQuery, NewMemory, Recalled, ReflectedOn, Scored
from cortex_skills.features.memory.requests import MAX_SOURCES
from cortex_skills.host import Host
from cortex_skills.manifest.declared_reflections import MAX_DEPTH
from cortex_skills.safe_io.schemas import shown

if TYPE_CHECKING:
    from cortex_skills.gate.gate import Gate

log = logging.getLogger(__name__)

MAX_KEPT = 500_000  # 16 bytes each
_NEXT = timedelta(milliseconds=1)
_CLOCK_STEP = timedelta(minutes=1)  # a clock that goes back further was set


def _now() -> datetime:
    return datetime.now(UTC)


class MemoryProvider(Protocol):
    """Further memories of agents, outside the graph."""

    def remember(self, new: NewMemory, *, agent: str) -> None:
        """Take a memory that was stored in the graph."""

    def recall(self, query: MemoryQuery, *, agent: str) -> list[tuple[Memory, Scored]]:
        """What it has for a query."""


class Memories:
    """The memories in a namespace. Safe to use from several threads.

    Args:
        graph: the graph of the namespace.
        clock: returns the time, in UTC.
        embedder: finds memories by their meaning too; None for words alone.

    Attributes:
        provider: of further memories; None without one.
    """

    def __init__(
        self, graph: NamespacedGraph, clock: Callable[[], datetime] = _now, embedder: Embedder | None = None
    ) -> None:
        self._graph = graph
        self._clock = clock
        self._embedder = embedder
        self._owned: OrderedDict[str, AgentMemories] = OrderedDict()
        self._lock = threading.Lock()
        self._latest = datetime.min.replace(tzinfo=UTC)
        self.provider: MemoryProvider | None = None

    def graph_of(self, agent: str) -> AgentGraph:
        """The memories of an agent as a graph."""
        self._graph.settle()
        return AgentGraph(self._graph, agent)

    def remember(
        self, new: NewMemory, *, agent: str, skill: str | None = None, author: str | None = None
    ) -> tuple[str, bool]:
        """Store a memory of an agent; `author` is the agent that writes it, if it is another.

        Returns:
            The id of the memory, and whether it is new.

        Raises:
            CortexError: it is stored, and the provider did not take it.
            GraphError: the write failed.
        """
        graph = self.graph_of(agent)
        with reading_ahead(graph.store, lambda: ahead_of_memory(graph, text=new.text)):
            known = MemoryReader(graph).of_text(new.text)
            identifier = known.id if known is not None else self._written(graph, new, skill, author, None)[0]
        if self.provider is not None:
            self.provider.remember(new, agent=agent)
        return identifier, known is None

    def _written(
        self, graph: AgentGraph, new: NewMemory, skill: str | None, author: str | None, reflected: ReflectedOn | None
    ) -> tuple[str, list[Quad]]:
        identifier = memory_id(graph.make_key(), new.text)
        return identifier, graph.write_memory(
            triples_of(graph, identifier, new, skill, self._time(), reflected), author
        )

    def _time(self) -> datetime:
        """The time of the next memory: now, and later than that of the one before."""
        with self._lock:
            now = self._clock()
            if timedelta() <= self._latest + _NEXT - now <= _CLOCK_STEP:
                now = self._latest + _NEXT
            self._latest = now
            return now

    def reflect(
        self, new: NewMemory, sources: Collection[str], *, agent: str, skill: str | None = None
    ) -> tuple[Memory, bool]:
        """Store what an agent concludes from memories of its own.

        Args:
            new: the conclusion.
            sources: the ids of the memories that it draws from, 1 to 20.
            agent: the owner.
            skill: the slug of the skill that stores it.

        Returns:
            The reflection, and whether it is new.

        Raises:
            CortexError: `invalid_arguments`: a source is not a memory of the agent, or the text is remembered as
                something else; `reflection_depth_exceeded`.
            GraphError: the write failed.
        """
        graph = self.graph_of(agent)
        with reading_ahead(graph.store, lambda: ahead_of_memory(graph, *sources, text=new.text)):
            return self._reflected(graph, new, sources, skill)

    def _reflected(
        self, graph: AgentGraph, new: NewMemory, sources: Collection[str], skill: str | None
    ) -> tuple[Memory, bool]:
        reader = MemoryReader(graph)
        found = {identifier: reader.one(identifier) for identifier in sources}
        if not 1 <= len(found) <= MAX_SOURCES:
            raise CortexError("invalid_arguments", f"a reflection has 1 to {MAX_SOURCES} sources")
        if missing := [identifier for identifier, memory in found.items() if memory is None]:
            message = f"this agent has no memory {', '.join(map(shown, missing[:5]))}: nothing was remembered"
            hint, details = "skill_memory_context answers the ids of memories", {"field": "reflects_on"}
            raise CortexError("invalid_arguments", message, hint=hint, details=details)
        depth = 1 + max(memory.depth for memory in found.values() if memory is not None)
        if depth > MAX_DEPTH:
            message = f"a reflection is at most {MAX_DEPTH} deep, and this one would be {depth}: nothing was remembered"
            raise CortexError(
                "reflection_depth_exceeded",
                message,
                hint="reflect on the memories that its sources draw from",
                details={"depth": depth, "max": MAX_DEPTH},
            )
        reflected = ReflectedOn(depth, tuple(sorted(found)))
        known = reader.of_text(new.text)
        if known is not None and (known.depth, known.reflects_on) != (reflected.depth, reflected.sources):
            of = f"a reflection on {', '.join(known.reflects_on)}" if known.depth else "an observation"
            raise CortexError(
                "invalid_arguments",
                f"this text is remembered already, as {of}",
                hint="write what you conclude from it",
                details={"field": "text"},
            )
        if known is not None:
            return known, False
        identifier, quads = self._written(graph, new, skill, None, reflected)
        memory = memory_of(identifier, quads, graph)
        assert memory is not None  # noqa: S101 - it was written as one
        return memory, True

    def reflections(self, agent: str, namespace: str, observations: bool = False) -> list[Memory]:
        """All reflections of an agent in a namespace of the store; the caller has checked that it may be read.

        Args:
            agent: the owner.
            namespace: of the store.
            observations: whether its observations are returned too.
        """
        own = self._graph
        if namespace == own.namespace:
            reader = MemoryReader(self.graph_of(agent))
        else:
            reader = MemoryReader(AgentGraph(NamespacedGraph(own.store, namespace, base=own.names.base), agent))
        found = reader.reflections()
        if observations:
            found += reader.many(reader.identifiers() - {memory.id for memory in found})
        return found

    def used(self, reflections: Iterable[Memory], *, agent: str) -> None:
        """Count that reflections among memories of an agent were recalled, if the store can be written to."""
        graph = self.graph_of(agent)
        node = graph.names.graph
        insert: list[Quad] = []
        remove: list[Quad] = []
        for memory in reflections:
            if not memory.depth:
                continue
            subject = memory_node(graph.names, memory.id)
            remove += graph.store.quads(Pattern(node, subject, MEMORY_USES))
            insert.append(Quad(subject, MEMORY_USES, Literal(memory.uses + 1), node))
        try:
            if insert:
                graph.store.apply(insert, remove)
        except GraphError as error:
            log.warning("recalled reflections are not counted: %s", error)

    def recall(self, query: MemoryQuery, *, agent: str, timeout_s: float = INDEX_TIMEOUT_S) -> Recalled:
        """The memories of an agent that match a query, best first.

        Args:
            query: the query.
            agent: the owner of the memories.
            timeout_s: how long to wait for the index, in seconds; the first recall builds it.

        Raises:
            CortexError: `graph_busy`, while the memories are being indexed; the provider did not answer.
            GraphError: the read failed.
        """
        self._graph.settle()
        with self._lock:
            owned = self._owned.get(agent)
            if owned is None:
                graph = AgentGraph(self._graph, agent)
                source = source_of(self._graph, graph, self._clock)
                owned = self._owned[agent] = AgentMemories(graph, source, self._clock, self._embedder)
            self._owned.move_to_end(agent)
            while len(self._owned) > 1 and sum(map(len, self._owned.values())) > MAX_KEPT:
                self._owned.popitem(last=False)
        recalled = owned.recall(query, timeout_s)
        if self.provider is None:
            return recalled
        texts = {memory.text for memory, _ in recalled.found}
        further = [each for each in self.provider.recall(query, agent=agent) if each[0].text not in texts]
        if not further:
            return recalled
        ranked = sorted([*recalled.found, *further], key=lambda each: each[1].score, reverse=True)
        return replace(recalled, found=tuple(ranked[: query.limit]), considered=recalled.considered + len(further))

    def correct(self, memory: Memory, new: NewMemory, *, author: str | None = None) -> str:
        """Replace what a memory states; returns its id, which is that of its text.

        Args:
            memory: as it is.
            new: what it should state.
            author: the agent that corrects it, if it is another than the owner.

        Raises:
            CortexError: `invalid_arguments`: the agent remembers the text already.
            GraphError: the write failed.
        """
        graph = self.graph_of(memory.agent)
        reader = MemoryReader(graph)
        known = memory if new.text == memory.text else reader.of_text(new.text)
        if known is not None and known.id != memory.id:
            hint, details = "forget one of the two", {"field": "text"}
            raise CortexError(
                "invalid_arguments", f"this is remembered already, as {known.id}", hint=hint, details=details
            )
        identifier = memory_id(graph.make_key(), new.text)
        reflected = ReflectedOn(memory.depth, memory.reflects_on) if memory.depth else None
        written = triples_of(graph, identifier, new, memory.skill, memory.time, reflected, noticed=self._clock())
        old, node = memory_node(graph.names, memory.id), memory_node(graph.names, identifier)
        graph.replace_memory(old, node, written, author)
        return identifier

    def forget(self, identifier: str, *, agent: str) -> bool:
        """Delete a memory of an agent; True if it existed."""
        graph = self.graph_of(agent)
        if MemoryReader(graph).one(identifier) is None:
            return False
        quads = list(graph.store.quads(Pattern(graph.names.graph, memory_node(graph.names, identifier))))
        graph.store.apply(remove=graph.with_entries(quads))
        return True

    def close(self) -> None:
        """Release the indexes."""
        with self._lock:
            self._owned.clear()


def memories_of(host: Host) -> Memories:
    """The memories of the agents of a namespace, of today: `host.part(memories_of)`."""
    return Memories(today_of(host.graph), embedder=host.shared(embedder_of))


def open_memories(gate: Gate) -> None:
    """Open the memories of a plugin, so that an error in the settings of the embedder is raised then."""
    gate.host.closing.append(gate.host.part(memories_of).close)
