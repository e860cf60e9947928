"""`/explore/{namespace}/write`: add a statement, correct one, or state that two names are of one thing.

Rules kept here:
- what would be done is shown as a difference before it is done, and shown again if the form or the graph has changed
  since; it is an assertion of the person (`graph.assert`, `graph.correct`, `graph.merge`);
- the form suggests what shapes and the graph have (`graph.suggest_predicates`, `graph.suggest_values`), with scripts as
  one types, without them after *Suggest*;
- what shapes find in the change (`graph.check_change`) is beside the field that it is about. The graph has no closed
  world, so a violation that the change brings is no refusal: it is accepted by a second act.
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
from cortex_skills.doors.explorer.error_pages import with_hint
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, Form, PageCall, Repeated, not_found
from cortex_skills.doors.explorer.page_queries import WriteQuery
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.explorer.reading import Reading
from cortex_skills.features.explorer.shown_findings import ChangeCheckShown, ShownFinding, acceptance_of, shown_check
from cortex_skills.features.explorer.value_kinds import TYPED, KindOption, kind_of, options, proposed, value_of
from cortex_skills.features.explorer.write_suggestions import (
    FieldChoice,
    asked_of,
    predicate_choices,
    suggested,
    suggestions_form,
    value_choices,
)
from cortex_skills.features.graph.change_checks import CheckedChange, check_change
from cortex_skills.features.graph.corrections import (
    CorrectedStatement,
    correct,
    merge,
    preview_correction,
    preview_merge,
)
from cortex_skills.features.graph.statement_changes import assert_statements

_SHOWN = 200  # statements of a merge
_Does = Literal["add", "correct", "merge"]
_CHANGED = "Nothing was saved: the form or the graph has changed since this was shown. This is what it would do now."
_FIELDS: dict[_Does, tuple[tuple[str, str, str], ...]] = {
    "add": (
        ("subject", "Subject", "A name, such as order:381"),
        ("predicate", "Predicate", "First those of its shapes, then of its class"),
        ("object", "Value", "A text, a number or a name"),
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
    """A field of the form.

    Attributes:
        name, label, help, text: of the field.
        hints: what shapes ask for there.
        choices: what it suggests without scripts.
        findings: what shapes find there.
    """

    name: str
    label: str
    help: str
    text: str
    hints: tuple[ShownText, ...] = ()
    choices: tuple[FieldChoice, ...] = ()
    findings: tuple[ShownFinding, ...] = ()

    @property
    def described_by(self) -> str:
        """The ids of what describes it."""
        parts = [f"h-{self.name}"] if self.name in ("predicate", "object") else []
        return " ".join([*parts, *([f"e-{self.name}"] if self.findings else [])])

    @property
    def lines(self) -> int:
        """How many lines the text has; a field of one line would lose their ends."""
        return self.text.count("\n") + 1

    @property
    def is_invalid(self) -> bool:
        """Whether the change brings a violation there."""
        return any(finding.mark == "bad" for finding in self.findings)


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
        kinds: that the value may have.
        language: of the value, if it is a text in one.
        languages: that are suggested.
        of: the predicate that the kind was proposed for, and that kind.
        triple: the id of the statement that is corrected; empty for none.
        reason: why.
        change: what would be done; None before it is asked for.
        left_out: how many statements of it are not shown.
        shown: the digest of the change, with which it is saved; empty before it is asked for.
        notice: why it is shown again.
        check: what shapes find in it; None before that.
        fault: why it cannot be done.
        back: the page that it belongs to.
        suggests: the address of suggestions.
    """

    does: str
    title: str
    fields: tuple[FormField, ...]
    kinds: tuple[KindOption, ...]
    language: str
    languages: tuple[str, ...]
    of: str
    triple: str
    reason: str
    change: tuple[ShownStatement, ...] | None
    left_out: int
    shown: str
    notice: str
    check: ChangeCheckShown | None
    fault: ShownText | None
    back: str
    suggests: str


