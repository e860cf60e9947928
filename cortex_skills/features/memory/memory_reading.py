"""What people do with memories beside recalling them: list, search, show and correct them.

Rules kept here:
- without an agent, the memories are those of all agents for a caller with the permission `memories`, and its own for
  any other;
- a search asks the memories of each agent (`Memories.recall`), and orders what it finds by how well it fits the words,
  which does not depend on the memories of others;
- a correction keeps the time, the skill, the sources and the writers of a memory. Its id is that of the new text, and
  reflections on it name that one;
- a list is in the order of the times, the latest first; its cursor is the last memory that it had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, NotRequired

from annotated_types import Ge, Le, Len, MaxLen
from pydantic import Field
from pyoxigraph import Literal, NamedNode
from typing_extensions import TypedDict

from cortex_graph.assertion_records.records import select
from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import invalid
from cortex_graph.naming.vocabulary import DATE_TIME, MEMORY_TEXT, MEMORY_TIME
from cortex_skills.features.memory.memories import memories_of
from cortex_skills.features.memory.memory_triples import MemoryReader, ahead_of_memory
from cortex_skills.features.memory.model import Memory, Scored
from cortex_skills.features.memory.remembering import Fraction, Tags
from cortex_skills.features.memory.requests import MAX_LIMIT, MAX_QUERY, MAX_TEXT, VISIBLE, memory_query, new_memory
from cortex_skills.features.memory.whose_memories import Agent, agents_in, asked_agent, memory_in, memory_state
from cortex_skills.operations.json_types import MemoryId
from cortex_skills.operations.operation import Described, OperationCall, operation

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead

_QUERY_S = 10.0
_LISTED = 50
_FOUND = 10

OfAgent = Annotated[Agent, Described("Of this agent; by default of all that you may read.")]


class MemoryDocument(TypedDict):
    """A memory; `depth` and `reflectsOn` are of a reflection, and `writtenBy` are agents other than its owner."""

    id: str
    agent: str
    text: str
    importance: float
    tags: list[str]
    time: str
    skill: str | None
    writtenBy: list[str]
    kind: str
    depth: int
    reflectsOn: list[str]
    recalled: NotRequired[int]


class ListedMemories(TypedDict):
    """Memories, how many there are, and where the next page begins."""

    memories: list[MemoryDocument]
    total: int
    cursor: str | None


class FoundMemory(MemoryDocument):
    """A memory that was found; `fit` is how well, from 0 to 1: the greater of coverage and similarity."""

    fit: float


class FoundMemories(TypedDict):
    """What was found, best first."""

    memories: list[FoundMemory]
    problem: str | None


@dataclass(frozen=True, slots=True)
class ListMemories:
    """Of which agent, and how many."""

    agent: OfAgent = ""
    limit: Annotated[int, Ge(1), Le(200), Described(f"How many, {_LISTED}.")] = _LISTED
    cursor: Annotated[str, MaxLen(200), Described("That of the page before.")] = ""


@operation("memory.list", effect="reads", permission="read")
def list_memories(call: OperationCall, given: ListMemories) -> ListedMemories:
    """List memories, the latest first."""
    memories = call.part(memories_of)
    graphs = {memories.graph_of(agent).names.graph: agent for agent in agents_in(call, given.agent)}
    if not graphs:
        return {"memories": [], "total": 0, "cursor": None}
    only = next(iter(graphs)) if len(graphs) == 1 else None  # some servers answer no query that names a graph
    default = () if only is None else only
    named = tuple(graphs) if only is None else ()
    answer = select(call.host.graph.store, default, _listed(given, only), named=named, timeout_s=_QUERY_S)
    total, rows = 0, []
    for row in answer:
        if isinstance(number := row["n"], Literal):
            total = int(number.value)
            continue
        graph, node, moment = row["g"] or only, row["memory"], row["time"]
        assert isinstance(graph, NamedNode)  # noqa: S101 - what the query selects
        assert isinstance(node, NamedNode)  # noqa: S101
        assert isinstance(moment, Literal)  # noqa: S101
        rows.append((moment.value, node.value, graph))
    rows.sort(key=lambda row: row[1])
    rows.sort(key=lambda row: datetime.fromisoformat(row[0]), reverse=True)
    listed = rows[: given.limit]
    found: dict[tuple[NamedNode, str], Memory | None] = {}
    for graph, agent in graphs.items():
        ids = [node.rpartition(":")[2] for _, node, of in listed if of == graph]
        read = MemoryReader(memories.graph_of(agent)).each(ids) if ids else []
        found |= {(graph, each): memory for each, memory in zip(ids, read, strict=True)}
    documents = [
        memory_document(memory)
        for _, node, graph in listed
        if (memory := found[graph, node.rpartition(":")[2]]) is not None
    ]
    last = " ".join(listed[-1][:2]) if len(rows) > given.limit else None
    return {"memories": documents, "total": total, "cursor": last}


@dataclass(frozen=True, slots=True)
class SearchMemories:
    """Words, and of which agent."""

    text: Annotated[str, Len(1, MAX_QUERY), Field(pattern=VISIBLE), Described("What the memories are about.")]
    agent: OfAgent = ""
    limit: Annotated[int, Ge(1), Le(MAX_LIMIT), Described(f"How many, {_FOUND}.")] = _FOUND


@operation("memory.search", effect="reads", permission="read")
def search_memories(call: OperationCall, given: SearchMemories) -> FoundMemories:
    """Search memories by their words, and by meaning where there is an embedder."""
    memories, query = call.part(memories_of), memory_query(given.text, {"limit": given.limit, "minImportance": 0})
    found: list[tuple[Memory, Scored]] = []
    problem = None
    for agent in agents_in(call, given.agent):
        recalled = memories.recall(query, agent=agent)
        found += recalled.found
        problem = problem or recalled.problem
    found.sort(key=lambda each: (-each[1].fit, -each[1].score, each[0].id))
    best: list[FoundMemory] = [
        {**memory_document(memory), "fit": round(scored.fit, 4)} for memory, scored in found[: given.limit]
    ]
    return {"memories": best, "problem": None if problem is None else str(problem)}


@dataclass(frozen=True, slots=True)
class ShowMemory:
    """A memory of an agent."""

    id: MemoryId
    agent: OfAgent = ""


@operation("memory.show", effect="reads", permission="read")
def show_memory(call: OperationCall, given: ShowMemory) -> MemoryDocument:
    """Show a memory: its text, and who wrote it, when, and from what."""
    memory = memory_in(call, given.id, given.agent)
    return memory_document(memory) | ({"recalled": memory.uses} if memory.depth else {})


@dataclass(frozen=True, slots=True)
class CorrectMemory:
    """A memory, and what it should state; what is not given stays."""

    id: MemoryId
    text: Annotated[str, Len(1, MAX_TEXT), Field(pattern=VISIBLE)] | None = None
    importance: Fraction | None = None
    tags: Tags | None = None
    agent: OfAgent = ""

    @property
    def memory(self) -> str:
        """Its name in a record."""
        return f"{self.agent}/{self.id}"


def _ahead_of_correction(call: OperationCall, given: CorrectMemory) -> Iterator[Ahead]:
    graph = call.part(memories_of).graph_of(asked_agent(call, given.agent))
    return ahead_of_memory(graph, given.id, text=given.text or "")


@operation(
    "memory.correct",
    effect="changes",
    permission="write",
    object_="memory",
    state=memory_state,
    ahead=_ahead_of_correction,
)
def correct(call: OperationCall, given: CorrectMemory) -> MemoryDocument:
    """Correct the text, the importance or the tags of a memory; skills that were made of it are degraded."""
    memory = memory_in(call, given.id, given.agent, changes=True)
    call.about = f"{memory.agent}/{memory.id}"
    call.before = memory_state(call)
    importance = memory.importance if given.importance is None else given.importance
    tags = memory.tags if given.tags is None else given.tags
    new = new_memory(memory.text if given.text is None else given.text, {"importance": importance, "tags": list(tags)})
    author = None if call.caller.acts_for_all or call.caller.kind == "owner" else call.caller.actor
    memories = call.part(memories_of)
    identifier = memories.correct(memory, new, author=author)
    call.about = f"{memory.agent}/{identifier}"
    call.facts |= {"memory": identifier, "corrected": memory.id}
    corrected = MemoryReader(memories.graph_of(memory.agent)).one(identifier)
    return memory_document(corrected or memory)


def memory_document(memory: Memory) -> MemoryDocument:
    """A memory as JSON."""
    return {
        "id": memory.id,
        "agent": memory.agent,
        "text": memory.text,
        "importance": memory.importance,
        "tags": list(memory.tags),
        "time": date_time(memory.time),
        "skill": memory.skill,
        "writtenBy": list(memory.authors),
        "kind": memory.kind,
        "depth": memory.depth,
        "reflectsOn": list(memory.reflects_on),
    }


def _listed(given: ListMemories, only: NamedNode | None) -> str:
    """Return the query for a page, in no order, and for the number of all in a separate row."""
    after = ""
    if given.cursor:
        moment, _, node = given.cursor.partition(" ")
        try:
            time, last = Literal(moment, datatype=DATE_TIME), NamedNode(node)
        except ValueError:
            raise invalid("cursor", "is not one of a page of memories") from None
        after = f"FILTER(?moment < {time} || (?moment = {time} && STR(?memory) > {Literal(last.value)}))"
    start, end = ("", "") if only is not None else ("GRAPH ?g {", "}")
    return f"""
        SELECT ?g ?memory ?time ?n {{
            {{ SELECT ?g ?memory (MIN(?moment) AS ?time) {{
                {start} ?memory {MEMORY_TEXT} ?text ; {MEMORY_TIME} ?moment . {after} {end}
            }} GROUP BY ?g ?memory ORDER BY DESC(?time) STR(?memory) LIMIT {given.limit + 1} }} UNION
            {{ SELECT (COUNT(*) AS ?n) {{ {start} ?any {MEMORY_TEXT} ?text {end} }} }}
        }}"""
