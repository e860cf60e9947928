"""`/explore/{namespace}/write`: add a statement, correct one, or state that two names are of one thing.

Rules kept here:
- what would be done is shown as a difference before it is done, and shown again if the form or the graph has changed
  since; it is an assertion of the person (`graph.assert`, `graph.correct`, `graph.merge`);
- the form knows the predicates that the graph has, the most frequent first, and what its values are like; nothing is
  counted for the page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from cortex_graph import GraphError
from cortex_skills.doors.explorer.addresses import ROOT, Addresses
from cortex_skills.doors.explorer.display import Display, ShownTerm, ShownText, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall, Repeated
from cortex_skills.doors.explorer.page_queries import WriteQuery
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.corrections import (
    CorrectedStatement,
    correct,
    merge,
    preview_correction,
    preview_merge,
)
from cortex_skills.features.graph.statement_changes import assert_statements
from cortex_skills.safe_io.lenient_values import json_or_text

_PREDICATES = 100
_SHOWN = 200  # statements of a merge
_Does = Literal["add", "correct", "merge"]
_CHANGED = "Nothing was saved: the form or the graph has changed since this was shown. This is what it would do now."
_FIELDS: dict[_Does, tuple[tuple[str, str, str], ...]] = {
    "add": (
        ("subject", "Subject", "A name, such as order:381"),
        ("predicate", "Predicate", "As the graph has them"),
        ("object", "Value", "A number, true, a text, or a name with the box below"),
    ),
    "merge": (
        ("merged", "This name", "Its statements move, and it stays as the same as the other one"),
        ("kept", "Is the same as", "The name that is kept"),
    ),
}
_FIELDS["correct"] = _FIELDS["add"]
_TITLES: dict[_Does, str] = {"add": "Add a statement", "correct": "Correct a statement", "merge": "Merge two names"}


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of the form: its name, label, help and text."""

    name: str
    label: str
    help: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownStatement:
    """A line of the difference: its kind, and the terms of the statement."""

    kind: str
    subject: ShownTerm
    predicate: ShownTerm
    object: ShownTerm


@dataclass(frozen=True, slots=True)
class WriteView:
    """The form.

    Attributes:
        does: what it does, and its title.
        fields: of the form.
        is_name: whether the value is a name.
        predicates: those that the graph has.
        triple: the id of the statement that is corrected; empty for none.
        reason: why.
        change: what would be done; None before it is asked for.
        left_out: how many statements of it are not shown.
        shown: the digest of the change, with which it is saved; empty before it is asked for.
        notice: why it is shown again.
        fault: why it cannot be done.
        back: the page that it belongs to.
    """

    does: str
    title: str
    fields: tuple[FormField, ...]
    is_name: bool
    predicates: tuple[str, ...]
    triple: str
    reason: str
    change: tuple[ShownStatement, ...] | None
    left_out: int
    shown: str
    notice: str
    fault: ShownText | None
    back: str


def view(call: PageCall) -> WriteView:
    """The form, with what the address gives.

    Raises:
        HttpError: `not_found`.
    """
    query, triple = dict(call.query), call.query.get("triple", "")
    if triple and (row := call.graph.get_triple(triple)) is not None:
        value = row["object"]
        is_name = isinstance(value, dict) and "node" in value
        is_text = isinstance(value, str) and json_or_text(value) == value
        text = value["node"] if is_name else value if is_text else json.dumps(value, ensure_ascii=False)
        query |= {"subject": row["subject"], "predicate": row["predicate"], "object": text}
        query |= {"isName": "yes"} if is_name else {}
    return _view(call, query)


def _does(fields: Mapping[str, str]) -> _Does:
    return "correct" if fields.get("triple") else "merge" if "merged" in fields else "add"


def _view(
    call: PageCall,
    fields: Mapping[str, str],
    change: list[CorrectedStatement] | None = None,
    fault: str = "",
    notice: str = "",
) -> WriteView:
    does, graph = _does(fields), call.graph
    to = Addresses(graph.namespace)
    subject = fields.get("subject") or fields.get("merged")
    back = (
        to.assertion(fields["triple"]) if fields.get("triple") else to.resource(subject) if subject else to.page("list")
    )
    statements = None if change is None else tuple(_statements(call, change))
    return WriteView(
        does,
        _TITLES[does],
        tuple(FormField(name, label, words, to_field(fields.get(name, ""))) for name, label, words in _FIELDS[does]),
        bool(fields.get("isName")),
        tuple(graph.names.name(node.value) for node in graph.frequent_predicates()[:_PREDICATES]),
        fields.get("triple", ""),
        to_field(fields.get("reason", "")),
        None if statements is None else statements[: 2 * _SHOWN],
        0 if change is None else max(0, len(change) - _SHOWN),
        "" if change is None else _digest(change),
        notice,
        shown_text(fault, 2_000) if fault else None,
        back,
    )


