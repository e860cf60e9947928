"""What callers do with the memories of agents: remember, recall, reflect, forget, count.

Rules kept here:
- a memory belongs to an agent: the caller, unless it names another one, which needs the permission `memories`;
- who writes a memory of another agent is its author; a caller that acts for all agents is none;
- a record of the audit names the memory, `AGENT/ID` and its id, and never has its text;
- a recall has a record: whose memories it returned, their ids, and the question (`recalls.py` reads it);
- recalled reflections are counted, through every interface;
- the groups of tags of a recall by text apply to the best `CANDIDATES` memories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge, Le, Len, MaxLen
from pyoxigraph import Literal, NamedNode

from cortex_graph.assertion_records.records import select
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.naming.vocabulary import MEMORY_IMPORTANCE, MEMORY_TAG, MEMORY_TEXT, MEMORY_TIME
from cortex_skills.features.memory.agent_memories import INDEX_TIMEOUT_S
from cortex_skills.features.memory.memories import memories_of
from cortex_skills.features.memory.memory_triples import MemoryReader, ahead_of_memory
from cortex_skills.features.memory.model import Memory, Recalled, Scored
from cortex_skills.features.memory.requests import (
    IMPORTANCE,
    LIMIT,
    MAX_LIMIT,
    MAX_QUERY,
    MAX_SOURCES,
    MAX_TAG,
    MAX_TAGS,
    MAX_TEXT,
    MIN_IMPORTANCE,
    memory_query,
    new_memory,
)
from cortex_skills.features.memory.whose_memories import (
    Agent,
    asked_agent,
    memory_in,
    memory_state,
    no_memory,
    state_of,
)
from cortex_skills.operations.json_types import MemoryId
from cortex_skills.operations.operation import Described, OperationCall, operation

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead

CANDIDATES = 200
_QUERY_S = 10.0
_LATEST = Scored(1.0, 1.0, 1.0)

Fraction = Annotated[float, Ge(0), Le(1)]
Tags = Annotated[
    Sequence[Annotated[str, Len(1, MAX_TAG)]],
    MaxLen(MAX_TAGS),
    Described("Words to find it by, beside those of the text."),
]


def _ahead_of_new(call: OperationCall, given: Any) -> Iterator[Ahead]:
    graph = call.part(memories_of).graph_of(asked_agent(call, given.agent))
    return ahead_of_memory(graph, *getattr(given, "reflects_on", ()), text=given.text)


@dataclass(frozen=True, slots=True)
class Remember:
    """A fact; of the agent that it is for, by default the caller."""

    text: Annotated[str, Len(1, MAX_TEXT), Described("One fact, as a sentence that is clear without its context.")]
    importance: Fraction = IMPORTANCE
    tags: Tags = ()
    agent: Agent = ""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory that has a text now; `created` is whether it is new."""

    id: str
    created: bool


@operation(
    "memory.remember",
    effect="changes",
    permission="write",
    object_="agent",
    state=memory_state,
    ahead=_ahead_of_new,
)
def remember(call: OperationCall, given: Remember) -> Remembered:
    """Remember one fact for an agent; a text that is remembered already stays as it is."""
    agent = asked_agent(call, given.agent)
    new = new_memory(given.text, {"importance": given.importance, "tags": list(given.tags)})
    memories = call.part(memories_of)
    author = None if call.caller.acts_for_all else call.caller.actor
    identifier, created = memories.remember(new, agent=agent, skill=call.caller.skill, author=author)
    _named(call, agent, identifier)
    if created:
        call.after = state_of(agent, identifier, "observation", new.importance)
    else:
        call.before = memory_state(call)
    return Remembered(identifier, created)


@dataclass(frozen=True, slots=True)
class Recall:
    """What to recall; without a text the latest. A memory that is recalled has a tag of each of the groups."""

    text: Annotated[str, MaxLen(MAX_QUERY)] = ""
    limit: Annotated[int, Ge(1), Le(MAX_LIMIT)] = LIMIT
    min_importance: Fraction = MIN_IMPORTANCE
    groups: Sequence[Sequence[str]] = ()
    agent: Agent = ""
    min_fit: Annotated[Fraction, Described("Leaves out those that fit the text less.")] = 0.0
    timeout_s: Annotated[float, Ge(0)] = INDEX_TIMEOUT_S


@operation("memory.recall", effect="reads", permission="read", recorded=True)
def recall(call: OperationCall, given: Recall) -> Recalled:
    """Recall the memories of an agent that match a text best, or the latest."""
    if given.text:
        call.data["text"] = given.text
    agent, memories = asked_agent(call, given.agent), call.part(memories_of)
    call.facts["agent"] = agent
    if given.text.strip():
        query = memory_query(given.text, {"minImportance": given.min_importance, "limit": given.limit})
        query = replace(query, limit=CANDIDATES) if given.groups else query
        recalled = memories.recall(query, agent=agent, timeout_s=given.timeout_s)
        kept = [each for each in recalled.found if each[1].fit >= given.min_fit and _has_each(each[0], given.groups)]
        recalled = replace(recalled, found=tuple(kept[: given.limit]))
    else:
        found = [(memory, _LATEST) for memory in _latest(memories.graph_of(agent), given)]
        recalled = Recalled(tuple(found), (), len(found))
    call.facts["memories"] = [memory.id for memory, _ in recalled.found]
    memories.used((memory for memory, _ in recalled.found if memory.depth), agent=agent)
    return recalled


