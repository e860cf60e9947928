"""The core rules, which every proved statement must obey.

Rules kept here:
- a rule is a pure function of the statement; it reads no graph, so its cost is constant;
- `DESCRIPTION` specifies the rules, and its SHA-256 identifies this version of them in every proof. A change of a rule
  must change the description and the version;
- a literal is checked against its datatype (XML Schema 1.1 Part 2); unknown datatypes are accepted.
"""

from __future__ import annotations

import hashlib
import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_skills.features.proofs.logic.findings import MAX_IRI, RuleFinding, Severity

if TYPE_CHECKING:
    from cortex_graph.naming.names import Names

NAME = "core"
VERSION = "1"
DESCRIPTION = """Cortex core rules, version 1. A statement is a quad: subject, predicate, object, graph.
subject-well-formed: the subject is an absolute IRI of at most 8192 characters.
predicate-well-formed: the predicate is an absolute IRI of at most 8192 characters.
object-well-formed: the object is an absolute IRI of at most 8192 characters, or a literal whose text is in the lexical
 space of its datatype, for the datatypes integer and those derived from it, decimal, double, float, boolean, date,
 dateTime, dateTimeStamp, time, gYear and gYearMonth of XML Schema 1.1.
no-control-characters: no IRI holds, percent-decoded as UTF-8, a character of the category Cc or one that turns the
 writing direction (U+202A to U+202E, U+2066 to U+2069); no literal holds a character of the category Cc other than tab,
 line feed and carriage return.
finite-numbers: a literal of the datatypes double and float is neither infinite nor NaN, nor rounds to infinity.
temporal-predicates-hold-times: the object of a temporal predicate is a literal that spells a date, dateTime, time,
 gYear or gYearMonth of XML Schema 1.1, with that datatype, or as a string, and then a year has four digits. Temporal
 are prov:generatedAtTime,
 prov:startedAtTime, prov:endedAtTime, prov:atTime, prov:invalidatedAtTime, dcterms:created, dcterms:modified,
 dcterms:issued, schema:birthDate, schema:deathDate, schema:dateCreated, schema:dateModified, schema:datePublished,
 schema:startDate, schema:endDate, schema:validFrom and schema:validThrough, and in the statement's own namespace
 timestamp, createdAt, updatedAt, modifiedAt, deletedAt, issuedAt, expiresAt, startedAt, endedAt, validFrom, validUntil,
 birthDate, startDate and endDate.
type-objects-are-names: the object of rdf:type, and of the namespace's own rdf:type, is an IRI.
no-self-reference: the object is not the subject.
predicate-namespaced (a warning): the predicate is a name of the statement's namespace or of a well-known vocabulary
 (dcterms, foaf, owl, prov, rdf, rdfs, schema, skos, xsd).
"""

_XSD, _RDF, _PROV, _DCTERMS, _SCHEMA = (
    WELL_KNOWN_VOCABULARIES[prefix] for prefix in ("xsd", "rdf", "prov", "dcterms", "schema")
)
_TEMPORAL = frozenset(
    start + name
    for start, names in {
        _PROV: "generatedAtTime startedAtTime endedAtTime atTime invalidatedAtTime",
        _DCTERMS: "created modified issued",
        _SCHEMA: "birthDate deathDate dateCreated dateModified datePublished startDate endDate validFrom validThrough",
    }.items()
    for name in names.split()
)
_OWN_TEMPORAL = frozenset(
    name
    for ending, names in {
        "": "timestamp",
        "At": "created updated modified deleted issued expires started ended",
        "From": "valid",
        "Until": "valid",
        "Date": "birth start end",
    }.items()
    for name in (stem + ending for stem in names.split())
)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")

