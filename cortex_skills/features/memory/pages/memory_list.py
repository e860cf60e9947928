"""`/explore/{namespace}/memories?agent=&q=`: what agents remember: the latest, or what has some words.

Rules kept here:
- a caller needs the permission `memories`; what is listed and found is that of the operations;
- with the permission `audit`, a memory shows who recalled it last, among the latest `_RECALLS` recalls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from cortex_skills.doors.explorer.addresses import ROOT, address, in_form, namespace_root
from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.rest.model_types import ApiModel
from cortex_skills.features.memory.memory_reading import (
    FoundMemories,
    ListedMemories,
    MemoryDocument,
    list_memories,
    search_memories,
)
from cortex_skills.features.memory.recalls import ListedRecalls, RecallRecord, list_recalls
from cortex_skills.features.memory.requests import MAX_QUERY

PATH = f"{ROOT}/{{namespace}}/memories"
_LIMIT = 50
_RECALLS = 200


class MemoryListQuery(ApiModel, total=False):
    """Words, of which agent, and where the page begins."""

    q: Annotated[str, Field(max_length=MAX_QUERY)]
    agent: Annotated[str, Field(max_length=256)]
    cursor: Annotated[str, Field(max_length=200)]


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory: its page, text, owner, kind, weight, tags, time, who else wrote it, and who recalled it last, when."""

    href: str
    text: ShownText
    agent: ShownText
    of_agent: str
    kind: str
    importance: str
    tags: ShownText
    when: str
    authors: ShownText
    recalled: tuple[str, ShownText] | None


@dataclass(frozen=True, slots=True)
class MemoryListView:
    """The memories; `recalls` is what is known of recalls, None for a caller who may not see the audit."""

    rows: tuple[MemoryRow, ...]
    words: str
    query: str
    agent: str
    problem: ShownText | None
    recalls: ShownText | None
    first: str | None
    next: str | None
    json: str
    here: str


def view(call: PageCall) -> MemoryListView:
    """The latest memories, or those that have the words."""
    query, found = call.query, _found(call)
    here = address(path_of(call), **query)
    recalls = _recalls(call, query.get("agent", ""))
    latest = {} if recalls is None else latest_of(recalls)
    rows = tuple(row(call, each, latest.get(each["id"])) for each in found["memories"])
    beside: dict[str, Any] = {**found}
    cursor, total, problem = beside.get("cursor"), beside.get("total"), beside.get("problem")
    words = f"{len(rows)} found" if total is None else f"{total:,} in all"
    return MemoryListView(
        rows,
        words,
        to_field(query.get("q", "")),
        to_field(query.get("agent", "")),
        None if problem is None else shown_text(problem),
        None if recalls is None else shown_text(recalls["known"]),
        address(path_of(call), **{**query, "cursor": None}) if query.get("cursor") else None,
        address(path_of(call), **{**query, "cursor": cursor}) if cursor else None,
        in_form(here, "json"),
        here,
    )


def path_of(call: PageCall) -> str:
    """The address of the memories of the namespace."""
    return f"{namespace_root(call.graph.namespace)}/memories"


def row(call: PageCall, memory: MemoryDocument, recalled: RecallRecord | None = None) -> MemoryRow:
    """A memory as a row, with its last recall."""
    path = path_of(call)
    return MemoryRow(
        address(f"{path}/{memory['id']}", agent=memory["agent"]),
        shown_text(memory["text"]),
        shown_name(memory["agent"]),
        address(path, agent=memory["agent"]),
        memory["kind"],
        f"{memory['importance']:.2f}",
        shown_text(", ".join(memory["tags"])),
        memory["time"].replace("T", " ")[:16] + " UTC",
        shown_text(", ".join(memory["writtenBy"])),
        None if recalled is None else (recalled["time"], shown_name(recalled["agent"])),
    )


def _recalls(call: PageCall, agent: str) -> ListedRecalls | None:
    if "audit" not in call.principal.permissions:
        return None
    found: ListedRecalls = call.api().operate(list_recalls, agent=agent, limit=_RECALLS)
    return found


def latest_of(found: ListedRecalls) -> dict[str, RecallRecord]:
    """The latest recall of each memory, by its id."""
    return {memory: each for each in reversed(found["recalls"]) for memory in each["memories"]}


def _found(call: PageCall) -> ListedMemories | FoundMemories:
    agent, text = call.query.get("agent", ""), call.query.get("q", "").strip()
    asked = call.api()
    if text:
        found: FoundMemories = asked.operate(search_memories, text=text, agent=agent, limit=_LIMIT)
        return found
    listed: ListedMemories = asked.operate(
        list_memories, agent=agent, limit=_LIMIT, cursor=call.query.get("cursor", "")
    )
    return listed


PAGE = ExplorerPage(
    PATH,
    "memories",
    "memories.html",
    view,
    query=MemoryListQuery,
    permission="memories",
    is_public=False,
    pool="slow",
    forms={"json": Form("application/json", lambda call: to_json(_found(call)))},
    label="Memories",
    section="Agents",
    keys="g e",
    place=167,
)
