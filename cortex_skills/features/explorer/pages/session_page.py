"""`/explore/sessions/{id}`: a session as a run: its figures, a timeline, and a tree from each call to what came of it.

Rules kept here:
- a caller needs the permission `audit`; a statement is shown to one who may read the graph, and a memory and a request
  are links for one who may read those;
- at most `_MOST` records and `_FOLLOWED` requests are read, and `_STEPS` steps shown at once;
- calls that only read are folded, unless they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cortex_graph.assertions import history_of
from cortex_graph.exceptions import GraphError
from cortex_skills.audit.recent_calls import CallFilter
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT, Addresses, namespace_root
from cortex_skills.doors.explorer.display import OF_NAME, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, not_found
from cortex_skills.doors.explorer.page_queries import SessionQuery
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.explorer.pictures.timeline import TimelineMark, timeline
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.audited_calls import calls_of, latest
from cortex_skills.features.explorer.pages.session_list import PATH
from cortex_skills.features.explorer.reading import Reading, TakeAway, TextLink
from cortex_skills.features.explorer.session_runs import RunStep, RunTree, approvals_of, run_of

_MOST = 2_000
_FOLLOWED = 40
_STEPS = 120
_STATEMENTS = 60  # that are read for a page
_DETAIL = 120  # characters
_ID = len("0123456789abcdef0123456789abcdef")
_SECONDS = slice(len("2026-01-31T"), len("2026-01-31T12:00:00"))
_WORDS = {
    "graph.assert": "Asserted",
    "graph.withdraw": "Withdrew",
    "memory.remember": "Remembered",
    "memory.reflect": "Concluded",
    "memory.correct": "Corrected",
    "memory.forget": "Forgot",
    "memory.recall": "Recalled",
    "approvals.approve": "Approved",
    "approvals.reject": "Rejected",
}
_OF_KIND = {"call": "", "change": "", "recall": "", "asked": "Asked for", "decided": "", "done": "Ran"}
_SPOKEN = {
    "call": "Call",
    "change": "Change",
    "recall": "Recall",
    "asked": "Request",
    "decided": "Decision",
    "done": "Action",
}
_LANES = {"call": 0, "change": 1, "asked": 2, "decided": 3, "done": 4}
_REFUSED = 5


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step.

    Attributes:
        kind: as of the step; `spoken` is it in words.
        words: what was done, such as `Asserted`; empty for a call.
        title: with what; `statement` in its place for one of the graph.
        href: its page; None if it has none that the caller may see.
        detail: the reason, the outcome, the beginning of the result.
        at: the time of day; `time` is the whole one.
        record: the page of the audit record.
        below: what came of it.
    """

    kind: str
    spoken: str
    words: str
    title: ShownText
    statement: str
    href: str | None
    detail: ShownText | None
    is_refused: bool
    at: str
    time: str
    record: str
    below: tuple[ShownStep, ...]


@dataclass(frozen=True, slots=True)
class SessionRunView:
    """A session.

    Attributes:
        short: the beginning of its id.
        agents: for whom; each is a link to the agent's page.
        facts: the figures.
        when: its first and last moment.
        picture: the timeline.
        tabs: which steps are shown.
        text: the filter.
        steps: the tree.
        folded: how many calls that only read are left out.
        next: the address of further steps; None at the end.
        is_cut: whether the session has more records than were read.
    """

    id: str
    short: str
    agents: tuple[tuple[ShownText, str], ...]
    facts: tuple[tuple[str, int, str | None], ...]
    when: str
    picture: Svg
    tabs: tuple[TextLink, ...]
    text: str
    steps: tuple[ShownStep, ...]
    folded: int
    unfold: str
    next: str | None
    is_cut: bool
    away: TakeAway


