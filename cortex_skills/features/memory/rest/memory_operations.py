"""`/api/v1/memory`: the memories of an agent, as the clients of Cortex remember and recall them.

Rules kept here:
- the agent is the holder of the token, as over MCP; the memories of another need the permission `memories`;
- recalling needs `read`, remembering and forgetting `write`; a recall names who else wrote a memory;
- a memory is a text: the type of an entry is a tag, `type:WORD`, or `json:WORD` for data that is stored as its JSON;
- the filters of a recall by text apply to the 200 best memories.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from pyoxigraph import Literal

from cortex_graph import GraphError
from cortex_graph.datetimes import date_time
from cortex_graph.vocabulary import MEMORY_IMPORTANCE, MEMORY_TAG, MEMORY_TEXT, MEMORY_TIME
from cortex_skills.doors.http.bodies import invalid
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.graph_rows import select
from cortex_skills.doors.rest.model_types import MemoryId
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.doors.rest.schemas import check
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.memories import Memories, memories_of
from cortex_skills.features.memory.memory_triples import MemoryReader
from cortex_skills.features.memory.model import Memory, MemoryQuery, NewMemory
from cortex_skills.features.memory.requests import MAX_TEXT, new_memory
from cortex_skills.features.memory.rest import memory_models as models
from cortex_skills.features.registry.reflections import memory_forgotten
from cortex_skills.features.registry.rest.registered_skills import registry_of
from cortex_skills.safe_io.strict_json import read_json

_LIMIT = 10
_IMPORTANCE = 0.7
_CANDIDATES = 200
_PLAIN, _JSON = "type:", "json:"

log = logging.getLogger(__name__)

OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/memory/remember",
    {201: models.RememberedEntry, 200: models.RememberedEntry},
    permission="write",
    query=models.MemoriesQuery,
    body=models.NewEntry,
)
def remember_entry(call: ApiCall) -> ApiAnswer:
    """Remember one fact.

    201 if it is new; 200, with `created: false`, if its text is remembered already.
    """
    memories, agent = asked_memories(call)
    author = None if call.caller.is_host else call.caller.name
    identifier, created = memories.remember(_new(call.body), agent=agent, author=author)
    return ApiAnswer(201 if created else 200, {"id": identifier, "created": created})


@OPERATIONS.add(
    "POST",
    "/api/v1/memory/recall",
    {200: list[models.RecalledEntry] | models.RecalledEntries},
    query=models.RecallQuery,
    body=models.EntryQuery,
    errors=("graph_busy", "query_timeout"),
    pool="slow",
)
def recall_entries(call: ApiCall) -> ApiAnswer:
    """Recall the memories that match best; without a text the latest.

    `withProblem=true` also states which memories an embedder that fails kept from being found by their meaning.
    """
    memories, agent = asked_memories(call)
    limit = call.body.get("limit", _LIMIT)
    if call.body.get("text", "").strip():
        query = MemoryQuery(call.body["text"].strip(), _CANDIDATES, float(call.body.get("min_importance", 0)))
        recalled = memories.recall(query, agent=agent)
        found = [
            _entry(memory, score.score) | score.absolute()
            for memory, score in recalled.found
            if _matches(memory, call.body)
        ]
        entries, problem = found[:limit], recalled.problem
    else:
        entries, problem = [_entry(memory, 1.0) for memory in _latest(call, memories, agent, limit)], None
    if not call.query.get("withProblem"):
        return ApiAnswer(200, entries)
    return ApiAnswer(200, {"memories": entries, "problem": None if problem is None else str(problem)})


@OPERATIONS.add("GET", "/api/v1/memory/stats", {200: models.MemoryCounts}, query=models.MemoriesQuery, pool="slow")
def get_memory_stats(call: ApiCall) -> ApiAnswer:
    """Count the memories."""
    memories, agent = asked_memories(call)
    query = f"SELECT ?text {{ ?memory {MEMORY_TEXT} ?text }}"
    texts = [row["text"]["value"] for row in select(memories.graph_of(agent), query, call.service.calls)]
    stored = sum(len(text.encode()) for text in texts)
    document = {"stm_count": 0, "stm_capacity": 0, "ltm_entity_count": len(texts), "ltm_link_count": 0}
    return ApiAnswer(200, document | {"total_memory_bytes": stored})


@OPERATIONS.add(
    "POST",
    "/api/v1/memory/consolidate",
    {200: models.Consolidation},
    permission="write",
    query=models.MemoriesQuery,
)
def consolidate_memories(call: ApiCall) -> ApiAnswer:
    """Answer that nothing has to be consolidated: every memory is kept from the beginning."""
    asked_memories(call)
    return ApiAnswer(200, {"consolidated": 0})


@OPERATIONS.add("GET", "/api/v1/memory/checkpoints", {200: list[dict[str, Any]]}, query=models.MemoriesQuery)
def list_checkpoints(call: ApiCall) -> ApiAnswer:
    """List the checkpoints, of which there are none: `cortex-skills graph backup` copies the store."""
    asked_memories(call)
    return ApiAnswer(200, [])


@OPERATIONS.add(
    "DELETE",
    "/api/v1/memory/{id}",
    {204: None},
    permission="write",
    query=models.MemoriesQuery,
    errors=("not_found",),
)
def forget_entry(call: ApiCall) -> ApiAnswer:
    """Forget a memory; skills that were made of it are degraded."""
    memories, agent = asked_memories(call)
    identifier = check(MemoryId, call.path["id"])
    if not memories.forget(identifier, agent=agent):
        raise HttpError("not_found", "this agent has no memory with this id")
    try:
        memory_forgotten(registry_of(call), identifier, actor=call.caller.name)
    except (CortexError, GraphError) as error:  # the memory is forgotten; `registry maintain` looks again
        log.warning("skills that were made of the memory %s are not degraded: %s", identifier, error)
    return ApiAnswer(204)


def asked_memories(call: ApiCall) -> tuple[Memories, str]:
    """The memories of the namespace of a call, and the agent whose memories they are.

    Raises:
        HttpError: `permission_denied`: they are another agent's.
    """
    caller = call.caller
    own = call.service.plugin.agent if caller.is_host else caller.name
    agent = call.query.get("memoriesOf", own)
    if agent != own or not caller.has_token:
        caller.require("memories")
    return call.host.part(memories_of), agent


def _new(body: dict[str, Any]) -> NewMemory:
    data, kind = body["data"], body["entry_type"]
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if not 1 <= len(text.strip()) <= MAX_TEXT:
        hint = "remember one fact in each memory"
        message = f"`data` must have 1 to {MAX_TEXT} characters as text or JSON, and has {len(text.strip())}"
        raise invalid(message, hint, field="data")
    tags = [*body.get("tags", ()), f"{_PLAIN if isinstance(data, str) else _JSON}{kind}"]
    return new_memory(text, {"tags": tags, "importance": body.get("importance", _IMPORTANCE)})


def _entry(memory: Memory, relevance: float) -> dict[str, Any]:
    time = date_time(memory.time)
    kind, data = "memory", memory.text
    for tag in memory.tags:
        if tag.startswith((_PLAIN, _JSON)):
            kind = tag.partition(":")[2]
            data = _read(memory.text) if tag.startswith(_JSON) else data
    return {
        "id": memory.id,
        "entry_type": kind,
        "data": data,
        "tags": [tag for tag in memory.tags if not tag.startswith((_PLAIN, _JSON))],
        "importance": memory.importance,
        "relevance": round(relevance, 4),
        "source": "LongTerm",
        "created_at": time,
        "last_accessed": time,
        "access_count": 0,
        "writtenBy": list(memory.authors),
    }


def _read(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:  # of another writer
        return text


def _matches(memory: Memory, wanted: dict[str, Any]) -> bool:
    kind = wanted.get("entry_type")
    has_kind = kind is None or not {f"{_PLAIN}{kind}", f"{_JSON}{kind}"}.isdisjoint(memory.tags)
    return has_kind and (not wanted.get("tags") or not set(wanted["tags"]).isdisjoint(memory.tags))


def _latest(call: ApiCall, memories: Memories, agent: str, limit: int) -> list[Memory]:
    """The latest memories with the importance, one of the tags, and the type of a request."""
    graph, wanted = memories.graph_of(agent), call.body
    kind = wanted.get("entry_type")
    conditions = ""
    for number, tags in enumerate((wanted.get("tags"), kind and [f"{_PLAIN}{kind}", f"{_JSON}{kind}"])):
        if tags:
            values = " ".join(str(Literal(tag)) for tag in tags)
            conditions += f" VALUES ?tag{number} {{ {values} }} ?memory {MEMORY_TAG} ?tag{number} ."
    query = f"""
        SELECT ?memory (MIN(?moment) AS ?time) {{
            ?memory {MEMORY_TEXT} ?text ; {MEMORY_TIME} ?moment ; {MEMORY_IMPORTANCE} ?importance .{conditions}
            FILTER(?importance >= {float(wanted.get("min_importance", 0))!r})
        }} GROUP BY ?memory ORDER BY DESC(?time) LIMIT {limit}"""
    reader = MemoryReader(graph)
    rows = select(graph, query, call.service.calls)
    found = (reader.one(row["memory"]["value"].rpartition(":")[2]) for row in rows)
    return [memory for memory in found if memory is not None]
