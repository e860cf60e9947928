"""`/explore/audit`: the latest calls, their outcomes, and what was cleaned out of their answers.

Rules kept here:
- a caller needs the permission `audit`, and sees the calls of the namespace that the skills act in;
- the page shows the records that are kept: those of the journal, whose arguments are redacted, or the latest ones;
- texts that were removed are shown where `audit.keepRemoved` is on, as text; no other form has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cortex_graph.checks.moments import check_moment
from cortex_skills.audit.call_records import ACTION_CALL, TOOL_CALL
from cortex_skills.audit.recent_calls import MAX_PAGE, CallFilter, CallReader, RecentCall
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT, Addresses
from cortex_skills.doors.explorer.display import OF_NAME, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, not_found
from cortex_skills.doors.explorer.page_queries import AuditPageQuery
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.explorer.audited_calls import calls_of
from cortex_skills.features.explorer.call_plot import HOUR, calls_by_minute
from cortex_skills.features.explorer.reading import TakeAway, TextLink, skill_page
from cortex_skills.features.explorer.session_runs import waits_for_person
from cortex_skills.gate.removed_texts import CHARACTERS

_PATH = f"{ROOT}/audit"
_LIMIT = 100
_LONGEST = 4_000  # characters of the inputs of a call
_TIME = len("2026-01-31T12:00:00.000")


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call."""

    href: str
    time: str
    when: str
    tool: ShownText
    skill: ShownText | None
    skill_href: str | None
    agent: ShownText
    outcome: ShownText
    is_refused: bool
    has_asked: bool
    milliseconds: str
    cleaned: int
    host: ShownText | None


@dataclass(frozen=True, slots=True)
class ShownRemoval:
    """What was removed from an answer: the reason, the place and the number."""

    reason: ShownText
    place: ShownText
    count: int


@dataclass(frozen=True, slots=True)
class OpenedCall:
    """A call with the pages of its agent and its session, and what was removed from its answer."""

    call: CallRow
    agent_href: str
    session: TextLink | None
    more: tuple[tuple[str, ShownText], ...]
    removed: tuple[ShownRemoval, ...]
    others: int
    texts: tuple[ShownText, ...] | None


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """The texts that were removed from the answer of a call that may be of an earlier run of the server."""

    when: str
    tool: ShownText
    skill: ShownText | None
    agent: ShownText
    texts: tuple[ShownText, ...]


@dataclass(frozen=True, slots=True)
class RemovedView:
    """All texts that are kept, and how many records cannot be decrypted."""

    rows: tuple[RemovedRow, ...]
    damaged: int


@dataclass(frozen=True, slots=True)
class AuditView:
    """The latest calls."""

    lede: str
    plot: Svg
    words: str
    tabs: tuple[TextLink, ...]
    fields: tuple[tuple[str, str, str], ...]
    rows: tuple[CallRow, ...]
    opened: OpenedCall | None
    removed: RemovedView | None
    first: str | None
    next: str | None
    away: TakeAway


def view(call: PageCall) -> AuditView:
    """The latest calls.

    Raises:
        HttpError: `not_found`: there is no call with the id; `permission_denied`.
        CortexError: `invalid_arguments`: the cursor is not one of this audit.
    """
    calls, query = calls_of(call), call.query
    page = calls.page(_filter(call), limit=query.get("limit", _LIMIT), cursor=query.get("cursor"))
    plot, words = calls_by_minute(calls, datetime.now(UTC), HOUR, _filter(call))
    return AuditView(
        _LEDES[call.service.plugin.audit.journal is not None],
        plot,
        words,
        tuple(TextLink(label, addresses.address(_PATH, **given), _is_tab(call, given)) for label, given in _tabs(call)),
        tuple((name, label, to_field(query.get(name, ""))) for name, label in _FIELDS),
        tuple(call_row(call, each) for each in page.calls),
        _opened(call, calls),
        _removed(call),
        _address(call, cursor=None) if query.get("cursor") else None,
        _address(call, cursor=page.next_cursor) if page.next_cursor else None,
        TakeAway((TextLink("JSON lines", _address(call, format="jsonl")),), "application/x-ndjson", _address(call)),
    )


_LEDES = (
    "Every call that reached the gate since this server started, the last 10,000: its outcome, and what was removed"
    " from its answer.",
    "Every call in the journal of the audit, the newest first: its outcome, and what was removed from its answer.",
)
_TABS: tuple[tuple[str, dict[str, str]], ...] = (
    ("All", {}),
    ("Refused", {"outcome": "refused"}),
    ("Cleaned", {"cleaned": "yes"}),
)
_REMOVED = ("Removed texts", {"removed": "yes"})
_FIELDS = (
    ("q", "Text"),
    ("since", "Since"),
    ("until", "Until"),
    ("tool", "Tool"),
    ("skill", "Skill"),
    ("agent", "Agent"),
    ("outcome", "Outcome"),
    ("about", "Id or digest"),
    ("session", "Session"),
)


def _filter(call: PageCall) -> CallFilter:
    query = call.query
    given = {name: query.get(name) or None for name in ("outcome", "skill", "agent", "tool", "about", "session")}
    since, until = (check_moment(query[name], name) if query.get(name) else None for name in ("since", "until"))
    cleaned = True if query.get("cleaned") else None
    return CallFilter(**given, cleaned=cleaned, text=query.get("q") or None, since=since, until=until)