def view(call: PageCall) -> WriteView:
    """The form, with what the address gives.

    Raises:
        HttpError: `not_found`.
    """
    query, triple = dict(call.query), call.query.get("triple", "")
    if triple:
        row = call.graph.get_triple(triple)
        if row is None:
            raise not_found("there is no such statement: it may have been withdrawn")
        kind, text, language = kind_of(row["object"], call.graph.names)
        query |= {"subject": row["subject"], "predicate": row["predicate"], "object": text}
        query |= {"kind": kind, "language": language}
    return _view(call, _resolved(call, query))


def _does(fields: Mapping[str, str]) -> _Does:
    return "correct" if fields.get("triple") else "merge" if "merged" in fields else "add"


def _view(
    call: PageCall,
    fields: Mapping[str, str],
    change: list[CorrectedStatement] | None = None,
    checked: CheckedChange | None = None,
    fault: str = "",
    notice: str = "",
) -> WriteView:
    does, reading = _does(fields), Reading.of(call, "write")
    to, names = Addresses(call.graph.namespace), call.graph.names
    subject = fields.get("subject") or fields.get("merged")
    back = (
        to.assertion(fields["triple"]) if fields.get("triple") else to.resource(subject) if subject else to.page("list")
    )
    predicates, values = (None, None) if does == "merge" else suggested(call, fields)
    kind = fields.get("kind", "")
    is_proposed = kind == (proposed(values, names)[0] or TYPED)
    check = None if checked is None else shown_check(checked, _statement(fields), names, reading.display)
    choices = {"predicate": predicate_choices(predicates, reading), "object": value_choices(values, reading)}
    hints = {"predicate": asked_of(predicates, fields), "object": () if values is None else tuple(values["asks"])}
    statements = None if change is None else tuple(_statements(call, change))
    return WriteView(
        does,
        _TITLES[does],
        tuple(
            FormField(
                name,
                label,
                words,
                to_field(fields.get(name, "")),
                tuple(map(shown_text, hints.get(name, ()))),
                choices.get(name, ()),
                () if check is None else check.by_part.get(name, ()),
            )
            for name, label, words in _FIELDS[does]
        ),
        options(values, kind, names) if does != "merge" else (),
        to_field(fields.get("language", "")),
        () if values is None else tuple(map(to_field, values["languages"])),
        to_field(f"{kind} {fields.get('predicate', '').strip()}" if is_proposed else ""),
        fields.get("triple", ""),
        to_field(fields.get("reason", "")),
        None if statements is None else statements[: 2 * _SHOWN],
        0 if change is None else max(0, len(change) - _SHOWN),
        "" if change is None else _digest(change),
        notice,
        check,
        shown_text(fault, 2_000) if fault else None,
        back,
        to.page("write", format="suggestions"),
    )


def _digest(change: list[CorrectedStatement]) -> str:
    lines = sorted(json.dumps(each, sort_keys=True) for each in change)
    return sha256("\n".join(lines).encode()).hexdigest()


def _resolved(call: PageCall, fields: Mapping[str, str]) -> dict[str, str]:
    """What was typed, with the kind and the language that are proposed where none was chosen for this predicate."""
    kind, predicate = fields.get("kind", ""), fields.get("predicate", "").strip()
    was, _, of = fields.get("of", "").partition(" ")
    is_stale = bool(of) and of != predicate and kind == was
    if _does(fields) == "merge" or not predicate or (kind and not is_stale):
        return dict(fields)
    kind, language = proposed(suggested(call, fields)[1], call.graph.names)
    return {**fields, "kind": kind or TYPED, "language": fields.get("language", "") or language}


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


def _change(call: PageCall, fields: Mapping[str, str]) -> list[CorrectedStatement]:
    """What the form would do, without doing it.

    Raises:
        CortexError, GraphError: it cannot be done.
    """
    does = _does(fields)
    if does == "merge":
        found = call.api().operate(preview_merge, **_names(fields))
        is_new = call.graph.get_triple(found["same"]["id"]) is None
        same: CorrectedStatement = {"old": {}, "new": found["same"], "created": is_new}
        return [*found["statements"], *([same] if is_new else [])]
    statement = _statement(fields)
    if does == "correct":
        return [call.api().operate(preview_correction, triple=fields["triple"], **statement)]
    quad = call.graph.quad_of(call.graph.with_names(statement))
    is_new = not call.graph.store.contains(quad)
    return [{"old": {}, "new": call.graph.as_json(quad), "created": is_new}]


