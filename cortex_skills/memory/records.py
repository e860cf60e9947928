"""A memory and the triples that it is.

Rules kept here:
- the name of a memory is `NS:memory:ID`, and ID is made of its owner and its text. So a text that somebody writes
  under a name that it does not belong to is no memory, and the same text remembered twice is one memory;
- reading never fails: what is odd (a text that does not fit its name, an importance of 7, a time without a zone) is
  passed over, and what is left is a memory if it has an owner, a text, an importance and a time;
- of several values the greatest importance and the earliest time count: two processes may remember at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.moments import date_time, to_milliseconds
from cortex_graph.names import Names
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
from cortex_skills.memory.arguments import MAX_TAG, MAX_TAGS, MAX_TEXT
from cortex_skills.memory.model import Memory, NewMemory

_ID_DIGITS = 32
_LONGEST_SKILL = 64


def memory_id(agent: str, text: str) -> str:
    """The ID of an agent's memory of a text."""
    return hashlib.sha256(json.dumps([agent, text]).encode()).hexdigest()[:_ID_DIGITS]


def agent_node(names: Names, agent: str) -> NamedNode:
    """The node of an agent."""
    return names.node(f"{names.prefix}agent:{agent}")


def memory_node(names: Names, identifier: str) -> NamedNode:
    """The node of a memory."""
    return names.node(f"{names.prefix}memory:{identifier}")


def minute_of(moment: datetime) -> str:
    """The minute of a time in UTC, as it is in the graph."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")


def triples_of(names: Names, new: NewMemory, agent: str, skill: str | None, time: datetime) -> list[dict[str, Any]]:
    """The triples that a new memory is, as `NamespacedGraph.create_triples` takes them."""
    subject = f"{names.prefix}memory:{memory_id(agent, new.text)}"
    moment = date_time(to_milliseconds(time))
    said: list[tuple[NamedNode, Any]] = [
        (MEMORY_OWNER, {"node": f"{names.prefix}agent:{agent}"}),
        (MEMORY_TEXT, new.text),
        (MEMORY_IMPORTANCE, float(new.importance)),
        (MEMORY_TIME, {"value": moment, "datatype": DATE_TIME.value}),
        (MEMORY_MINUTE, minute_of(time)),
        *((MEMORY_TAG, tag) for tag in new.tags),
    ]
    if skill is not None:
        said.append((MEMORY_SKILL, skill))
    return [{"subject": subject, "predicate": f"<{term.value}>", "object": value} for term, value in said]


def memory_of(quads: Iterable[Quad], names: Names, agent: str, owner: NamedNode) -> Memory | None:
    """The memory of an agent that these quads of one subject are; None when they are none.

    Args:
        quads: whatever the graph says of the subject.
        names: of the namespace.
        agent: the agent's id.
        owner: and its node.

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
        elif quad.predicate == MEMORY_SKILL and len(value.value) <= _LONGEST_SKILL:
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
    """The ID and the text of a memory, when the text is the one that its subject is named by."""
    if text.datatype != STRING or len(text.value) > MAX_TEXT:
        return None
    identifier = memory_id(agent, text.value)
    return (identifier, text.value) if subject == memory_node(names, identifier) else None


def _fraction(value: Literal) -> list[float]:
    if len(value.value) > _LONGEST_SKILL:
        return []
    try:
        number = float(value.value)
    except ValueError:
        return []
    return [number] if 0 <= number <= 1 else []


def _time(value: Literal) -> list[datetime]:
    if len(value.value) > _LONGEST_SKILL:
        return []
    try:
        moment = datetime.fromisoformat(value.value)
        return [moment.astimezone(UTC)] if moment.tzinfo is not None else []
    except (ValueError, OverflowError):
        return []