def view(call: PageCall) -> SessionRunView:
    """A session.

    Raises:
        HttpError: `not_found`: no call that is kept is of it; `permission_denied`.
    """
    query, run, is_cut = call.query, *_run(call)
    here, audit = f"{PATH}/{run.id}", f"{ROOT}/audit"
    counts, show, start = run.counts(), query.get("show", ""), query.get("start", 0)
    wanted = [step for step in run.steps if _is_shown(step, show, query.get("q", ""))]
    to = _Links(call)
    to_agents = Addresses(call.service.plugin.graph.namespace)
    return SessionRunView(
        run.id,
        run.id[:8],
        tuple((shown_name(each, OF_NAME), to_agents.agent(each)) for each in run.agents),
        (
            ("Calls", counts["calls"], addresses.address(audit, session=run.id)),
            ("Asserted", counts.get("asserted", 0), None),
            ("Remembered", counts.get("remembered", 0), None),
            ("Asked a person", counts["asked"], None),
            ("Did", counts["done"], None),
            ("Refused", counts["refused"], addresses.address(audit, session=run.id, outcome="refused")),
        ),
        f"{run.began:%Y-%m-%d %H:%M:%S} to {run.ended:%Y-%m-%d %H:%M:%S} UTC",
        _picture(run),
        tuple(TextLink(label, addresses.address(here, show=each), each == show) for each, label in _TABS),
        to_field(query.get("q", "")),
        tuple(to.shown(step) for step in wanted[start : start + _STEPS]),
        0 if show or query.get("q") else sum(step.only_reads for step in run.steps),
        addresses.address(here, show="all"),
        addresses.address(here, **{**query, "start": start + _STEPS}) if len(wanted) > start + _STEPS else None,
        is_cut,
        TakeAway(
            (
                TextLink("JSON", addresses.in_form(here, "json")),
                TextLink("Records as JSON lines", addresses.address(audit, session=run.id, format="jsonl")),
            ),
            "application/json",
            here,
        ),
    )


_TABS = (("", "What happened"), ("changed", "What changed"), ("refused", "Refused"), ("all", "All"))


def _run(call: PageCall) -> tuple[RunTree, bool]:
    """The run, and whether the session has more records than were read."""
    calls, session = calls_of(call), call.path["id"]
    found = list(latest(calls, CallFilter(session=session), _MOST + 1)) if len(session) == _ID else []
    if not found:
        raise not_found("no call that is kept is of this session")
    since = min(each.record.time for each in found)
    followed = {
        approval: list(latest(calls, CallFilter(about=approval, since=_moment(since)), _STEPS))
        for approval in approvals_of(found)[:_FOLLOWED]
    }
    return run_of(session, found[:_MOST], followed), len(found) > _MOST


def _is_shown(step: RunStep, show: str, text: str) -> bool:
    if text:
        words = text.casefold()
        return any(words in json.dumps(each.record.to_json(), ensure_ascii=False).casefold() for each in step.all())
    if show == "changed":
        return step.led_on or step.kind == "change"
    if show == "refused":
        return any(each.record.is_refused for each in step.all())
    return show == "all" or not step.only_reads


def _picture(run: RunTree) -> Svg:
    marks: list[TimelineMark] = []

    def add(step: RunStep, after: int | None) -> None:
        if step.kind == "recall":
            return
        place = len(marks)
        marks.append(TimelineMark(_LANES[step.kind], step.began, after))
        if step.kind == "call" and step.record.is_refused:
            marks.append(TimelineMark(_REFUSED, step.ended, place))
        for each in step.below:
            add(each, place)

    for step in run.steps:
        add(step, None)
    counts = run.counts()
    asked = f"{counts['asked']:,} requests to a person, {counts['done']:,} actions, {counts['refused']:,} refusals"
    return timeline(marks, f"{counts['calls']:,} calls in time, with {asked}")