def _tabs(call: PageCall) -> tuple[tuple[str, dict[str, str]], ...]:
    return _TABS if call.service.plugin.removed_texts is None else (*_TABS, _REMOVED)


def _is_tab(call: PageCall, given: dict[str, str]) -> bool:
    return {name: call.query[name] for name in ("outcome", "cleaned", "removed") if call.query.get(name)} == given


def _address(call: PageCall, **changes: Any) -> str:
    return addresses.address(_PATH, **{**call.query, **changes})


def call_row(call: PageCall, found: RecentCall) -> CallRow:
    """A call as a row; a skill that is not here, and an artifact, is a link to its calls."""
    record, skill, event = found.record, found.record.skill, found.record.event
    of_event = event not in (TOOL_CALL, ACTION_CALL, record.tool)
    has_asked = waits_for_person(record)
    return CallRow(
        addresses.address(_PATH, id=found.id),
        record.time,
        record.time[:_TIME].replace("T", " "),
        shown_name(record.tool if not of_event else f"{record.tool} {event.rpartition('.')[2]}", OF_NAME // 2),
        None if skill is None else shown_name(skill, OF_NAME // 2),
        None if skill is None else skill_page(call, skill) or addresses.address(_PATH, skill=skill),
        shown_name(record.agent, OF_NAME // 2),
        shown_text("asked a person" if has_asked else record.outcome, OF_NAME),
        record.is_refused,
        has_asked,
        f"{record.milliseconds:,.1f}",
        record.stripped,
        None if record.host is None else shown_name(record.host.name, OF_NAME // 2),
    )


def _opened(call: PageCall, calls: CallReader) -> OpenedCall | None:
    call_id = call.query.get("id")
    if not call_id:
        return None
    found = calls.get(call_id)
    if found is None:
        raise not_found("there is no call with this id among those that are kept")
    removed = tuple(
        ShownRemoval(shown_text(each.reason, OF_NAME), shown_name(each.path), each.count)
        for each in found.record.removed
    )
    others = found.record.stripped - sum(each.count for each in removed)
    session = found.record.session
    return OpenedCall(
        call_row(call, found),
        Addresses(call.service.plugin.graph.namespace).agent(found.record.agent),
        None if session is None else TextLink(session[:8], f"{ROOT}/sessions/{session}"),
        _more(found),
        removed,
        others,
        _texts_of(call, found.id),
    )


def _more(found: RecentCall) -> tuple[tuple[str, ShownText], ...]:
    """What else a record has: inputs and outputs are kept in a journal only."""
    record = found.record
    given = [("Event", record.event), ("By", record.actor), ("Trust level", record.trust_level)]
    given += [("Host", None if record.host is None else f"{record.host.name} {record.host.id}")]
    given += [("Approved by", record.approved_by), ("Session", record.session)]
    values = [("Inputs", record.inputs), ("Outputs", record.outputs), ("Data", record.data)]
    values += [("Change", change) for change in record.changes]
    given += [(name, json.dumps(value, ensure_ascii=False)) for name, value in values if value is not None]
    return tuple((name, shown_text(text, _LONGEST)) for name, text in given if text is not None)


def _texts_of(call: PageCall, call_id: str) -> tuple[ShownText, ...] | None:
    """The texts that were removed from the answer of a call; None where none are kept."""
    kept = call.service.plugin.removed_texts
    if kept is None:
        return None
    found = next((each for each in kept.newest()[0] if each.id == call_id), None)
    return None if found is None else tuple(shown_text(text, CHARACTERS) for text in found.texts)


def _removed(call: PageCall) -> RemovedView | None:
    """All texts that are kept; None if the page does not ask for them."""
    kept = call.service.plugin.removed_texts
    if not call.query.get("removed"):
        return None
    if kept is None:
        hint = "set audit.keepRemoved in the configuration of this host"
        raise HttpError("not_found", "no removed texts are kept here", hint=hint)
    newest, damaged = kept.newest()
    rows = (
        RemovedRow(
            each.time[:_TIME].replace("T", " "),
            shown_name(each.tool, OF_NAME // 2),
            None if each.skill is None else shown_name(each.skill, OF_NAME // 2),
            shown_name(each.agent, OF_NAME // 2),
            tuple(shown_text(text, CHARACTERS) for text in each.texts),
        )
        for each in newest[: call.query.get("limit", _LIMIT)]
    )
    return RemovedView(tuple(rows), damaged)


def _lines(call: PageCall) -> Iterator[bytes]:
    """All calls that match, a JSON object a line, the newest first."""
    calls, cursor = calls_of(call), call.query.get("cursor")
    while True:
        page = calls.page(_filter(call), limit=MAX_PAGE, cursor=cursor)
        for found in page.calls:
            yield json.dumps({"id": found.id, **found.record.to_json()}, ensure_ascii=True).encode() + b"\n"
        cursor = page.next_cursor
        if cursor is None:
            return


PAGE = ExplorerPage(
    _PATH,
    "audit",
    "audit.html",
    view,
    query=AuditPageQuery,
    permission="audit",
    is_public=False,
    forms={"jsonl": Form("application/x-ndjson", lambda call: b"".join(_lines(call)))},
    label="Audit",
    section="Trust",
    keys="g a",
    live="audit",
    place=160,
)
