"""`/explore/approvals`: the actions that wait for a person, and those that were decided.

Rules kept here:
- a caller needs the permission `approve`, and sees the requests of the namespace whose skills this server runs;
- a request that was changed in the store is named, and has no page;
- several are decided one after the other, each by its operation, and as it was shown: a chosen one is sent
  with its digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.inbox import Attention
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Form, PageCall, Repeated
from cortex_skills.doors.explorer.page_queries import ApprovalListQuery
from cortex_skills.doors.explorer.times import ago
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_operations import approve_request, list_requests, reject_request
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.desk import Approvals
from cortex_skills.features.actions.approvals.queue import ListedApprovals
from cortex_skills.features.actions.approvals.record import ApprovalRecord
from cortex_skills.features.actions.pages.request_view import Sentence, sentence_of
from cortex_skills.features.actions.pages.rule_rows import (
    PATH,
    TAB,
    RuleRow,
    end_chosen,
    repeated_end,
    rule_rows,
    rules_document,
)
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.operations.operation import Operation

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
RISKS = {"low": "none", "medium": "warn", "high": "warn"}
_LIMIT = 100
_CHOSEN = "approval:"  # and the id: the field of a chosen request, with the digest that was shown
_TABS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Waiting", {}),
    ("All", {"state": "all"}),
    ("Rules", {"state": TAB}),
)


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """A request: its page, what it asks for, the field that chooses it, its digest, for whom, and why it waits.

    Attributes:
        risk, state: with their signs.
    """

    href: str
    sentence: Sentence
    field: str
    digest: str
    agent: ShownText
    reason: ShownText
    risk: tuple[str, str]
    state: tuple[str, str]
    created: str
    expires: str


@dataclass(frozen=True, slots=True)
class ApprovalListView:
    """The requests.

    Attributes:
        chooses: whether one waits.
        outcome: what was done with the chosen ones; None if nothing was asked for.
        rules: those that approve; None on the pages of requests.
        has_rules: whether the configuration has rules.
    """

    tabs: tuple[TextLink, ...]
    rows: tuple[ApprovalRow, ...]
    changed: tuple[str, ...]
    away: TakeAway
    chooses: bool = False
    outcome: DecidedChosen | None = None
    rules: tuple[RuleRow, ...] | None = None
    has_rules: bool = False


@dataclass(frozen=True, slots=True)
class DecidedChosen:
    """What was done: the word, the requests with their states now, and those that were refused with the reason."""

    word: str
    done: tuple[tuple[ShownText, str], ...]
    refused: tuple[tuple[ShownText, ShownText], ...]


def view(call: PageCall) -> ApprovalListView:
    """The requests that wait, or all.

    Raises:
        HttpError: `permission_denied`.
    """
    approvals, wanted = approvals_of(call), call.query.get("state")
    is_of_rules = wanted == TAB
    found = ListedApprovals(()) if is_of_rules else approvals.list(None if wanted else "pending", limit=_LIMIT)
    here = addresses.address(PATH, state=wanted)
    rows = tuple(row(call, record) for record in found.records)
    return ApprovalListView(
        tuple(TextLink(name, addresses.address(PATH, **given), given.get("state") == wanted) for name, given in _TABS),
        rows,
        found.changed,
        TakeAway((TextLink("JSON", addresses.address(PATH, state=wanted, format="json")),), "application/json", here),
        any(each.field for each in rows),
        rules=rule_rows(call) if is_of_rules else None,
        has_rules=call.service.plugin.part(AgentActions).rules.is_on,
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
        more = f"for {shown_name(request.agent).plain}, ends {ago(record.expires.isoformat())}, then it is refused"
        label = shown_text(sentence_of(call.service.plugin.part(AgentActions), request).plain)
        href, words = f"{PATH}/{record.id}", f"{request.risk} risk"
        yield Attention("warn", words, "", label, href, "approvals", more=more)
    if found.changed:
        number = len(found.changed)
        yield Attention("bad", "changed", f"{number} changed in the store:", "approvals", PATH, "approvals", number)


def row(call: PageCall, record: ApprovalRecord) -> ApprovalRow:
    """A request as a row."""
    request, state = record.request, approvals_of(call).state_of(record)
    return ApprovalRow(
        f"{PATH}/{record.id}",
        sentence_of(call.service.plugin.part(AgentActions), request),
        f"{_CHOSEN}{record.id}" if state == "pending" else "",
        record.digest,
        shown_name(request.agent),
        shown_text(request.reason),
        (RISKS[request.risk], f"{request.risk} risk"),
        (KINDS[state], state),
        f"{record.created:%Y-%m-%d %H:%M} UTC",
        f"{record.expires:%Y-%m-%d %H:%M} UTC",
    )


def _decide_chosen(
    operation: Operation[Any, Any], word: str, call: PageCall, fields: Mapping[str, str]
) -> ApprovalListView:
    """Decide about each chosen request.

    Raises:
        CortexError: `invalid_arguments`: none is chosen, or a rejection has no reason.
    """
    reason = fields.get("reason", "").strip()
    if operation is reject_request and not reason:
        raise CortexError("invalid_arguments", "a rejection has a reason, which the agent reads", hint="give a reason")
    api, done, refused = call.api(namespace=call.service.plugin.graph.namespace), [], []
    for record, digest in _chosen(call, fields):
        words = shown_text(sentence_of(call.service.plugin.part(AgentActions), record.request).plain)
        try:
            if record.digest != digest:
                raise CortexError("approval_changed", "it is not the one that was shown")
            done.append((words, api.operate(operation, approval=record.id, reason=reason)["state"]))
        except (CortexError, HttpError) as error:
            refused.append((words, shown_text(error.message)))
    return replace(view(call), outcome=DecidedChosen(word, tuple(done), tuple(refused)))


def _chosen(call: PageCall, fields: Mapping[str, str]) -> list[tuple[ApprovalRecord, str]]:
    named = [(name.removeprefix(_CHOSEN), digest) for name, digest in fields.items() if name.startswith(_CHOSEN)]
    if not named:
        raise CortexError("invalid_arguments", "no request is chosen", hint="check some in the list")
    approvals = approvals_of(call)
    return [(approvals.show(approval_id), digest) for approval_id, digest in named]


def _repeated(call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """The chosen requests, for the page that asks for the token again."""
    acting, chosen = call.service.plugin.part(AgentActions), _chosen(call, fields)
    sentences = [("", shown_text(sentence_of(acting, record.request).plain)) for record, _ in chosen]
    return Repeated(shown_text(f"{len(chosen)} request{'' if len(chosen) == 1 else 's'}"), tuple(sentences))


def _document(call: PageCall) -> bytes:
    namespace = approvals_of(call) and call.service.plugin.graph.namespace
    if call.query.get("state") == TAB:
        return rules_document(call)
    wanted = {} if call.query.get("state") == "all" else {"state": "pending"}
    return to_json(call.api(namespace=namespace).operate(list_requests, **wanted))


PAGE = ExplorerPage(
    PATH,
    "approvals",
    "approvals.html",
    view,
    query=ApprovalListQuery,
    permission="approve",
    is_public=False,
    forms={"json": Form("application/json", _document)},
    actions={
        "approve": Action(
            "Approve and run",
            "approve",
            partial(_decide_chosen, approve_request, "approved"),
            form="choose",
            repeats=_repeated,
        ),
        "reject": Action(
            "Reject",
            "approve",
            partial(_decide_chosen, reject_request, "rejected"),
            form="choose",
            takes_away=True,
            repeats=_repeated,
        ),
        "end-rule": Action("End the rule", "approve", end_chosen, takes_away=True, repeats=repeated_end),
    },
    pool="slow",
    label="Approvals",
    section="Trust",
    keys="g w",
    live="waiting",
    place=120,
)
