"""`/explore/approvals/{id}`: one request with its exact inputs and what it would change; approve and reject it.

Rules kept here:
- what is shown is what runs: the id in the address is a digest of the whole request. An input that is too long to be
  shown whole has its length and its SHA-256;
- an action is the operation of the same name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_text
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_operations import approve_request, reject_request
from cortex_skills.features.actions.approvals.request_text import words_of
from cortex_skills.features.actions.pages.approval_list import PATH, ApprovalRow, approvals_of, row
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.operations.operation import Operation

_INPUTS = 50
_LINES = 400  # of a preview
_CHARACTERS = 200  # of a line


@dataclass(frozen=True, slots=True)
class ShownInput:
    """An input: its name, its lines, and what is left out of them, in words."""

    name: ShownText
    lines: tuple[ShownText, ...]
    left_out: str


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """A request.

    Attributes:
        row: as in the list.
        facts: the other facts, with their labels.
        words: what became of it.
        inputs: as they will run.
        preview: the lines of what it would change, with their kinds.
        preview_left_out: how many lines are left out.
        result: the lines of the result.
        refusal: why an approval would be refused now.
        waits: whether it can be decided.
        away: other forms.
    """

    row: ApprovalRow
    facts: tuple[tuple[str, ShownText], ...]
    words: ShownText
    inputs: tuple[ShownInput, ...]
    preview: tuple[tuple[str, ShownText], ...]
    preview_left_out: int
    result: tuple[ShownText, ...]
    refusal: ShownText | None
    waits: bool
    away: TakeAway


def view(call: PageCall) -> ApprovalView:
    """A request.

    Raises:
        CortexError: `approval_not_found`, `approval_changed`.
    """
    approvals = approvals_of(call)
    record = approvals.show(call.path["id"])
    request, state, here = record.request, approvals.state_of(record), f"{PATH}/{record.id}"
    facts = {
        "Agent": request.agent,
        **({} if request.asked_by in ("", request.agent) else {"Sent by": request.asked_by}),
        "Skill": request.skill,
        **({"Host": request.host_name} if request.host else {}),
        "Namespace": request.namespace,
        "Action": f"{request.action}, {request.manifest_version}",
        "Id": record.id,
        "Digest": record.digest,
    }
    refusal = approvals.refusal_of(record)
    preview = request.preview.split("\n") if request.preview else []
    result = record.end.text.split("\n") if record.end else []
    return ApprovalView(
        row(approvals, record),
        tuple((label, shown_text(text, OF_HEADING)) for label, text in facts.items()),
        shown_text(words_of(record, state), 2_000),
        tuple(_input(name, value) for name, value in list(request.inputs.items())[:_INPUTS]),
        tuple((_kind(line), shown_text(line, _CHARACTERS)) for line in preview[:_LINES]),
        max(0, len(preview) - _LINES),
        tuple(shown_text(line, _CHARACTERS) for line in result[:_LINES]),
        None if refusal is None else shown_text(f"{refusal.message}. {refusal.hint}", 2_000),
        state == "pending",
        TakeAway((TextLink("JSON", f"{here}?format=json"),), "application/json", here),
    )


def _input(name: str, value: object) -> ShownInput:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    lines = text.split("\n")
    shown = tuple(shown_text(line, _CHARACTERS) for line in lines[:_LINES])
    left_out = ""
    if len(lines) > _LINES or any(line.is_clipped for line in shown):
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        left_out = f"{len(text):,} characters in {len(lines):,} lines, SHA-256 {digest}"
    return ShownInput(shown_text(name, OF_HEADING), shown, left_out)


def _kind(line: str) -> str:
    return {"+": "add", "-": "gone"}.get(line[:1], "")


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
        "approve": Action("Approve and run", "approve", partial(_decide, approve_request)),
        "reject": Action("Reject", "approve", partial(_decide, reject_request), takes_away=True),
    },
    pool="slow",
    place=130,
)