@dataclass(frozen=True, slots=True)
class Reflect:
    """What an agent concludes, and the ids of the memories that it follows from."""

    text: Annotated[
        str, Len(1, MAX_TEXT), Described("The conclusion, as a sentence that is clear without its context.")
    ]
    reflects_on: Annotated[
        Sequence[MemoryId],
        Len(1, MAX_SOURCES),
        Described("The ids of the memories that it follows from.", uniqueItems=True),
    ]
    importance: Fraction = IMPORTANCE
    tags: Tags = ()
    agent: Agent = ""


@dataclass(frozen=True, slots=True)
class Reflected:
    """A reflection; `created` is whether it is new."""

    memory: Memory
    created: bool


@operation(
    "memory.reflect",
    effect="changes",
    permission="write",
    object_="agent",
    state=memory_state,
    ahead=_ahead_of_new,
)
def reflect(call: OperationCall, given: Reflect) -> Reflected:
    """Remember what an agent concludes from memories of its own."""
    agent = asked_agent(call, given.agent)
    new = new_memory(given.text, {"importance": given.importance, "tags": list(given.tags)})
    memories = call.part(memories_of)
    memory, created = memories.reflect(new, given.reflects_on, agent=agent, skill=call.caller.skill)
    _named(call, agent, memory.id)
    call.after = state_of(agent, memory.id, memory.kind, memory.importance)
    if not created:
        call.before = call.after
    return Reflected(memory, created)


@dataclass(frozen=True, slots=True)
class OneMemory:
    """A memory of an agent."""

    id: str
    agent: Agent = ""

    @property
    def memory(self) -> str:
        """Its name in a record."""
        return f"{self.agent}/{self.id}"


def _ahead_of_forgetting(call: OperationCall, given: OneMemory) -> Iterator[Ahead]:
    return ahead_of_memory(call.part(memories_of).graph_of(asked_agent(call, given.agent)), given.id)


@operation(
    "memory.forget",
    effect="changes",
    permission="write",
    object_="memory",
    state=memory_state,
    ahead=_ahead_of_forgetting,
)
def forget(call: OperationCall, given: OneMemory) -> None:
    """Forget a memory; skills that were made of it are degraded."""
    memory = memory_in(call, given.id, given.agent, changes=True)
    _named(call, memory.agent, memory.id)
    call.before = memory_state(call)
    if not call.part(memories_of).forget(memory.id, agent=memory.agent):
        raise no_memory()


@dataclass(frozen=True, slots=True)
class CountMemories:
    """Of which agent."""

    agent: Agent = ""


@dataclass(frozen=True, slots=True)
class MemoryCount:
    """How many memories there are, and the length of their texts, in bytes of UTF-8."""

    memories: int
    size: int


@operation("memory.count", effect="reads", permission="read")
def count(call: OperationCall, given: CountMemories) -> MemoryCount:
    """Count the memories of an agent."""
    graph = call.part(memories_of).graph_of(asked_agent(call, given.agent))
    text = f"SELECT ?text {{ ?memory {MEMORY_TEXT} ?text }}"
    rows = select(graph.store, graph.names.graph, text, timeout_s=_QUERY_S)
    texts = [row["text"].value for row in rows if isinstance(row["text"], Literal)]
    return MemoryCount(len(texts), sum(len(text.encode()) for text in texts))


def _named(call: OperationCall, agent: str, identifier: str) -> None:
    """Name a memory in the record: as an object, and by its id, which records of recalls have."""
    call.about = f"{agent}/{identifier}"
    call.facts["memory"] = identifier


def _has_each(memory: Memory, groups: Sequence[Sequence[str]]) -> bool:
    return all(not set(group).isdisjoint(memory.tags) for group in groups)


def _latest(graph: AgentGraph, wanted: Recall) -> list[Memory]:
    """The latest memories with the importance, and a tag of each of the groups."""
    conditions = ""
    for number, tags in enumerate(wanted.groups):
        values = " ".join(str(Literal(tag)) for tag in tags)
        conditions += f" VALUES ?tag{number} {{ {values} }} ?memory {MEMORY_TAG} ?tag{number} ."
    query = f"""
        SELECT ?memory (MIN(?moment) AS ?time) {{
            ?memory {MEMORY_TEXT} ?text ; {MEMORY_TIME} ?moment ; {MEMORY_IMPORTANCE} ?importance .{conditions}
            FILTER(?importance >= {float(wanted.min_importance)!r})
        }} GROUP BY ?memory ORDER BY DESC(?time) LIMIT {wanted.limit}"""
    reader = MemoryReader(graph)
    rows = select(graph.store, graph.names.graph, query, timeout_s=_QUERY_S)
    nodes = (row["memory"] for row in rows)
    found = reader.each([node.value.rpartition(":")[2] for node in nodes if isinstance(node, NamedNode)])
    return [memory for memory in found if memory is not None]