def _names(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: fields.get(name, "").strip() for name in ("merged", "kept")}


def _statement(fields: Mapping[str, str]) -> dict[str, Any]:
    named = {part: fields.get(part, "").strip() for part in ("subject", "predicate")}
    return {**named, "object": value_of(fields)}


def _checked(call: PageCall, fields: Mapping[str, str]) -> CheckedChange | None:
    """What shapes find in the change; None of a merge, which is not checked."""
    if _does(fields) == "merge":
        return None
    return call.api().operate(check_change, triple=fields.get("triple", ""), **_statement(fields))


def _suggest(call: PageCall, fields: Mapping[str, str]) -> WriteView:
    return _view(call, _resolved(call, fields))


def _preview(call: PageCall, fields: Mapping[str, str]) -> WriteView:
    fields = _resolved(call, fields)
    try:
        return _view(call, fields, _change(call, fields), _checked(call, fields))
    except (CortexError, GraphError, HttpError) as error:
        raise _faulty(call, fields, error) from None


def _faulty(call: PageCall, fields: Mapping[str, str], error: CortexError | GraphError | HttpError) -> Exception:
    if isinstance(error, GraphError):
        error = HttpError("invalid_arguments", str(error), hint=getattr(error, "hint", "") or "")
    return Faulty(_view(call, fields, fault=with_hint(error)), error)


def _save(call: PageCall, fields: Mapping[str, str]) -> str | WriteView:
    """Do what was shown; where that is not what the form would do now, show it.

    Raises:
        Faulty: it cannot be done, or brings violations that were not accepted.
    """
    fields = _resolved(call, fields)
    does, reason, to = _does(fields), fields.get("reason", "").strip(), Addresses(call.graph.namespace)
    try:
        change = _change(call, fields)
        if does == "add" and fields.get("shown") and not change[0]["created"]:  # sent twice
            return to.assertion(change[0]["new"]["id"])
        if fields.get("shown") != _digest(change):
            return _view(call, fields, change, _checked(call, fields), notice=_CHANGED)
        if does == "merge":
            call.api().operate(merge, **_names(fields), reason=reason)
            return to.resource(_names(fields)["kept"])
        statement, checked = _statement(fields), _checked(call, fields)
        acceptance = "" if checked is None else acceptance_of(checked, statement)
        if acceptance and fields.get("accept") != acceptance:
            raise Faulty(_view(call, fields, change, checked), CortexError("state_conflict", "it is not accepted"))
        if does == "correct":
            done = call.api().operate(correct, triple=fields["triple"], **statement, reason=reason)
            return to.assertion(done["new"]["id"])
        rows = call.api().operate(assert_statements, statements=[statement])
        return to.assertion(rows[0]["id"])
    except (CortexError, GraphError, HttpError) as error:
        raise _faulty(call, fields, error) from None


def _repeated(call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """The difference, for the page that asks for the token again."""
    fields = _resolved(call, fields)
    try:
        change = _change(call, fields)
    except (CortexError, GraphError, HttpError) as error:
        raise _faulty(call, fields, error) from None
    lines = [
        (each.kind, shown_text(f"{each.subject.plain} {each.predicate.plain} {each.object.plain}"))
        for each in _statements(call, change)[: 2 * _SHOWN]
    ]
    accepted = f", which brings {fields['accept'].partition(' (')[0]}" if fields.get("accept") else ""
    return Repeated(shown_text(_TITLES[_does(fields)] + accepted), tuple(lines))


PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/write",
    "write",
    "write.html",
    view,
    query=WriteQuery,
    permission="write",
    is_public=False,
    forms={"suggestions": Form("application/json", suggestions_form)},
    actions={
        "preview": Action("Preview", "write", _preview, form="write", changes=False),
        "suggest": Action("Suggest", "write", _suggest, form="write", changes=False),
        "save": Action("Save", "write", _save, form="write", repeats=_repeated),
    },
    pool="slow",
    place=95,
)
