"""`/explore/{namespace}/agent?name=ID`: what an agent asserted, remembered, asked a person, and was refused.

Rules kept here:
- what it asserted is read from the graph; memories are shown with the permission `memories`, calls with `audit`;
- calls are those among the latest `LATEST` of the agent, and each list shows the newest ones and links to all.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_graph.assertions import AssertionFilter, list_assertions
from cortex_skills.audit.recent_calls import CallFilter, RecentCall
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_name
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import AgentQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.audited_calls import LATEST, calls_of, latest, may_audit, sessions_among
from cortex_skills.features.explorer.pages.audit_page import CallRow, call_row
from cortex_skills.features.explorer.pages.session_list import SessionRow, session_row
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway
from cortex_skills.features.explorer.session_runs import waits_for_person
from cortex_skills.features.explorer.triple_rows import TripleRow, assertion_rows
from cortex_skills.features.graph.rest.overview import assertion_document
from cortex_skills.features.memory.memory_reading import ListedMemories, list_memories
from cortex_skills.features.memory.pages.memory_list import MemoryRow
from cortex_skills.features.memory.pages.memory_list import row as memory_row

_ROWS = 15
_FEW = 8


@dataclass(frozen=True, slots=True)
class OfCalls:
    """What the audit has of an agent: its sessions, the calls that asked a person, and those that were refused."""

    sessions: tuple[SessionRow, ...]
    asked: tuple[CallRow, ...]
    refused: tuple[CallRow, ...]
    all_sessions: str
    all_refused: str


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent.

    Attributes:
        name: its id.
        facts: figures, each with a link.
        asserted: its latest assertions; `all_asserted` lists all.
        memories: its latest ones; None for a caller who may not read them.
        calls: of the audit; None for a caller who may not see it.
    """

    name: ShownText
    facts: tuple[tuple[str, str, str | None], ...]
    asserted: tuple[TripleRow, ...]
    all_asserted: str
    memories: tuple[MemoryRow, ...] | None
    all_memories: str
    calls: OfCalls | None
    most: int
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> AgentView:
    """An agent, also one that is not known: it did nothing then."""
    reading, name = Reading.of(call, "agent"), call.query.get("name", "")
    to = reading.addresses
    found = list_assertions(reading.graph, AssertionFilter(agent=name), limit=_ROWS).assertions if name else ()
    listed, is_past = _memories(call, name), to.as_of is not None
    audited = None if is_past or not may_audit(call) else _audited(call, name)
    all_asserted, all_memories = to.triples(agent=name), addresses.address(_of_namespace(reading), agent=name)
    return AgentView(
        shown_name(name, OF_HEADING),
        tuple(_facts(reading, name, listed, audited, all_memories)),
        assertion_rows(reading, found),
        all_asserted,
        None if listed is None or is_past else tuple(memory_row(call, each) for each in listed["memories"]),
        all_memories,
        None if audited is None else _of_calls(call, name, audited),
        LATEST,
        reading.as_of_field(),
        reading.take_away(FORMS),
    )


def _of_namespace(reading: Reading) -> str:
    return f"{addresses.namespace_root(reading.graph.namespace)}/memories"


def _memories(call: PageCall, name: str) -> ListedMemories | None:
    if not name or "memories" not in call.principal.permissions:
        return None
    listed: ListedMemories = call.api().operate(list_memories, agent=name, limit=_FEW)
    return listed


def _audited(call: PageCall, name: str) -> list[RecentCall]:
    return list(latest(calls_of(call), CallFilter(agent=name)))


def _facts(
    reading: Reading, name: str, listed: ListedMemories | None, audited: list[RecentCall] | None, memories: str
) -> list[tuple[str, str, str | None]]:
    """The figures; those of today are left out as of a moment."""
    facts: list[tuple[str, str, str | None]] = []
    if reading.addresses.as_of is not None:
        return facts
    node = reading.graph.names.agent(name) if name else None
    counted = reading.call.graph.counts.latest(wait_s=0.0)
    if counted.counted_at is not None:
        count = next((each.assertions for each in counted.asserters if each.node == node), 0)
        facts.append(("Asserted", f"{count:,}", reading.addresses.triples(agent=name)))
    if listed is not None:
        facts.append(("Remembers", f"{listed['total']:,}", memories))
    if audited is not None:
        more = "+" if len(audited) >= LATEST else ""
        audit, refused = f"{ROOT}/audit", sum(each.record.is_refused for each in audited)
        facts.append(("In the audit", f"{len(audited):,}{more}", addresses.address(audit, agent=name)))
        asked = sum(waits_for_person(each.record) for each in audited)
        facts.append(("Asked a person", f"{asked:,}", None))
        facts.append(("Refused", f"{refused:,}{more}", addresses.address(audit, agent=name, outcome="refused")))
    return facts


def _of_calls(call: PageCall, name: str, audited: list[RecentCall]) -> OfCalls:
    asked = [each for each in audited if waits_for_person(each.record)][:_FEW]
    refused = [each for each in audited if each.record.is_refused][:_FEW]
    return OfCalls(
        tuple(session_row(each) for each in sessions_among(audited)[:_FEW]),
        tuple(call_row(call, each) for each in asked),
        tuple(call_row(call, each) for each in refused),
        addresses.address(f"{ROOT}/sessions", agent=name),
        addresses.address(f"{ROOT}/audit", agent=name, outcome="refused"),
    )


def _document(call: PageCall) -> bytes:
    reading, name = Reading.of(call, "agent"), call.query.get("name", "")
    found = list_assertions(reading.graph, AssertionFilter(agent=name), limit=_ROWS).assertions if name else ()
    listed = _memories(call, name)
    audited = _audited(call, name) if may_audit(call) else None
    return to_json(
        {
            "agent": name,
            "assertions": [assertion_document(each, reading.graph.names) for each in found],
            "memories": None if listed is None else listed["memories"],
            "sessions": None if audited is None else [each.id for each in sessions_among(audited)],
            "refused": None
            if audited is None
            else [{"id": each.id, **each.record.to_json()} for each in audited if each.record.is_refused][:_ROWS],
        }
    )


FORMS = {"json": Form("application/json", _document)}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/agent",
    "agent",
    "agent.html",
    view,
    query=AgentQuery,
    pool="slow",
    forms=FORMS,
    example={"name": "auditor"},
    place=163,
)
