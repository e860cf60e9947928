"""Values on the wire and their RDF terms in the graph.

Rules kept here:
- a string, an integer of up to 4,300 digits, a number and a boolean are `xsd:string`, `xsd:integer`, `xsd:double` and
  `xsd:boolean`; `1`, `1.0`, `True` and `"1"` are four different terms;
- `{"node": name}` is the IRI of a name (`names.py`); `{"value": text, "datatype": iri}` is any typed literal, where the
  IRI may be a name of a vocabulary (`xsd:date`), and `{"value": text, "language": tag}` a language-tagged string (with
  `"direction": "ltr" | "rtl"` if it has one); `{"value": text}` is the string;
- a value that is read is JSON, and gives the same term when it is written. So a literal is read as a plain value only
  when that value is written exactly like it; all others (`NaN`, `INF`, `"abc"^^xsd:integer`, decimals, dates) are read
  as `{"value", "datatype"}`. Python's `nan` and `inf` may be written;
- every Unicode string is preserved, NUL and control characters included; lone surrogates are refused;
- language tags are case-insensitive (BCP 47) and stored in lower case.
"""

from __future__ import annotations

from typing import Any

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from cortex_graph.exceptions import GraphUnavailable, invalid
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES, Names

_XSD = WELL_KNOWN_VOCABULARIES["xsd"]
_RDF = WELL_KNOWN_VOCABULARIES["rdf"]
_STRING = f"{_XSD}string"
_INTEGER = f"{_XSD}integer"
_DOUBLE = f"{_XSD}double"
_BOOLEAN = f"{_XSD}boolean"
_INTEGER_TYPE = NamedNode(_INTEGER)
_LANGUAGE_TYPES = frozenset({f"{_RDF}langString", f"{_RDF}dirLangString"})
_64_BITS = range(-(2**63), 2**63)
_FORMS = frozenset(
    frozenset(form)
    for form in (
        {"node"},
        {"value"},
        {"value", "datatype"},
        {"value", "language"},
        {"value", "language", "direction"},
    )
)
_FORMS_HINT = "give a string, a number, a boolean, {node}, {value, datatype} or {value, language}, with strings in them"

Term = NamedNode | Literal


def to_term(value: Any, names: Names, field: str = "object") -> Term:
    """Return the RDF term of a value.

    Args:
        value: a string, number or boolean, or a mapping as in the rules of this module.
        names: maps the names of nodes to IRIs.
        field: the name of the value in errors.

    Raises:
        InvalidArguments: the value has no RDF term.
    """
    if isinstance(value, str):
        return _literal(field, str(value))
    if isinstance(value, bool | float):
        return Literal(value)
    if isinstance(value, int):
        return Literal(int(value)) if value in _64_BITS else _long_integer(value, field)
    if isinstance(value, dict):
        return _from_mapping(value, names, field)
    raise invalid(field, f"must not be of type {type(value).__name__}", hint=_FORMS_HINT)


def from_term(term: NamedNode | BlankNode | Literal | Triple, names: Names) -> Any:
    """Return the JSON-ready value of a term; `to_term` maps it back to the same term.

    Raises:
        GraphUnavailable: the term is a blank node or a triple, which has no name.
    """
    if type(term) is Literal:
        datatype = term.datatype.value
        text = term.value
        if datatype == _STRING:
            return text
        if datatype in _LANGUAGE_TYPES:
            value = {"value": text, "language": term.language}
            return value | {"direction": term.direction.value} if term.direction else value
        plain = _plain(text, datatype)
        return {"value": text, "datatype": datatype} if plain is None else plain
    return {"node": name_of(term, names)}


def name_of(term: NamedNode | BlankNode | Literal | Triple, names: Names) -> str:
    """Return the name of a node.

    Raises:
        GraphUnavailable: it is a blank node or a triple, which has no name.
    """
    if type(term) is NamedNode:
        return names.name(term.value)
    raise GraphUnavailable(
        f"the graph of {names.namespace} holds {term}, which has no name",
        hint="export the graph and import it again: an import gives every blank node a name",
    )


def _plain(text: str, datatype: str) -> int | float | bool | None:
    """Return the value whose literal has exactly this text, if there is one and JSON can represent it."""
    if datatype == _BOOLEAN:
        return {"true": True, "false": False}.get(text)
    try:
        if datatype == _INTEGER:
            integer = int(text)
            return integer if str(integer) == text else None
        if datatype == _DOUBLE and text not in ("NaN", "INF", "-INF"):
            number = float(text)
            return number if Literal(number).value == text else None
    except ValueError:
        pass
    return None


def _from_mapping(value: dict[Any, Any], names: Names, field: str) -> Term:
    if frozenset(value) not in _FORMS or not all(isinstance(part, str) for part in value.values()):
        raise invalid(field, f"is a mapping of an unknown form ({', '.join(map(str, value))})", hint=_FORMS_HINT)
    if "node" in value:
        return names.node(value["node"], f"{field}.node")
    text = value["value"]
    if "datatype" in value:
        datatype = names.datatype(value["datatype"], f"{field}.datatype")
        if datatype.value in _LANGUAGE_TYPES:
            raise invalid(
                f"{field}.datatype", "is the datatype of language-tagged strings", hint="give `language` instead"
            )
        return _literal(field, text, datatype=datatype)
    if "language" not in value:
        return _literal(field, text)
    direction = value.get("direction")
    if direction not in (None, "ltr", "rtl"):
        raise invalid(f"{field}.direction", f"is {direction!r}", hint="`ltr` or `rtl`")
    return _literal(field, text, language=value["language"], direction=BaseDirection(direction) if direction else None)


def _literal(field: str, text: str, **kind: Any) -> Literal:
    try:
        return Literal(text, **kind)
    except ValueError as error:
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise invalid(field, "holds a lone surrogate", hint="strings are Unicode text") from None
        what = f"{kind.get('language')!r} is not a language tag: {error}"
        raise invalid(f"{field}.language", what, hint="a BCP 47 tag such as `en`") from None


def _long_integer(value: int, field: str) -> Literal:
    try:
        return Literal(str(value), datatype=_INTEGER_TYPE)
    except ValueError as error:
        raise invalid(
            field, f"is too long an integer: {error}", hint="give its digits: {value, datatype: xsd:integer's IRI}"
        ) from None