_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)"
_DAY = r"(-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
_INTEGER = r"[+-]?[0-9]+"
_FLOATING = r"(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN)"
_TIMES = {
    "date": f"{_DAY}{_ZONE}?",
    "dateTime": f"{_DAY}T{_CLOCK}{_ZONE}?",
    "dateTimeStamp": f"{_DAY}T{_CLOCK}{_ZONE}",
    "time": f"{_CLOCK}{_ZONE}?",
    "gYear": f"-?(?:[1-9][0-9]{{3,}}|0[0-9]{{3}}){_ZONE}?",
    "gYearMonth": f"-?(?:[1-9][0-9]{{3,}}|0[0-9]{{3}})-(?:0[1-9]|1[0-2]){_ZONE}?",
}
_LEXICAL = {
    _XSD + name: re.compile(pattern, re.ASCII)
    for name, pattern in {
        **_TIMES,
        "integer": _INTEGER,
        "decimal": r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)",
        "double": _FLOATING,
        "float": _FLOATING,
        "boolean": r"true|false|0|1",
    }.items()
}
_LONG_YEAR = re.compile(r"-?[0-9]{5}")
_FLOATS = frozenset({f"{_XSD}double", f"{_XSD}float"})
_LARGEST_FLOAT = 3.4028235677973366e38  # the midpoint above the largest float rounds to infinity
# Datatypes derived from integer, with the least and the greatest value of each.
_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    _XSD + name: bounds
    for name, bounds in {
        "nonNegativeInteger": (0, None),
        "positiveInteger": (1, None),
        "nonPositiveInteger": (None, 0),
        "negativeInteger": (None, -1),
        "long": (-(2**63), 2**63 - 1),
        "int": (-(2**31), 2**31 - 1),
        "short": (-(2**15), 2**15 - 1),
        "byte": (-128, 127),
        "unsignedLong": (0, 2**64 - 1),
        "unsignedInt": (0, 2**32 - 1),
        "unsignedShort": (0, 2**16 - 1),
        "unsignedByte": (0, 255),
    }.items()
}
_WHOLE = _LEXICAL[f"{_XSD}integer"]
_MAX_DIGITS = 4300  # the limit of Python's `int`


@dataclass(frozen=True, slots=True)
class AssertedStatement:
    """A statement to check.

    Attributes:
        quad: the statement.
        names: the names of its namespace.
    """

    quad: Quad
    names: Names


def check_core(statement: AssertedStatement) -> list[RuleFinding]:
    """The findings of the core rules, in the order of the rules."""
    return [finding for rule in RULES for finding in rule(statement)]


@lru_cache(maxsize=1)
def digest() -> str:
    """The SHA-256, in hexadecimal, of `DESCRIPTION` in UTF-8."""
    return hashlib.sha256(DESCRIPTION.encode()).hexdigest()


def _subject(statement: AssertedStatement) -> Iterator[RuleFinding]:
    if problem := _no_iri(statement.quad.subject):
        yield RuleFinding("subject-well-formed", f"the subject {problem}")


def _predicate(statement: AssertedStatement) -> Iterator[RuleFinding]:
    if problem := _no_iri(statement.quad.predicate):
        yield RuleFinding("predicate-well-formed", f"the predicate {problem}")


def _object(statement: AssertedStatement) -> Iterator[RuleFinding]:
    object_ = statement.quad.object
    if not isinstance(object_, Literal):
        if problem := _no_iri(object_):
            yield RuleFinding("object-well-formed", f"the object {problem}")
    elif not _is_well_typed(object_):
        kind = object_.datatype.value.removeprefix(_XSD)
        yield RuleFinding("object-well-formed", f"the object is not a valid {kind}")


def _control(statement: AssertedStatement) -> Iterator[RuleFinding]:
    quad = statement.quad
    for part, term in (("subject", quad.subject), ("predicate", quad.predicate), ("object", quad.object)):
        if isinstance(term, Literal):
            found = _CONTROL_IN_TEXT.search(term.value)
        elif isinstance(term, NamedNode):
            text = unquote(term.value) if "%" in term.value else term.value
            found = _CONTROL.search(text) or _DIRECTION.search(text)
        else:
            continue
        if found:
            yield RuleFinding("no-control-characters", f"the {part} contains U+{ord(found[0]):04X}")


def _finite(statement: AssertedStatement) -> Iterator[RuleFinding]:
    object_ = statement.quad.object
    if isinstance(object_, Literal) and object_.datatype.value in _FLOATS and _is_well_typed(object_):
        number = float(object_.value.replace("INF", "inf"))
        largest = _LARGEST_FLOAT if object_.datatype.value.endswith("float") else float("inf")
        if not isfinite(number) or abs(number) >= largest:
            yield RuleFinding("finite-numbers", "the object is not a finite number")