class _Links:
    """Shows steps, with links to what the caller may see."""

    def __init__(self, call: PageCall) -> None:
        namespace = call.service.plugin.graph.namespace
        root = namespace_root(namespace)
        self._root = root
        self._permissions = call.principal.permissions
        path = {"namespace": root.removeprefix(f"{ROOT}/")}
        may_read = "read" in self._permissions
        self._reading = Reading.of(replace(call, path=path, query={}), "") if may_read else None
        self._left = _STATEMENTS

    def shown(self, step: RunStep) -> ShownStep:
        """A step with what is below it."""
        record = step.record
        words = _WORDS.get(record.event, "") or _OF_KIND[step.kind]
        if step.kind == "change" and record.is_refused:
            words = "Not done:"
        title, statement, href = self._about(step)
        return ShownStep(
            step.kind,
            _SPOKEN[step.kind],
            words,
            title,
            statement,
            href,
            _detail(step),
            record.is_refused,
            record.time[_SECONDS],
            record.time,
            addresses.address(f"{ROOT}/audit", id=step.id),
            tuple(self.shown(each) for each in step.below),
        )

    def _about(self, step: RunStep) -> tuple[ShownText, str, str | None]:
        """What a step is about: its title, the statement in its place, and its page."""
        record, data = step.record, step.data
        named = data.get("object")
        name = named if isinstance(named, str) else ""
        if step.kind == "change" and record.event.startswith("graph.") and name:
            statement = self._statement(name)
            href = f"{self._root}/t/{name}" if statement else None
            return shown_name(name, OF_NAME), statement, href
        if step.kind == "recall":
            return self._recalled(step)
        if step.kind == "change" and record.event.startswith("memory."):
            agent, _, memory = name.rpartition("/")
            may = "memories" in self._permissions and bool(agent)
            href = addresses.address(f"{self._root}/memories/{memory}", agent=agent) if may else None
            return shown_name(name or "a memory", OF_NAME), "", href
        if step.kind == "asked":
            approval, action = data.get("id") or data.get("approval"), data.get("action") or record.tool
            may = "approve" in self._permissions and isinstance(approval, str)
            return shown_name(str(action), OF_NAME), "", f"{ROOT}/approvals/{approval}" if may else None
        if step.kind == "decided":
            return shown_text(f"by {record.actor or record.agent}", OF_NAME), "", None
        if step.kind == "change":
            is_named = record.event in _WORDS and not record.is_refused
            title = name or "a statement" if is_named else f"{record.event} {name}"
            return shown_name(title.strip(), OF_NAME), "", None
        title = record.tool if record.skill is None else f"{record.skill} · {record.tool}"
        return shown_name(title, OF_NAME), "", addresses.address(f"{ROOT}/audit", id=step.id)

    def _recalled(self, step: RunStep) -> tuple[ShownText, str, str | None]:
        """How many memories were recalled, and the page of the only one."""
        agent, found = step.data.get("agent"), step.data.get("memories")
        ids = found if isinstance(found, list) else []
        href = None
        if len(ids) == 1 and isinstance(agent, str) and "memories" in self._permissions:
            href = addresses.address(f"{self._root}/memories/{ids[0]}", agent=agent)
        return shown_name("1 memory" if len(ids) == 1 else f"{len(ids)} memories", OF_NAME), "", href

    def _statement(self, triple_id: str) -> str:
        """A statement in words; empty if it is unknown, or not to be read."""
        reading = self._reading
        if reading is None or self._left <= 0:
            return ""
        self._left -= 1
        try:
            history = history_of(reading.graph, triple_id)
        except GraphError:
            return ""
        if history is None:
            return ""
        quad = history.quad
        terms = (reading.display.term(term, _DETAIL) for term in (quad.subject, quad.predicate, quad.object))
        return " ".join(term.called for term in terms)


def _detail(step: RunStep) -> ShownText | None:
    record, data = step.record, step.data
    said: object = ""
    if record.is_refused:
        said = record.outcome
    elif step.kind == "decided":
        said = data.get("reason")
    elif record.event == "graph.assert" and isinstance(data.get("statements"), int) and data["statements"] > 1:
        said = f"and {data['statements'] - 1:,} more"
    elif step.kind in ("call", "done") and record.inputs:
        said = ", ".join(_values(record.inputs))
    if step.kind == "asked" and not step.below and data:
        said = "waits for a person"
    return shown_text(" ".join(str(said).split()), _DETAIL) if said else None


def _values(inputs: Any) -> Iterator[str]:
    """The short values of some inputs."""
    given: Iterable[Any] = inputs.values() if isinstance(inputs, dict) else ()
    for value in given:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(value)


def _moment(time: str) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(time)


def _tree(steps: Sequence[RunStep]) -> list[dict[str, Any]]:
    return [{"kind": step.kind, "id": step.id, **step.record.to_json(), "below": _tree(step.below)} for step in steps]


def _document(call: PageCall) -> bytes:
    run, is_cut = _run(call)
    return to_json(
        {"session": run.id, "agents": run.agents, "counts": run.counts(), "cut": is_cut, "steps": _tree(run.steps)}
    )


PAGE = ExplorerPage(
    f"{PATH}/{{id}}",
    "session",
    "session_run.html",
    view,
    query=SessionQuery,
    permission="audit",
    is_public=False,
    pool="slow",
    forms={"json": Form("application/json", _document)},
    place=166,
)
