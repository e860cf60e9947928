"""`/explore/approvals`: the actions that wait for a person, and those that were decided.

Rules kept here:
- a caller needs the permission `approve`, and sees the requests of the namespace whose skills this server runs;
- a request that was changed in the store is named, and has no page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.inbox import Attention
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import ApprovalListQuery
from cortex_skills.doors.explorer.times import ago
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.desk import Approvals
from cortex_skills.features.actions.approvals.record import ApprovalRecord
from cortex_skills.features.actions.rest.approvals import list_approvals
from cortex_skills.features.explorer.reading import TakeAway, TextLink

PATH = f"{ROOT}/approvals"
KINDS = {
    "pending": "warn",
    "approved": "none",
    "running": "none",
    "rejected": "bad",
    "expired": "none",
    "done": "ok",
    "failed": "bad",
    "interrupted": "warn",
}
RISKS = {"low": "none", "medium": "warn", "high": "bad"}
_LIMIT = 100
_TABS: tuple[tuple[str, dict[str, str]], ...] = (("Waiting", {}), ("All", {"state": "all"}))


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """A request: its page, action, agent, why it waits, its risk and state with their signs, and its times."""

    href: str
    action: ShownText
    agent: ShownText
    reason: ShownText
    risk: tuple[str, str]
    state: tuple[str, str]
    created: str
    expires: str


@dataclass(frozen=True, slots=True)
class ApprovalListView:
    """The requests."""

    tabs: tuple[TextLink, ...]
    rows: tuple[ApprovalRow, ...]
    changed: tuple[str, ...]
    away: TakeAway


def view(call: PageCall) -> ApprovalListView:
    """The requests that wait, or all.

    Raises:
        HttpError: `permission_denied`.
    """
    approvals, wanted = approvals_of(call), call.query.get("state")
    found = approvals.list(None if wanted == "all" else "pending", limit=_LIMIT)
    here = addresses.address(PATH, state=wanted)
    return ApprovalListView(
        tuple(TextLink(name, addresses.address(PATH, **given), given.get("state") == wanted) for name, given in _TABS),
        tuple(row(approvals, record) for record in found.records),
        found.changed,
        TakeAway((TextLink("JSON", addresses.address(PATH, state=wanted, format="json")),), "application/json", here),
    )


def approvals_of(call: PageCall) -> Approvals:
    """The requests of this server.

    Raises:
        HttpError: `permission_denied`: the caller may not use their namespace.
    """
    plugin = call.service.plugin
    if not call.principal.may_use(plugin.graph.namespace):
        hint = "ask for a token that opens the namespace in which the skills act"
        raise HttpError("permission_denied", "your token does not open the namespace of these requests", hint=hint)
    return plugin.part(AgentActions).approvals


def attention(call: PageCall) -> Iterator[Attention]:
    """The requests that wait for this caller."""
    if "approve" not in call.principal.permissions:
        return
    found = approvals_of(call).list("pending", limit=_LIMIT)
    for record in found.records:
        request = record.request
        about = f"{shown_name(request.agent).plain} asks for"
        more = f"ends {ago(record.expires.isoformat())}, then it is refused"
        kind = {"high": "bad"}.get(request.risk, "warn")
        href = f"{PATH}/{record.id}"
        words = f"{request.risk} risk"
        yield Attention(kind, words, about, shown_name(request.action), href, "approvals", more=more)
    if found.changed:
        number = len(found.changed)
        yield Attention("bad", "changed", f"{number} changed in the store:", "approvals", PATH, "approvals", number)


def row(approvals: Approvals, record: ApprovalRecord) -> ApprovalRow:
    """A request as a row."""
    request, state = record.request, approvals.state_of(record)
    return ApprovalRow(
        f"{PATH}/{record.id}",
        shown_name(request.action),
        shown_name(request.agent),
        shown_text(request.reason),
        (RISKS[request.risk], f"{request.risk} risk"),
        (KINDS[state], state),
        f"{record.created:%Y-%m-%d %H:%M} UTC",
        f"{record.expires:%Y-%m-%d %H:%M} UTC",
    )


def _document(call: PageCall) -> bytes:
    namespace = approvals_of(call) and call.service.plugin.graph.namespace
    wanted = {} if call.query.get("state") == "all" else {"state": "pending"}
    return to_json(list_approvals(call.api(namespace=namespace, **wanted)).document)


PAGE = ExplorerPage(
    PATH,
    "approvals",
    "approvals.html",
    view,
    query=ApprovalListQuery,
    permission="approve",
    is_public=False,
    forms={"json": Form("application/json", _document)},
    label="Approvals",
    section="Trust",
    keys="g w",
    live="waiting",
    place=120,
)