def _digest(change: list[CorrectedStatement]) -> str:
    lines = sorted(json.dumps(each, sort_keys=True) for each in change)
    return sha256("\n".join(lines).encode()).hexdigest()


def _statements(call: PageCall, change: list[CorrectedStatement]) -> list[ShownStatement]:
    display = Display(call.graph.names, Addresses(call.graph.namespace))
    lines = []
    for each in change:
        rows = (("gone", each.get("old")), ("add", each["new"]))
        for kind, row in rows:
            if row:
                quad = call.graph.quad_of({part: row[part] for part in ("subject", "predicate", "object")})
                terms = (display.term(quad.subject), display.term(quad.predicate), display.term(quad.object))
                lines.append(ShownStatement(kind, *terms))
    return lines


def _object(fields: Mapping[str, str]) -> Any:
    text = fields.get("object", "").strip()
    if not text:
        raise CortexError("invalid_arguments", "the statement has no value", hint="type one")
    return {"node": text} if fields.get("isName") else json_or_text(text)


def _change(call: PageCall, fields: Mapping[str, str]) -> list[CorrectedStatement]:
    """What the form would do, without doing it.

    Raises:
        CortexError, GraphError: it cannot be done.
    """
    does = _does(fields)
    if does == "merge":
        given = {"merged": fields.get("merged", "").strip(), "kept": fields.get("kept", "").strip()}
        return call.api().operate(preview_merge, **given)["statements"]
    if does == "correct":
        return [call.api().operate(preview_correction, **_correction(fields))]
    quad = call.graph.quad_of(call.graph.with_names(_statement(fields)))
    is_new = not call.graph.store.contains(quad)
    return [{"old": {}, "new": call.graph.as_json(quad), "created": is_new}]


def _statement(fields: Mapping[str, str]) -> dict[str, Any]:
    named = {part: fields.get(part, "").strip() for part in ("subject", "predicate")}
    return {**named, "object": _object(fields)}


def _correction(fields: Mapping[str, str]) -> dict[str, Any]:
    return {"triple": fields["triple"], **_statement(fields)}


def _preview(call: PageCall, fields: Mapping[str, str]) -> WriteView:
    try:
        return _view(call, fields, _change(call, fields))
    except (CortexError, GraphError, HttpError) as error:
        raise _faulty(call, fields, error) from None


def _faulty(call: PageCall, fields: Mapping[str, str], error: CortexError | GraphError | HttpError) -> Exception:
    if isinstance(error, GraphError):
        error = HttpError("invalid_arguments", str(error), hint=getattr(error, "hint", "") or "")
    return Faulty(_view(call, fields, fault=f"{error.message}. {error.hint or ''}"), error)


def _save(call: PageCall, fields: Mapping[str, str]) -> str | WriteView:
    """Do what was shown; where that is not what the form would do now, show it.

    Raises:
        Faulty: it cannot be done.
    """
    does, reason, to = _does(fields), fields.get("reason", "").strip(), Addresses(call.graph.namespace)
    try:
        change = _change(call, fields)
        if fields.get("shown") != _digest(change):
            return _view(call, fields, change, notice=_CHANGED)
        if does == "merge":
            given = {"merged": fields.get("merged", "").strip(), "kept": fields.get("kept", "").strip()}
            call.api().operate(merge, **given, reason=reason)
            return to.resource(given["kept"])
        if does == "correct":
            return to.assertion(call.api().operate(correct, **_correction(fields), reason=reason)["new"]["id"])
        rows = call.api().operate(assert_statements, statements=[_statement(fields)])
        return to.assertion(rows[0]["id"])
    except (CortexError, GraphError, HttpError) as error:
        raise _faulty(call, fields, error) from None


def _repeated(call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """The difference, for the page that asks for the token again."""
    try:
        change = _change(call, fields)
    except (CortexError, GraphError, HttpError) as error:
        raise _faulty(call, fields, error) from None
    lines = [
        (each.kind, shown_text(f"{each.subject.plain} {each.predicate.plain} {each.object.plain}"))
        for each in _statements(call, change)[: 2 * _SHOWN]
    ]
    return Repeated(shown_text(_TITLES[_does(fields)]), tuple(lines))


PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/write",
    "write",
    "write.html",
    view,
    query=WriteQuery,
    permission="write",
    is_public=False,
    actions={
        "preview": Action("Preview", "write", _preview, form="write", changes=False),
        "save": Action("Save", "write", _save, form="write", repeats=_repeated),
    },
    pool="slow",
    place=95,
)
