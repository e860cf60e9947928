"""`/explore/approvals/{id}/edit`: other inputs in place of those of a request, which is then decided as any other.

Rules kept here:
- the request with these inputs is a new one, with another preview and digest, which a person sees before it can
  run; the old one is rejected and names it (`approvals.edit`);
- a text is edited as it is, everything else as JSON; an input that is left empty and was not there stays so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_operations import edit_request
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.pages.approval_list import approvals_of
from cortex_skills.features.actions.pages.request_view import INPUTS, Sentence, in_order, manifest_of, sentence_of
from cortex_skills.features.actions.pages.rule_rows import PATH
from cortex_skills.safe_io.strict_json import read_json

_FIELD = "input:"  # and the name of the input
_NOT_OF_INPUTS = ("permission_denied", "approval_resolved")


@dataclass(frozen=True, slots=True)
class EditedInput:
    """An input in the form: the name of its field, its label, its text, and how it is written."""

    field: str
    label: ShownText
    text: str
    rows: int
    help: str


@dataclass(frozen=True, slots=True)
class EditRequestView:
    """The form; `fault` is why the inputs were refused."""

    sentence: Sentence
    inputs: tuple[EditedInput, ...]
    back: str
    fault: ShownText | None = None


def view(call: PageCall) -> EditRequestView:
    """The form with the inputs of the request.

    Raises:
        CortexError: `approval_not_found`, `approval_changed`.
    """
    return _view(call, {})


def _view(call: PageCall, fields: Mapping[str, str], fault: str = "") -> EditRequestView:
    acting, request = call.service.plugin.part(AgentActions), approvals_of(call).show(call.path["id"]).request
    return EditRequestView(
        sentence_of(acting, request),
        tuple(_input(name, request.inputs.get(name), fields) for name in _names(acting, request)),
        f"{PATH}/{call.path['id']}",
        shown_text(fault, 2_000) if fault else None,
    )


def _names(acting: AgentActions, request: ActionRequest) -> list[str]:
    """The inputs of the request, then the others of the manifest."""
    manifest, named = manifest_of(acting, request), in_order(acting, request)
    return [*named, *(name for name in (manifest.inputs if manifest else ()) if name not in named)][:INPUTS]


def _input(name: str, value: object, fields: Mapping[str, str]) -> EditedInput:
    is_text = isinstance(value, str)
    text = str(value) if is_text else "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)
    text = fields.get(_FIELD + name, to_field(text))
    words = "Text" if is_text else "JSON" + ("; empty for none" if value is None else "")
    return EditedInput(_FIELD + name, shown_text(name, OF_HEADING), text, min(20, text.count("\n") + 1), words)


def _edit(call: PageCall, fields: Mapping[str, str]) -> str:
    """Keep the request with these inputs.

    Raises:
        Faulty: a check refuses them.
    """
    request = approvals_of(call).show(call.path["id"]).request
    try:
        inputs = {
            name.removeprefix(_FIELD): _value(request, name.removeprefix(_FIELD), text.replace("\r\n", "\n"))
            for name, text in fields.items()
            if name.startswith(_FIELD) and (text.strip() or name.removeprefix(_FIELD) in request.inputs)
        }
        api = call.api(namespace=call.service.plugin.graph.namespace)
        edited = api.operate(edit_request, approval=call.path["id"], inputs=dict(request.inputs) | inputs)
    except (CortexError, HttpError) as error:
        if error.code in _NOT_OF_INPUTS:
            raise
        raise Faulty(_view(call, fields, f"{error.message}. {error.hint or ''}"), error) from None
    return f"{PATH}/{edited['id']}"


def _value(request: ActionRequest, name: str, text: str) -> Any:
    if isinstance(request.inputs.get(name), str):
        return text
    try:
        return read_json(text)
    except ValueError as error:
        raise CortexError("invalid_arguments", f"{name} is not JSON: {error}", hint="a text has quotes") from None


PAGE = ExplorerPage(
    f"{PATH}/{{id}}/edit",
    "edit-approval",
    "edit_request.html",
    view,
    permission="approve",
    is_public=False,
    actions={"edit": Action("Show what it would do", "approve", _edit)},
    longest_form=2 << 20,
    pool="slow",
    place=131,
)
