"""`/explore/sessions`: the sessions of agents, as far as the latest calls show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cortex_skills.audit.recent_calls import CallFilter
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_NAME, ShownText, shown_name
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import SessionListQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.audited_calls import LATEST, SessionFigures, calls_of, latest, sessions_among
from cortex_skills.features.explorer.reading import TakeAway, TextLink

PATH = f"{ROOT}/sessions"
_MINUTES = len("2026-01-31T12:00")
_ROWS = 100


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session: its page, its agents, when it was, and its figures."""

    href: str
    short: str
    agents: ShownText
    began: str
    when: str
    until: str
    calls: int
    refused: int


@dataclass(frozen=True, slots=True)
class SessionList:
    """The sessions."""

    rows: tuple[SessionRow, ...]
    agent: str
    most: int
    away: TakeAway


def view(call: PageCall) -> SessionList:
    """The sessions, the latest first."""
    here = addresses.address(PATH, **call.query)
    return SessionList(
        tuple(session_row(each) for each in _found(call)),
        to_field(call.query.get("agent", "")),
        LATEST,
        TakeAway((TextLink("JSON", addresses.in_form(here, "json")),), "application/json", here),
    )


def session_row(found: SessionFigures) -> SessionRow:
    """A session as a row."""
    return SessionRow(
        f"{PATH}/{found.id}",
        found.id[:8],
        shown_name(", ".join(found.agents), OF_NAME),
        found.began,
        found.began[:_MINUTES].replace("T", " "),
        found.ended[len("2026-01-31T") : _MINUTES],
        found.calls,
        found.refused,
    )


def _found(call: PageCall) -> list[SessionFigures]:
    wanted = CallFilter(agent=call.query.get("agent") or None)
    return sessions_among(latest(calls_of(call), wanted))[:_ROWS]


def _document(call: PageCall) -> bytes:
    names = ("id", "agents", "began", "ended", "calls", "refused")
    rows: list[dict[str, Any]] = [{name: getattr(each, name) for name in names} for each in _found(call)]
    return to_json({"sessions": rows, "amongLatest": LATEST})


PAGE = ExplorerPage(
    PATH,
    "sessions",
    "sessions.html",
    view,
    query=SessionListQuery,
    permission="audit",
    is_public=False,
    pool="slow",
    forms={"json": Form("application/json", _document)},
    label="Sessions",
    section="Agents",
    keys="g n",
    place=164,
)
