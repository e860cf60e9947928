"""The kinds of a value in the form that writes: what is chosen, what that makes of a text, and what is proposed.

Rules kept here:
- what is chosen is what is written: a text of the kind `text` is that text, also if it looks like a number. A value as
  it is typed (`typed`) is a number, `true`, or a text, as on the command line;
- where nothing is chosen, the kind is what shapes ask for, else what is in use, else as it is typed. A form that was
  answered has chosen it, so that what was seen is what is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.looking.form_suggestions import SuggestedValues
from cortex_skills.safe_io.lenient_values import json_or_text

TYPED, NODE, TEXT, LANGUAGE = "typed", "node", "text", "language"
_XSD, _RDF = WELL_KNOWN_VOCABULARIES["xsd"], WELL_KNOWN_VOCABULARIES["rdf"]
_OWN = {
    "": "As the predicate has it",
    TYPED: "As it is typed: a number, true, or a text",
    NODE: "A name",
    TEXT: "A text",
    LANGUAGE: "A text in a language",
}
_USUAL = tuple(
    f"{_XSD}{name}"
    for name in ("integer", "decimal", "double", "boolean", "date", "dateTime", "time", "gYear", "anyURI")
)
_OF_OTHERS = {f"{_XSD}string": TEXT, f"{_RDF}langString": LANGUAGE, f"{_RDF}dirLangString": LANGUAGE}


@dataclass(frozen=True, slots=True)
class KindOption:
    """A kind that can be chosen: its value in the form, its words, and whether it is."""

    value: str
    words: str
    is_chosen: bool


def kind_of(value: Any, names: Names) -> tuple[str, str, str]:
    """The kind, the text and the language of a value in the form.

    Args:
        value: as the graph has it.
        names: of the namespace.
    """
    if isinstance(value, str):
        return TEXT, value, ""
    if not isinstance(value, Mapping) or "direction" in value:  # which has no field
        return TYPED, json.dumps(value, ensure_ascii=False), ""
    if "node" in value:
        return NODE, value["node"], ""
    if "language" in value:
        return LANGUAGE, value["value"], value["language"]
    return _written(names.name(value["datatype"]), names), value["value"], ""


def value_of(fields: Mapping[str, str]) -> Any:
    """The value that a form stands for.

    Raises:
        CortexError: `invalid_arguments`: there is none.
    """
    text, kind = fields.get("object", ""), fields.get("kind", "")
    if not text.strip():
        raise CortexError("invalid_arguments", "the statement has no value", hint="type one")
    if kind in (TYPED, ""):
        return json_or_text(text.strip())
    if kind == NODE:
        return {"node": text.strip()}
    if kind == TEXT:
        return text
    if kind == LANGUAGE:
        language = fields.get("language", "").strip()
        if not language:
            hint = "type its tag, such as `en`, or choose a text without one"
            raise CortexError("invalid_arguments", "the text has no language", hint=hint)
        return {"value": text, "language": language}
    return {"value": text.strip() if kind.startswith(_XSD) else text, "datatype": kind}


def proposed(found: SuggestedValues | None, names: Names) -> tuple[str, str]:
    """The kind and the language that are proposed for a value; empty where nothing is known."""
    for kind in () if found is None else found["kinds"]:
        chosen = NODE if kind["node"] else _written(kind["kind"], names)
        language = found["languages"][0] if found is not None and chosen == LANGUAGE and found["languages"] else ""
        return chosen, language
    return "", ""


def options(found: SuggestedValues | None, chosen: str, names: Names) -> tuple[KindOption, ...]:
    """The kinds that can be chosen: those that are proposed, then the usual ones.

    Args:
        found: what is suggested for the value; None for nothing.
        chosen: the kind that is.
        names: of the namespace.
    """
    suggested = [] if found is None else [each["kind"] for each in found["kinds"] if not each["node"]]
    written = [*_OWN, *(_written(name, names) for name in suggested), *_USUAL, *([chosen] if chosen else [])]
    return tuple(KindOption(each, words_of(each), each == chosen) for each in dict.fromkeys(written))


def words_of(kind: str) -> str:
    """A kind in words."""
    return _OWN.get(kind) or (f"xsd:{kind.removeprefix(_XSD)}" if kind.startswith(_XSD) else kind)


def _written(datatype: str, names: Names) -> str:
    """The kind of a datatype, by its name."""
    iri = names.node(datatype).value
    return _OF_OTHERS.get(iri, iri)