def _temporal(statement: AssertedStatement) -> Iterator[RuleFinding]:
    predicate, object_ = statement.quad.predicate.value, statement.quad.object
    own = f"{statement.names.graph.value}:"
    if predicate not in _TEMPORAL and not (predicate.startswith(own) and predicate[len(own) :] in _OWN_TEMPORAL):
        return
    if not isinstance(object_, Literal) or not _spells_a_time(object_):
        hint = "write it as 2026-01-31 or 2026-01-31T12:00:00Z"
        yield RuleFinding("temporal-predicates-hold-times", f"the object of a temporal predicate is not a time: {hint}")


def _type(statement: AssertedStatement) -> Iterator[RuleFinding]:
    predicate = statement.quad.predicate.value
    own = f"{statement.names.graph.value}:rdf:type"
    if predicate in (f"{_RDF}type", own) and not isinstance(statement.quad.object, NamedNode):
        yield RuleFinding("type-objects-are-names", 'the object of a type is not a name: give {"node": "name"}')


def _self_reference(statement: AssertedStatement) -> Iterator[RuleFinding]:
    if statement.quad.subject == statement.quad.object:
        yield RuleFinding("no-self-reference", "the statement relates its subject to itself")


def _namespaced(statement: AssertedStatement) -> Iterator[RuleFinding]:
    predicate = statement.quad.predicate.value
    known = (f"{statement.names.graph.value}:", *WELL_KNOWN_VOCABULARIES.values())
    if not predicate.startswith(known):
        message = "the predicate is neither of this namespace nor of a well-known vocabulary"
        yield RuleFinding("predicate-namespaced", message, Severity.WARNING)


Rule = Callable[[AssertedStatement], Iterator[RuleFinding]]
RULES: tuple[Rule, ...] = (
    _subject,
    _predicate,
    _object,
    _control,
    _finite,
    _temporal,
    _type,
    _self_reference,
    _namespaced,
)


def _no_iri(term: NamedNode | BlankNode | Literal | Triple) -> str:
    """Why a term is not an absolute IRI; empty when it is."""
    if not isinstance(term, NamedNode):
        return "is not an IRI"
    if len(term.value) > MAX_IRI:
        return f"has more than {MAX_IRI} characters"
    return "" if _ABSOLUTE.fullmatch(term.value) else "is not an absolute IRI"


def _is_well_typed(literal: Literal) -> bool:
    """Whether the text of a literal is valid for its datatype; True for unknown datatypes."""
    datatype, text = literal.datatype.value, literal.value
    if bounds := _BOUNDS.get(datatype):
        return bool(_WHOLE.fullmatch(text)) and _is_between(text, *bounds)
    pattern = _LEXICAL.get(datatype)
    return pattern is None or _fits(pattern, text)


def _is_between(text: str, least: int | None, greatest: int | None) -> bool:
    if len(text) > _MAX_DIGITS:  # such a number is beyond every bound
        negative = text.startswith("-")
        return (least is None if negative else greatest is None) or set(text.lstrip("+-")) == {"0"}
    number = int(text)
    return (least is None or number >= least) and (greatest is None or number <= greatest)


def _spells_a_time(literal: Literal) -> bool:
    datatype = literal.datatype.value
    if datatype == f"{_XSD}string":
        fits = any(_fits(_LEXICAL[_XSD + name], literal.value) for name in _TIMES)
        return fits and not _LONG_YEAR.match(literal.value)
    return datatype.removeprefix(_XSD) in _TIMES and datatype.startswith(_XSD) and _is_well_typed(literal)


def _fits(pattern: re.Pattern[str], text: str) -> bool:
    found = pattern.fullmatch(text)
    if found is None or not pattern.groups:
        return found is not None
    year, month, day = found.groups()
    # The calendar repeats every 400 years, so four digits of a year are sufficient.
    return int(day) <= monthrange(2000 + int(year[-4:]) % 400, int(month))[1]
