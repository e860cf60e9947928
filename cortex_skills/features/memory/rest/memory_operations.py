"""`/api/v1/memory`: the memories of an agent, as the clients of Cortex remember and recall them.

Rules kept here:
- the agent is the holder of the token, as over MCP; the memories of another need the permission `memories`;
- recalling needs `read`, remembering and forgetting `write`; a recall names who else wrote a memory;
- to list, search, show and correct them are the operations as they are: of all agents for a token with `memories`;
- a memory is a text: the type of an entry is a tag, `type:WORD`, or `json:WORD` for data that is stored as its JSON;
- the filters of a recall by text apply to the 200 best memories.
"""

from __future__ import annotations

import json
from typing import Any

from cortex_graph.checks.datetimes import date_time
from cortex_skills.doors.http.bodies import invalid
from cortex_skills.doors.rest.model_types import MemoryId
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.doors.rest.schemas import check
from cortex_skills.features.memory import memory_reading, recalls, remembering
from cortex_skills.features.memory.memories import Memories, memories_of
from cortex_skills.features.memory.model import Memory
from cortex_skills.features.memory.requests import MAX_TEXT
from cortex_skills.features.memory.rest import memory_models as models
from cortex_skills.safe_io.strict_json import read_json

_LIMIT = 10
_IMPORTANCE = 0.7
_PLAIN, _JSON = "type:", "json:"

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
    done = call.operate(remembering.remember, **_new(call.body), agent=call.query.get("memoriesOf", ""))
    return ApiAnswer(201 if done.created else 200, {"id": done.id, "created": done.created})


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
    wanted, text = call.body, call.body.get("text", "").strip()
    kind = wanted.get("entry_type")
    groups = [wanted.get("tags"), kind and [f"{_PLAIN}{kind}", f"{_JSON}{kind}"]]
    recalled = call.operate(
        remembering.recall,
        text=text,
        limit=wanted.get("limit", _LIMIT),
        min_importance=wanted.get("min_importance", 0),
        groups=[group for group in groups if group],
        agent=call.query.get("memoriesOf", ""),
    )
    entries = [_entry(memory, scored.score) | (scored.absolute() if text else {}) for memory, scored in recalled.found]
    if not call.query.get("withProblem"):
        return ApiAnswer(200, entries)
    return ApiAnswer(200, {"memories": entries, "problem": None if recalled.problem is None else str(recalled.problem)})


@OPERATIONS.add(
    "POST",
    "/api/v1/memory/reflect",
    {201: models.ReflectedEntry, 200: models.ReflectedEntry},
    permission="write",
    query=models.MemoriesQuery,
    body=models.NewReflection,
    errors=("reflection_depth_exceeded",),
)
def reflect_on_entries(call: ApiCall) -> ApiAnswer:
    """Remember what follows from memories of the agent.

    201 if it is new; 200, with `created: false`, if it is remembered already.
    """
    done = call.operate(remembering.reflect, **call.body, agent=call.query.get("memoriesOf", ""))
    memory = done.memory
    document = {
        "id": memory.id,
        "created": done.created,
        "depth": memory.depth,
        "reflects_on": list(memory.reflects_on),
    }
    return ApiAnswer(201 if done.created else 200, document)


@OPERATIONS.add("GET", "/api/v1/memory/stats", {200: models.MemoryCounts}, query=models.MemoriesQuery, pool="slow")
def get_memory_stats(call: ApiCall) -> ApiAnswer:
    """Count the memories."""
    found = call.operate(remembering.count, agent=call.query.get("memoriesOf", ""))
    document = {"stm_count": 0, "stm_capacity": 0, "ltm_entity_count": found.memories, "ltm_link_count": 0}
    return ApiAnswer(200, document | {"total_memory_bytes": found.size})


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
    agent = call.query.get("memoriesOf", "")
    call.operate(remembering.forget, id=check(MemoryId, call.path["id"]), agent=agent)
    return ApiAnswer(204)


_OF_AGENT = {"agent": "memoriesOf"}
_ONE = "/api/v1/memory/{id}"
_SLOW: dict[str, Any] = {"errors": ("graph_busy", "query_timeout"), "pool": "slow"}
OPERATIONS.serve("GET", "/api/v1/memory", memory_reading.list_memories, names=_OF_AGENT, **_SLOW)
OPERATIONS.serve("GET", "/api/v1/memory/search", memory_reading.search_memories, names=_OF_AGENT, **_SLOW)
_RECALL_ERRORS = ("graph_busy", "query_timeout", "not_found")
OPERATIONS.serve(
    "GET", "/api/v1/memory/recalls", recalls.list_recalls, names=_OF_AGENT, errors=_RECALL_ERRORS, pool="slow"
)
OPERATIONS.serve("GET", _ONE, memory_reading.show_memory, names=_OF_AGENT, errors=("not_found",), pool="slow")
OPERATIONS.serve("POST", f"{_ONE}/correct", memory_reading.correct, names=_OF_AGENT, errors=("not_found",), pool="slow")


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


def _new(body: dict[str, Any]) -> dict[str, Any]:
    data, kind = body["data"], body["entry_type"]
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if not 1 <= len(text.strip()) <= MAX_TEXT:
        hint = "remember one fact in each memory"
        message = f"`data` must have 1 to {MAX_TEXT} characters as text or JSON, and has {len(text.strip())}"
        raise invalid(message, hint, field="data")
    tags = [*body.get("tags", ()), f"{_PLAIN if isinstance(data, str) else _JSON}{kind}"]
    return {"text": text, "tags": tags, "importance": body.get("importance", _IMPORTANCE)}


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
