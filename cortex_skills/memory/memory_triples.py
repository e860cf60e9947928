"""Memories as triples in the graph of the namespace: writing and reading.

Rules kept here:
- the name of a memory is `NS:memory:ID`, and ID is a digest of its owner and its text: a text under another name is
  not a memory, and the same text remembered twice is one memory;
- invalid values (a text that does not fit its name, an importance of 7, a time without a zone) are skipped; the rest is
  a memory if it has an owner, a text, an importance and a time;
- of several values the greatest importance and the earliest time count: two processes may write the same memory;
- every read names the graph of the namespace and the agent: memories of others are not returned;
- few memories are read one by one, many with one query for each predicate.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.datetimes import date_time, to_milliseconds
from cortex_graph.names import Names
from cortex_graph.store import Pattern
from cortex_graph.vocabulary import (
    DATE_TIME,
    MEMORY_IMPORTANCE,
    MEMORY_MINUTE,
    MEMORY_OWNER,
    MEMORY_SKILL,
    MEMORY_TAG,
    MEMORY_TEXT,
    MEMORY_TIME,
    STRING,
)
from cortex_skills.memory.model import Memory, NewMemory
from cortex_skills.memory.requests import MAX_TAG, MAX_TAGS, MAX_TEXT

_ID_DIGITS = 32
_LONGEST_VALUE = 64
_FEW = 1000


def memory_id(agent: str, text: str) -> str:
    """The ID of the memory of a text."""
    return hashlib.sha256(json.dumps([agent, text]).encode()).hexdigest()[:_ID_DIGITS]


def agent_node(names: Names, agent: str) -> NamedNode:
    """The node of an agent."""
    return names.node(f"{names.prefix}agent:{agent}")


def memory_node(names: Names, identifier: str) -> NamedNode:
    """The node of a memory."""
    return names.node(f"{names.prefix}memory:{identifier}")


def minute_of(moment: datetime) -> str:
    """The minute of a time in UTC, as the graph stores it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")


def triples_of(names: Names, new: NewMemory, agent: str, skill: str | None, time: datetime) -> list[dict[str, Any]]:
    """The triples of a new memory, as arguments of `NamespacedGraph.create_triples`."""
    subject = f"{names.prefix}memory:{memory_id(agent, new.text)}"
    moment = date_time(to_milliseconds(time))
    pairs: list[tuple[NamedNode, Any]] = [
        (MEMORY_OWNER, {"node": f"{names.prefix}agent:{agent}"}),
        (MEMORY_TEXT, new.text),
        (MEMORY_IMPORTANCE, float(new.importance)),
        (MEMORY_TIME, {"value": moment, "datatype": DATE_TIME.value}),
        (MEMORY_MINUTE, minute_of(time)),
        *((MEMORY_TAG, tag) for tag in new.tags),
    ]
    if skill is not None:
        pairs.append((MEMORY_SKILL, skill))
    return [{"subject": subject, "predicate": f"<{term.value}>", "object": value} for term, value in pairs]


def memory_of(quads: Iterable[Quad], names: Names, agent: str, owner: NamedNode) -> Memory | None:
    """The memory of an agent from the quads of one subject; None when they are not a memory.

    Args:
        quads: the quads of the subject.
        names: the names of the namespace.
        agent: the id of the agent.
        owner: the node of the agent.

    """
    owned = False
    found: tuple[str, str] | None = None
    importances: list[float] = []
    times: list[datetime] = []
    tags: set[str] = set()
    skills: set[str] = set()
    for quad in quads:
        value = quad.object
        if quad.predicate == MEMORY_OWNER:
            owned = owned or value == owner
        elif not isinstance(value, Literal):
            continue
        elif quad.predicate == MEMORY_TEXT:
            found = _fitting(quad.subject, value, names, agent) or found
        elif quad.predicate == MEMORY_IMPORTANCE:
            importances += _fraction(value)
        elif quad.predicate == MEMORY_TIME:
            times += _time(value)
        elif quad.predicate == MEMORY_TAG and len(value.value) <= MAX_TAG:
            tags.add(value.value)
        elif quad.predicate == MEMORY_SKILL and len(value.value) <= _LONGEST_VALUE:
            skills.add(value.value)
    if not owned or found is None or not importances or not times:
        return None
    return Memory(
        id=found[0],
        text=found[1],
        importance=max(importances),
        tags=tuple(sorted(tags)[:MAX_TAGS]),
        time=min(times),
        agent=agent,
        skill=min(skills, default=None),
    )


def _fitting(subject: Any, text: Literal, names: Names, agent: str) -> tuple[str, str] | None:
    """The ID and the text of a memory, if its subject is named by the text."""
    if text.datatype != STRING or len(text.value) > MAX_TEXT:
        return None
    identifier = memory_id(agent, text.value)
    return (identifier, text.value) if subject == memory_node(names, identifier) else None


def _fraction(value: Literal) -> list[float]:
    if len(value.value) > _LONGEST_VALUE:
        return []
    try:
        number = float(value.value)
    except ValueError:
        return []
    return [number] if 0 <= number <= 1 else []


def _time(value: Literal) -> list[datetime]:
    if len(value.value) > _LONGEST_VALUE:
        return []
    try:
        moment = datetime.fromisoformat(value.value)
        return [moment.astimezone(UTC)] if moment.tzinfo is not None else []
    except (ValueError, OverflowError):
        return []


class MemoryReader:
    """Reads the memories of one agent."""

    def __init__(self, graph: NamespacedGraph, agent: str) -> None:
        self._store = graph.store
        self._names = graph.names
        self._agent = agent
        self._owner = agent_node(graph.names, agent)

    def one(self, identifier: str) -> Memory | None:
        """The memory with this ID, if it belongs to the agent."""
        quads = self._store.quads(Pattern(self._names.graph, memory_node(self._names, identifier)))
        return memory_of(quads, self._names, self._agent, self._owner)

    def identifiers(self) -> set[str]:
        """The IDs of all subjects with the agent as owner."""
        owned = Pattern(self._names.graph, None, MEMORY_OWNER, self._owner)
        return set(self._ids(self._store.quads(owned)))

    def identifiers_at(self, minute: str) -> set[str]:
        """The IDs of all subjects of this minute, of any agent."""
        pattern = Pattern(self._names.graph, None, MEMORY_MINUTE, Literal(minute))
        return set(self._ids(self._store.quads(pattern)))

    def many(self, identifiers: set[str]) -> Iterator[Memory]:
        """The memories with these IDs; when there are many, without the skills that created them."""
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
        """The ID of the memory of a quad; empty for another subject."""
        start = f"{self._names.graph.value}:memory:"
        subject = quad.subject
        if not isinstance(subject, NamedNode) or not subject.value.startswith(start):
            return ""
        return subject.value[len(start) :]
