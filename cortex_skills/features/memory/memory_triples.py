"""Memories as triples in the graph of their owner: writing and reading.

Rules kept here:
- the name of a memory is `NS:memory:ID`, and ID is 32 hexadecimal digits: the same text remembered twice has the same
  (`cortex_graph.memory_graphs`);
- invalid values (an importance of 7, a time without a zone) are skipped; the rest is a memory if it has an owner, a
  text, an importance and a time;
- of several values the text of the ID, the greatest importance and depth, and the earliest time count: two processes
  may write the same memory;
- every read names the graph of the agent, so that memories of others are not found;
- few memories are read one by one, many with one query for each predicate.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.checks.datetimes import date_time, to_milliseconds
from cortex_graph.memory_graphs import memory_id
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import (
    DATE_TIME,
    MEMORY_AUTHOR,
    MEMORY_DEPTH,
    MEMORY_IMPORTANCE,
    MEMORY_KEY,
    MEMORY_MINUTE,
    MEMORY_OWNER,
    MEMORY_REFLECTS_ON,
    MEMORY_SKILL,
    MEMORY_TAG,
    MEMORY_TEXT,
    MEMORY_TIME,
    MEMORY_USES,
    STRING,
    XSD,
)
from cortex_graph.store import Pattern
from cortex_graph.store_access.gathered import gathered
from cortex_graph.store_access.read_ahead import Ahead, WholeSubjects
from cortex_skills.features.memory.model import Memory, NewMemory, ReflectedOn
from cortex_skills.features.memory.requests import MAX_SOURCES, MAX_TAG, MAX_TAGS, MAX_TEXT
from cortex_skills.manifest.declared_reflections import MAX_DEPTH

_ID = re.compile(r"[0-9a-f]{32}")
_LONGEST_VALUE = 64
_FEW = 1000
_INTEGER = NamedNode(f"{XSD}integer")
_MOST_USES = 10**9


def memory_node(names: Names, identifier: str) -> NamedNode:
    """The node of a memory."""
    return names.node(f"{names.prefix}memory:{identifier}")


def minute_of(moment: datetime) -> str:
    """The minute of a time in UTC, as the graph stores it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")


def triples_of(
    graph: AgentGraph,
    identifier: str,
    new: NewMemory,
    skill: str | None,
    time: datetime,
    reflected: ReflectedOn | None = None,
    *,
    noticed: datetime | None = None,
) -> list[dict[str, Any]]:
    """The triples of a memory, as arguments of `AgentGraph.create_triples`.

    `noticed` is when it was written, by which other processes find it; by default its time.
    """
    subject = f"{graph.names.prefix}memory:{identifier}"
    moment = date_time(to_milliseconds(time))
    pairs: list[tuple[NamedNode, Any]] = [
        (MEMORY_OWNER, {"node": f"{graph.names.prefix}agent:{graph.agent}"}),
        (MEMORY_TEXT, new.text),
        (MEMORY_IMPORTANCE, float(new.importance)),
        (MEMORY_TIME, {"value": moment, "datatype": DATE_TIME.value}),
        (MEMORY_MINUTE, minute_of(noticed or time)),
        *((MEMORY_TAG, tag) for tag in new.tags),
    ]
    if skill is not None:
        pairs.append((MEMORY_SKILL, skill))
    if reflected is not None:
        pairs.append((MEMORY_DEPTH, {"value": str(reflected.depth), "datatype": _INTEGER.value}))
        pairs += [(MEMORY_REFLECTS_ON, {"node": f"{graph.names.prefix}memory:{each}"}) for each in reflected.sources]
    return [{"subject": subject, "predicate": f"<{term.value}>", "object": value} for term, value in pairs]


def memory_of(identifier: str, quads: Iterable[Quad], graph: AgentGraph) -> Memory | None:
    """The memory of an agent from the quads of one subject; None when they are not a memory.

    Args:
        identifier: the ID of the subject.
        quads: the quads of the subject.
        graph: the memories of the agent.
    """
    owned = False
    texts: set[str] = set()
    authors: set[str] = set()
    importances: list[float] = []
    times: list[datetime] = []
    tags: set[str] = set()
    skills: set[str] = set()
    depths: list[int] = []
    sources: set[str] = set()
    uses: list[int] = []
    for quad in quads:
        value = quad.object
        if quad.predicate == MEMORY_OWNER:
            owned = owned or value == graph.owner
        elif quad.predicate == MEMORY_AUTHOR and isinstance(value, NamedNode):
            authors.add(graph.names.agent_of(value.value) or value.value)
        elif quad.predicate == MEMORY_REFLECTS_ON and isinstance(value, NamedNode):
            sources.add(value.value.rpartition(":")[2])
        elif not isinstance(value, Literal):
            continue
        elif quad.predicate == MEMORY_TEXT and value.datatype == STRING and len(value.value) <= MAX_TEXT:
            texts.add(value.value)
        elif quad.predicate == MEMORY_IMPORTANCE:
            importances += _fraction(value)
        elif quad.predicate == MEMORY_TIME:
            times += _time(value)
        elif quad.predicate == MEMORY_TAG and len(value.value) <= MAX_TAG:
            tags.add(value.value)
        elif quad.predicate == MEMORY_SKILL and len(value.value) <= _LONGEST_VALUE:
            skills.add(value.value)
        elif quad.predicate == MEMORY_DEPTH:
            depths += _count(value, MAX_DEPTH)
        elif quad.predicate == MEMORY_USES:
            uses += _count(value, _MOST_USES)
    text = _text(identifier, texts, graph)
    if not owned or text is None or not importances or not times:
        return None
    return Memory(
        id=identifier,
        text=text,
        importance=max(importances),
        tags=tuple(sorted(tags)[:MAX_TAGS]),
        time=min(times),
        agent=graph.agent,
        skill=min(skills, default=None),
        authors=tuple(sorted(authors - {graph.agent})),
        depth=max(depths, default=0),
        reflects_on=tuple(sorted(filter(_ID.fullmatch, sources))[:MAX_SOURCES]) if depths else (),
        uses=max(uses, default=0),
    )


