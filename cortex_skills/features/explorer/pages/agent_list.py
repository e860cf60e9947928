"""`/explore/{namespace}/agents`: who asserted something, or called a tool lately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cortex_skills.audit.recent_calls import CallFilter
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_NAME, ShownText, shown_name
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.audited_calls import LATEST, calls_of, latest, may_audit
from cortex_skills.features.explorer.reading import Reading, TakeAway

_ROWS = 200


@dataclass(slots=True)
class AgentFigures:
    """An agent: how many assertions are counted, and its calls among the latest ones."""

    name: str
    asserted: int = 0
    calls: int = 0
    refused: int = 0
    last: str = ""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent as a row."""

    href: str
    name: ShownText
    asserted: int
    calls: int
    refused: int
    last: str


@dataclass(frozen=True, slots=True)
class AgentList:
    """The agents; `has_calls` is whether the caller may see the audit."""

    rows: tuple[AgentRow, ...]
    has_calls: bool
    most: int
    away: TakeAway


def view(call: PageCall) -> AgentList:
    """The agents, those with most assertions first."""
    reading = Reading.of(call, "agents")
    rows = (
        AgentRow(
            reading.addresses.agent(each.name),
            shown_name(each.name, OF_NAME),
            each.asserted,
            each.calls,
            each.refused,
            each.last[: len("2026-01-31T12:00")].replace("T", " "),
        )
        for each in _found(call)
    )
    return AgentList(tuple(rows), may_audit(call), LATEST, reading.take_away(FORMS))


def _found(call: PageCall) -> list[AgentFigures]:
    found: dict[str, AgentFigures] = {}
    names = call.graph.names
    for each in call.graph.counts.latest(wait_s=0.0).asserters:
        agent = names.agent_of(each.node.value)
        if agent is not None:
            found[agent] = AgentFigures(agent, each.assertions)
    for done in latest(calls_of(call), CallFilter()) if may_audit(call) else ():
        figures = found.setdefault(done.record.agent, AgentFigures(done.record.agent))
        figures.calls += 1
        figures.refused += done.record.is_refused
        figures.last = figures.last or done.record.time
    return sorted(found.values(), key=lambda each: (-each.asserted, -each.calls, each.name))[:_ROWS]


def _document(call: PageCall) -> bytes:
    names = ("name", "asserted", "calls", "refused", "last") if may_audit(call) else ("name", "asserted")
    rows: list[dict[str, Any]] = [{name: getattr(each, name) for name in names} for each in _found(call)]
    return to_json({"agents": rows, "amongLatest": LATEST})


FORMS = {"json": Form("application/json", _document)}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/agents",
    "agents",
    "agents.html",
    view,
    pool="slow",
    forms=FORMS,
    label="Agents",
    section="Agents",
    keys="g d",
    place=162,
)
