"""Who recalled memories, when and for which question: from the records that recalls have in the audit.

Rules kept here:
- nothing is written at a recall but its record, which names the memories that it returned;
- a caller needs the permission `audit`, and sees recalls of the memories that it may read;
- what is known is what the journal of this host keeps, and the answer states from when on: without a journal nothing
  is, and a recall on another host is in the journal of that one;
- a memory whose text was corrected has another id: `memory.correct` in the audit names both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le, MaxLen
from typing_extensions import TypedDict

from cortex_skills.audit.recent_calls import CallFilter, RecentCall
from cortex_skills.features.memory.memory_reading import OfAgent
from cortex_skills.features.memory.remembering import recall
from cortex_skills.features.memory.whose_memories import agents_in, memory_in
from cortex_skills.operations.json_types import MemoryId
from cortex_skills.operations.operation import Described, OperationCall, operation

_LISTED = 50


class RecallRecord(TypedDict):
    """A recall: `agent` recalled memories of the agent `of`; `record` is the id of the audit record."""

    record: str
    time: str
    agent: str
    by: str | None
    of: str
    memories: list[str]
    question: str | None
    skill: str | None
    session: str | None
    door: str


class ListedRecalls(TypedDict):
    """Recalls, the latest first; what is known of them, in words, and from when on; where the next page begins."""

    recalls: list[RecallRecord]
    known: str
    since: str | None
    cursor: str | None


@dataclass(frozen=True, slots=True)
class ListRecalls:
    """Of which memory, or of all of an agent."""

    id: Annotated[MemoryId | None, Described("Of this memory; by default of all.")] = None
    agent: OfAgent = ""
    limit: Annotated[int, Ge(1), Le(200), Described(f"How many, {_LISTED}.")] = _LISTED
    cursor: Annotated[str, MaxLen(200), Described("That of the page before.")] = ""


@operation("memory.recalls", effect="reads", permission="audit")
def list_recalls(call: OperationCall, given: ListRecalls) -> ListedRecalls:
    """List who recalled memories, when, and for which question."""
    memory = None if given.id is None else memory_in(call, given.id, given.agent)
    agents = agents_in(call, given.agent) if memory is None else [memory.agent]
    audit = call.host.audit
    if audit.journal is None:
        return {"recalls": [], "known": _NO_JOURNAL, "since": None, "cursor": None}
    wanted = CallFilter(event=recall.name, about=given.id)
    page = audit.calls.page(wanted, limit=given.limit, cursor=given.cursor or None)
    namespace = call.host.graph.namespace
    found = [each for record in page.calls for each in _recalls(record, namespace) if each["of"] in agents]
    since = audit.calls.oldest()
    return {
        "recalls": [each for each in found if given.id is None or given.id in each["memories"]],
        "known": f"what the journal of the host {call.host.identity.name} has, from {since} on",
        "since": since,
        "cursor": page.next_cursor,
    }


_NO_JOURNAL = "no journal of the audit is kept here (audit.journal), so that no recall is known"


def _recalls(found: RecentCall, namespace: str) -> Iterator[RecallRecord]:
    """The recalls of a record in a namespace; one that was refused names no memories."""
    record = found.record
    for act in record.acts:
        data = act.data if isinstance(act.data, dict) else {}
        memories, of = data.get("memories"), data.get("agent")
        if act.event != recall.name or data.get("namespace") != namespace:
            continue
        if isinstance(of, str) and isinstance(memories, list):
            asked = data.get("text")
            yield {
                "record": found.id,
                "time": record.time,
                "agent": record.agent,
                "by": record.actor,
                "of": of,
                "memories": [each for each in memories if isinstance(each, str)],
                "question": asked if isinstance(asked, str) else None,
                "skill": record.skill,
                "session": record.session,
                "door": str(data.get("door", "")),
            }