def _text(identifier: str, texts: set[str], graph: AgentGraph) -> str | None:
    """The text of a memory: the only one, or else the one of the ID."""
    if len(texts) < 2:
        return next(iter(texts), None)
    key = graph.key()
    return next((text for text in texts if key is not None and memory_id(key, text) == identifier), None)


def _fraction(value: Literal) -> list[float]:
    if len(value.value) > _LONGEST_VALUE:
        return []
    try:
        number = float(value.value)
    except ValueError:
        return []
    return [number] if 0 <= number <= 1 else []


def _count(value: Literal, most: int) -> list[int]:
    is_number = len(value.value) <= _LONGEST_VALUE and value.value.isascii() and value.value.isdecimal()
    return [int(value.value)] if is_number and 1 <= int(value.value) <= most else []


def _time(value: Literal) -> list[datetime]:
    if len(value.value) > _LONGEST_VALUE:
        return []
    try:
        moment = datetime.fromisoformat(value.value)
        return [moment.astimezone(UTC)] if moment.tzinfo is not None else []
    except (ValueError, OverflowError):
        return []


def id_of(subject: str, names: Names) -> str:
    """The ID of the memory with an IRI; empty for another subject."""
    start = f"{names.start}memory:"
    identifier = subject.removeprefix(start)
    return identifier if identifier != subject and _ID.fullmatch(identifier) else ""


def ahead_of_memory(graph: AgentGraph, *identifiers: str, text: str = "") -> Iterator[Ahead]:
    """Yield what a change of memories reads: some memories, that of a text, the key of the IDs, and the index."""
    names = graph.names
    yield Pattern(names.graph, graph.owner, MEMORY_KEY)
    yield Pattern(names.index_graph, names.index_graph)
    for node in (memory_node(names, each) for each in identifiers if _ID.fullmatch(each)):
        yield Pattern(names.graph, node)
        yield Pattern(names.graph, None, MEMORY_REFLECTS_ON, node)
    if text:
        yield WholeSubjects(Pattern(names.graph, None, MEMORY_TEXT, Literal(text)))


class MemoryReader:
    """Reads the memories of one agent."""

    def __init__(self, graph: AgentGraph) -> None:
        self._graph = graph
        self._store = graph.store
        self._names = graph.names

    def one(self, identifier: str) -> Memory | None:
        """The memory with this ID."""
        if not _ID.fullmatch(identifier):
            return None
        quads = self._store.quads(Pattern(self._names.graph, memory_node(self._names, identifier)))
        return memory_of(identifier, quads, self._graph)

    def each(self, identifiers: Sequence[str]) -> list[Memory | None]:
        """The memories with these IDs, as `one` returns them."""
        nodes = [memory_node(self._names, identifier) for identifier in identifiers]
        found = gathered(self._store, [Pattern(self._names.graph, node) for node in nodes])
        return [
            memory_of(identifier, quads, self._graph) if _ID.fullmatch(identifier) else None
            for identifier, quads in zip(identifiers, found, strict=True)
        ]

    def of_text(self, text: str) -> Memory | None:
        """The memory with this text."""
        pattern = Pattern(self._names.graph, None, MEMORY_TEXT, Literal(text))
        found = (self.one(identifier) for identifier in sorted(self._ids(self._store.quads(pattern))))
        return next((memory for memory in found if memory is not None and memory.text == text), None)

    def identifiers(self) -> set[str]:
        """The IDs of all memories."""
        return set(self._ids(self._store.quads(Pattern(self._names.graph, None, MEMORY_OWNER, self._graph.owner))))

    def identifiers_at(self, minutes: Iterable[str]) -> set[str]:
        """The IDs of all memories of these minutes."""
        asked = [Pattern(self._names.graph, None, MEMORY_MINUTE, Literal(minute)) for minute in minutes]
        return set(self._ids(chain.from_iterable(gathered(self._store, asked))))

    def reflections(self) -> list[Memory]:
        """All reflections."""
        depths = self._store.quads(Pattern(self._names.graph, None, MEMORY_DEPTH))
        found = self.each(sorted(set(self._ids(depths))))
        return [memory for memory in found if memory is not None and memory.depth]

    def many(self, identifiers: set[str]) -> Iterator[Memory]:
        """The memories with these IDs; when there are many, without their skills and what they reflect on."""
        if len(identifiers) <= _FEW:
            yield from filter(None, self.each(sorted(identifiers)))
            return
        quads: dict[str, list[Quad]] = defaultdict(list)
        for predicate in (MEMORY_TEXT, MEMORY_IMPORTANCE, MEMORY_TIME, MEMORY_TAG, MEMORY_OWNER):
            for quad in self._store.quads(Pattern(self._names.graph, None, predicate)):
                identifier = self._id(quad)
                if identifier in identifiers:
                    quads[identifier].append(quad)
        while quads:
            memory = memory_of(*quads.popitem(), self._graph)
            if memory is not None:
                yield memory

    def _ids(self, quads: Iterable[Quad]) -> Iterator[str]:
        return filter(None, map(self._id, quads))

    def _id(self, quad: Quad) -> str:
        """The ID of the memory of a quad; empty for another subject."""
        return id_of(quad.subject.value, self._names) if isinstance(quad.subject, NamedNode) else ""
