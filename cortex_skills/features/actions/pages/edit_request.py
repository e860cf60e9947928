"""`/explore/approvals/{id}/edit`: other inputs in place of those of a request, which is then decided as any other.

Rules kept here:
- what the inputs would do is shown before anything is kept (`approvals.preview_edit`); it is shown again if that has
  changed since;
- the request with them is a new one, with another preview and digest; the old one is rejected and names it
  (`approvals.edit`). It is approved with the same button, or waits;
- a text is edited as it is, everything else as JSON; an input that is left empty and was not there stays so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_text
from cortex_skills.doors.explorer.error_pages import with_hint
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall, Repeated
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.operations import ApiCall
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_operations import PreviewedEdit, approve_request, edit_request, preview_edit
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.pages.approval_list import approvals_of
from cortex_skills.features.actions.pages.request_view import (
    INPUTS,
    Sentence,
    ShownChange,
    ShownInput,
    change_of,
    in_order,
    inputs_of,
    manifest_of,
    sentence_of,
)
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
    """The form; `fault` is why the inputs were refused.

    Attributes:
        shown: the digest of what is shown, with which it is kept; empty before it was asked for.
        change: what it would change; None for nothing to show.
        runs: the inputs as they would run.
        typed: the fields that are sent with the decision.
    """

    sentence: Sentence
    inputs: tuple[EditedInput, ...]
    back: str
    fault: ShownText | None = None
    shown: str = ""
    change: ShownChange | None = None
    runs: tuple[ShownInput, ...] = ()
    typed: tuple[tuple[str, str], ...] = ()


def view(call: PageCall) -> EditRequestView:
    """The form with the inputs of the request.

    Raises:
        CortexError: `approval_not_found`, `approval_changed`.
    """
    return _view(call, {})


def _view(
    call: PageCall, fields: Mapping[str, str], fault: str = "", found: PreviewedEdit | None = None
) -> EditRequestView:
    acting, request = call.service.plugin.part(AgentActions), approvals_of(call).show(call.path["id"]).request
    edited = request
    if found is not None:
        edited = replace(request, inputs=found["inputs"], preview=found["preview"])
    return EditRequestView(
        sentence_of(acting, edited),
        tuple(_input(name, request.inputs.get(name), fields) for name in _names(acting, request)),
        f"{PATH}/{call.path['id']}",
        shown_text(fault, 2_000) if fault else None,
        "" if found is None else found["shown"],
        None if found is None else change_of(edited),
        () if found is None else inputs_of(acting, edited),
        tuple((name, to_field(text)) for name, text in fields.items() if name.startswith(_FIELD)),
    )


def _names(acting: AgentActions, request: ActionRequest) -> list[str]:
    """The inputs of the request, then the others of the manifest."""
    manifest, named = manifest_of(acting, request), in_order(acting, request)
    return [*named, *(name for name in (manifest.inputs if manifest else ()) if name not in named)][:INPUTS]


def _input(name: str, value: object, fields: Mapping[str, str]) -> EditedInput:
    is_text = isinstance(value, str)
    text = str(value) if is_text else "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)
    text = to_field(fields.get(_FIELD + name, text))
    words = "Text" if is_text else "JSON" + ("; empty for none" if value is None else "")
    return EditedInput(_FIELD + name, shown_text(name, OF_HEADING), text, min(20, text.count("\n") + 1), words)


def _given(call: PageCall, fields: Mapping[str, str]) -> dict[str, Any]:
    """The request, and the inputs that were typed.

    Raises:
        CortexError: `approval_not_found`, `approval_changed`; `invalid_arguments`: an input is not JSON.
    """
    request = approvals_of(call).show(call.path["id"]).request
    inputs = {
        name.removeprefix(_FIELD): _value(request, name.removeprefix(_FIELD), text)
        for name, text in fields.items()
        if name.startswith(_FIELD) and (text.strip() or name.removeprefix(_FIELD) in request.inputs)
    }
    return {"approval": call.path["id"], "inputs": dict(request.inputs) | inputs}


def _api(call: PageCall) -> ApiCall:
    return call.api(namespace=call.service.plugin.graph.namespace)


def _preview(call: PageCall, fields: Mapping[str, str], fault: str = "") -> EditRequestView:
    """What the request would do with these inputs.

    Raises:
        Faulty: a check refuses them.
    """
    try:
        found: PreviewedEdit = _api(call).operate(preview_edit, **_given(call, fields))
    except (CortexError, HttpError) as error:
        raise _faulty(call, fields, error) from None
    return _view(call, fields, fault, found)


def _faulty(call: PageCall, fields: Mapping[str, str], error: CortexError | HttpError) -> Exception:
    """The form again with why it was refused; the error itself where no other inputs would help."""
    if error.code in _NOT_OF_INPUTS:
        return error
    return Faulty(_view(call, fields, with_hint(error)), error)


def _edit(call: PageCall, fields: Mapping[str, str]) -> str:
    """Keep the request with these inputs.

    Raises:
        Faulty: a check refuses them; `approval_changed`: they would do something else than was shown.
    """
    given = {"shown": fields["shown"]} if fields.get("shown") else {}
    try:
        edited = _api(call).operate(edit_request, **_given(call, fields), **given)
    except (CortexError, HttpError) as error:
        if error.code != "approval_changed":
            raise _faulty(call, fields, error) from None
        raise Faulty(_preview(call, fields, with_hint(error)), error) from None
    return f"{PATH}/{edited['id']}"


def _approve(call: PageCall, fields: Mapping[str, str]) -> object:
    """Keep the request with these inputs as they were shown, and approve it.

    Raises:
        Faulty: as `_edit`.
        CortexError: as `approvals.approve`: the request with these inputs waits.
    """
    if not fields.get("shown"):
        return _preview(call, fields)
    edited = _edit(call, fields)
    _api(call).operate(approve_request, approval=edited.rpartition("/")[2], reason=fields.get("reason", "").strip())
    return edited


def _repeated(call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """What is decided, for the page that asks for the token again."""
    found = _preview(call, fields)
    return Repeated(shown_text(found.sentence.plain, 1_000), () if found.change is None else found.change.lines)


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
    actions={
        "preview": Action("Show what it would do", "approve", _preview, form="edit", changes=False),
        "approve": Action("Approve and run", "approve", _approve, form="edit", repeats=_repeated),
        "edit": Action("Keep it as a request", "approve", _edit, form="edit", repeats=_repeated),
    },
    longest_form=2 << 20,
    pool="slow",
    place=131,
)
