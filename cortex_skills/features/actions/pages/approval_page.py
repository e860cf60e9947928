"""`/explore/approvals/{id}`: one request with its exact inputs and what it would change; approve and reject it.

Rules kept here:
- what is decided comes first, in a sentence; the page that asks for the token again repeats it (`request_view.py`);
- an action is the operation of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_text
from cortex_skills.doors.explorer.error_pages import with_hint
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Form, PageCall, Repeated
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_operations import approve_request, reject_request
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.request_text import words_of
from cortex_skills.features.actions.pages.approval_list import ApprovalRow, approvals_of, row
from cortex_skills.features.actions.pages.request_view import (
    Sentence,
    ShownChange,
    ShownInput,
    change_of,
    inputs_of,
    sentence_of,
    text_lines,
)
from cortex_skills.features.actions.pages.rule_rows import PATH
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.operations.operation import Operation


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """A request.

    Attributes:
        row: as in the list.
        sentence: what it asks for.
        words: what became of it.
        facts: who asked.
        digests: what identifies it.
        inputs: as they will run.
        change: what it would change.
        result: the lines of the result.
        refusal: why an approval would be refused now.
        waits: whether it can be decided.
        edit: the address of the page that edits it; None where it is not edited here.
        rule: the address of the page that makes a rule of it; None where there are none.
        away: other forms.
    """

    row: ApprovalRow
    sentence: Sentence
    words: ShownText
    facts: tuple[tuple[str, ShownText], ...]
    digests: tuple[tuple[str, ShownText], ...]
    inputs: tuple[ShownInput, ...]
    change: ShownChange | None
    result: tuple[ShownText, ...]
    refusal: ShownText | None
    waits: bool
    edit: str | None
    rule: str | None
    away: TakeAway


def view(call: PageCall) -> ApprovalView:
    """A request.

    Raises:
        CortexError: `approval_not_found`, `approval_changed`.
    """
    approvals, acting = approvals_of(call), call.service.plugin.part(AgentActions)
    record = approvals.show(call.path["id"])
    request, state, here = record.request, approvals.state_of(record), f"{PATH}/{record.id}"
    facts = {
        "For": request.agent,
        **({} if request.asked_by in ("", request.agent) else {"Sent by": request.asked_by}),
        **({"Runs on": request.host_name} if request.host_name and not acting.runs_here(request) else {}),
    }
    digests = {
        "Request": record.id,
        "Digest": record.digest,
        "Action": f"{request.action}, {request.manifest_version}",
        "Skill": request.skill,
        "Namespace": request.namespace,
    }
    refusal = approvals.refusal_of(record)
    can_edit = state == "pending" and refusal is None and acting.runs_here(request)
    return ApprovalView(
        row(call, record),
        sentence_of(acting, request),
        shown_text(words_of(record, state), 2_000),
        _shown(facts),
        _shown(digests),
        inputs_of(acting, request),
        change_of(request),
        text_lines(record.end.text) if record.end else (),
        None if refusal is None else shown_text(with_hint(refusal), 2_000),
        state == "pending",
        f"{here}/edit" if can_edit else None,
        f"{here}/rule" if can_edit and acting.rules.is_on else None,
        TakeAway((TextLink("JSON", f"{here}?format=json"),), "application/json", here),
    )


def _shown(facts: Mapping[str, str]) -> tuple[tuple[str, ShownText], ...]:
    return tuple((label, shown_text(text, OF_HEADING)) for label, text in facts.items())


def _decide(operation: Operation[Any, Any], call: PageCall, fields: Mapping[str, str]) -> str:
    """Approve the request, and run its action; or reject it.

    Raises:
        CortexError: that of the operation; `invalid_arguments`: a rejection has no reason.
    """
    reason = fields.get("reason", "").strip()
    if operation is reject_request and not reason:
        raise CortexError("invalid_arguments", "a rejection has a reason, which the agent reads", hint="give a reason")
    call.api(namespace=call.service.plugin.graph.namespace).operate(operation, approval=call.path["id"], reason=reason)
    return f"{PATH}/{call.path['id']}"


def repeated(call: PageCall, _: Mapping[str, str]) -> Repeated:
    """What is decided, for the page that asks for the token again."""
    record = approvals_of(call).show(call.path["id"])
    acting = call.service.plugin.part(AgentActions)
    change = change_of(record.request)
    lines = [line for each in inputs_of(acting, record.request) for line in (each.name, *each.lines)]
    return Repeated(
        shown_text(sentence_of(acting, record.request).plain, 1_000),
        change.lines if change is not None else tuple(("", line) for line in lines),
    )


def _document(call: PageCall) -> bytes:
    approvals = approvals_of(call)
    return to_json(approvals.view(approvals.show(call.path["id"])))


PAGE = ExplorerPage(
    f"{PATH}/{{id}}",
    "approval",
    "approval.html",
    view,
    permission="approve",
    is_public=False,
    forms={"json": Form("application/json", _document)},
    actions={
        "approve": Action("Approve and run", "approve", partial(_decide, approve_request), repeats=repeated),
        "reject": Action("Reject", "approve", partial(_decide, reject_request), takes_away=True, repeats=repeated),
    },
    pool="slow",
    place=130,
)
