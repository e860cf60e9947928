"""What the form that writes suggests: for its lists without scripts, and as one types with them.

Rules kept here:
- what is suggested is that of the operations, with the words for a person: where it is from, how usual it is;
- a text for the reader has no invisible characters, and a value for a field has them as codes (`field_text.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cortex_graph import GraphError
from cortex_skills.doors.explorer.display import shown_name, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError
from cortex_skills.features.explorer.reading import Reading
from cortex_skills.features.explorer.value_kinds import kind_of, proposed, words_of
from cortex_skills.features.graph.looking.form_suggestions import (
    SuggestedPredicate,
    SuggestedPredicates,
    SuggestedValues,
    suggest_predicates,
    suggest_values,
)
from cortex_skills.features.graph.text_search import search

_LISTED = 100
_AS_TYPED = 12
_OF_NOTE = 80
_OF_TEXT = 200


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """What a field suggests: the value of the field, what the reader sees, notes, and the kind of a value.

    `kind` and `language` are those of the form; empty for a name.
    """

    value: str
    text: str
    notes: tuple[str, ...] = ()
    kind: str = ""
    language: str = ""

    @property
    def label(self) -> str:
        """Everything that the reader sees, in one line."""
        seen = [self.text] if self.text != self.value else []
        return " · ".join([*seen, *self.notes])


def suggested(
    call: PageCall, fields: Mapping[str, str], text: str = ""
) -> tuple[SuggestedPredicates | None, SuggestedValues | None]:
    """The predicates and the values for what is in the form; None where that is no name, or cannot be read now.

    Args:
        call: of the page.
        fields: of the form.
        text: that the values begin with.
    """
    subject, predicate = (fields.get(name, "").strip() for name in ("subject", "predicate"))
    about = {"subject": subject} if subject else {}
    try:
        predicates = call.api().operate(suggest_predicates, **about, limit=_LISTED)
        values = (
            call.api().operate(suggest_values, **about, predicate=predicate, text=text[:_OF_TEXT])
            if predicate
            else None
        )
    except (CortexError, GraphError):
        return None, None
    return predicates, values


def predicate_choices(found: SuggestedPredicates | None, reading: Reading) -> tuple[FieldChoice, ...]:
    """Predicates for the field."""
    return () if found is None else tuple(_predicate(each, reading) for each in found["predicates"])


def value_choices(found: SuggestedValues | None, reading: Reading) -> tuple[FieldChoice, ...]:
    """Values for the field."""
    return () if found is None else tuple(_values(found, reading))


def asked_of(found: SuggestedPredicates | None, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Which predicates shapes ask for that the subject lacks."""
    rows = [] if found is None else found["predicates"]
    lacking = [each["predicate"] for each in rows if each["required"]]
    typed = fields.get("predicate", "").strip()
    return (f"Shapes ask for {', '.join(lacking[:5])}",) if lacking and not typed else ()


def suggestions_form(call: PageCall) -> bytes:
    """Suggestions for one field, and what is proposed for the value."""
    field, text = call.query.get("field", "predicate"), call.query.get("q", "").strip()[:_OF_TEXT]
    reading = Reading.of(call, "write")
    document: dict[str, Any] = {"suggestions": [], "more": 0}
    if field == "predicate":
        found = call.api().operate(suggest_predicates, **_about(call), text=text, limit=_LISTED)
        choices = [_predicate(each, reading) for each in found["predicates"]]
    elif field == "object":
        _, values = suggested(call, call.query, text)
        choices = list(value_choices(values, reading))
        kind, language = proposed(values, call.graph.names)
        asks = [] if values is None else [shown_text(each).plain for each in values["asks"]]
        document |= {"kind": kind, "kindWords": words_of(kind), "language": language, "asks": asks}
    else:
        choices = list(_names(text, reading))
    document["suggestions"] = [
        {"text": each.text, "notes": each.notes, "value": each.value, "kind": each.kind, "language": each.language}
        for each in choices[:_AS_TYPED]
    ]
    document["more"] = max(0, len(choices) - _AS_TYPED)
    return to_json(document)


def _about(call: PageCall) -> dict[str, str]:
    subject = call.query.get("subject", "").strip()
    return {"subject": subject} if subject else {}


def _predicate(found: SuggestedPredicate, reading: Reading) -> FieldChoice:
    shown = reading.display.name(found["predicate"])
    notes = [shown.plain] if shown.called != shown.plain else []
    if found["source"] == "shape":
        notes.append("shape, required" if found["required"] else "shape")
    if found["of"]:
        notes.append(f"{round(100 * found['subjects'] / found['of']) or 1} % of its class")
    notes += [shown_text(each, _OF_NOTE).plain for each in found["asks"][:1]]
    return FieldChoice(to_field(found["predicate"]), shown.called, tuple(notes))


def _values(found: SuggestedValues, reading: Reading) -> Iterator[FieldChoice]:
    for each in found["values"]:
        kind, text, language = kind_of(each["value"], reading.graph.names)
        notes = ["shape"] if each["source"] == "shape" else []
        if "label" in each:
            yield FieldChoice(
                to_field(text), shown_text(each["label"], _OF_NOTE).plain, (shown_name(text).plain, *notes), kind
            )
            continue
        notes += [f"@{language}"] if language else []
        plain = shown_text(text, _OF_NOTE).plain
        if isinstance(each["value"], Mapping) and "node" in each["value"]:
            plain = reading.display.name(text).plain
        yield FieldChoice(to_field(text), plain, tuple(notes), kind, language)


def _names(text: str, reading: Reading) -> Iterator[FieldChoice]:
    """Names of the graph, for a subject."""
    if not text:
        return
    for hit in search(reading.graph, text, limit=_AS_TYPED).hits:
        name = reading.graph.names.name(hit.node.value)
        if hit.where in ("name", "begins", "text"):
            shown = reading.display.iri(hit.node.value)
            yield FieldChoice(to_field(name), shown.called, (shown.plain,) if shown.called != shown.plain else ())
