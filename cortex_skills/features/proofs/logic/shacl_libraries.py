"""Prepares rdflib and pySHACL for a confined process, in which a verdict may depend on the data only.

Rules kept here:
- every module that an evaluation needs is loaded before the process is confined: each feature of shapes and each
  datatype of rdflib is used once. A module that is missing later raises an error (`confined_imports`);
- rdflib takes every error of reading a literal for a fault of the literal. A lack of memory is `NotChecked` instead. It
  is recorded too, since some functions of rdflib catch everything;
- a literal that is valid and has no value in Python, such as the year 10000, is valid; comparing it is `NotChecked`.
"""

from __future__ import annotations

import re
import sys
import unicodedata  # noqa: F401 - of regular expressions with names of characters
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any, NoReturn

import rdflib.term
from rdflib import XSD, Graph, Literal, URIRef
from rdflib.namespace import SH

from cortex_sandbox.isolation.confined_imports import refused_imports

NODE = URIRef("urn:x:a")
SHAPES = f"""
    @prefix sh: <{SH}> . @prefix xsd: <{XSD}> .
    <urn:x:s> a sh:NodeShape ; sh:targetNode <urn:x:a> ; sh:closed true ; sh:ignoredProperties ( <urn:x:q> ) ;
      sh:not [ sh:class <urn:x:c> ] ; sh:or ( [ sh:nodeKind sh:IRI ] [ sh:in ( 1 2 ) ] ) ;
      sh:xone ( [ sh:nodeKind sh:IRI ] [ sh:nodeKind sh:Literal ] ) ; sh:and ( [ sh:nodeKind sh:IRI ] ) ;
      sh:property [ sh:path <urn:x:p> ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:dateTime ;
        sh:pattern "^2" ; sh:minLength 1 ; sh:maxLength 9 ; sh:minInclusive 1 ; sh:maxExclusive 3 ;
        sh:languageIn ( "en" ) ; sh:uniqueLang true ; sh:hasValue 1 ; sh:equals <urn:x:q> ;
        sh:disjoint <urn:x:r> ; sh:lessThan <urn:x:r> ; sh:lessThanOrEquals <urn:x:r> ;
        sh:qualifiedValueShape [ sh:nodeKind sh:IRI ] ; sh:qualifiedMinCount 1 ] ;
      sh:property [ sh:path ( [ sh:zeroOrMorePath <urn:x:p> ] [ sh:inversePath <urn:x:p> ]
        [ sh:alternativePath ( <urn:x:p> <urn:x:q> ) ] [ sh:zeroOrOnePath <urn:x:p> ]
        [ sh:oneOrMorePath <urn:x:p> ] ) ; sh:minCount 1 ] ;
      sh:sparql [ sh:prefixes <urn:x:d> ; sh:message "no {{?value}}" ; sh:select \"\"\"
        SELECT $this ?value (COUNT(*) AS ?n) WHERE {{ $this x:p ?value . OPTIONAL {{ ?value x:p+ ?o }}
        FILTER(REGEX(STR(?value), "2") && xsd:integer(?value) < 3 && NOT EXISTS {{ $this x:q ?z }}
        && ?value != NOW() && SHA256("x") != MD5("y") && STRUUID() != UUID())
        FILTER(LANG(?value) = "" && YEAR(xsd:dateTime("2026-01-01T00:00:00Z")) > 1) }}
        GROUP BY $this ?value ORDER BY ?value LIMIT 5 \"\"\" ] .
    <urn:x:d> sh:declare [ sh:prefix "x" ; sh:namespace "urn:x:"^^xsd:anyURI ] ,
      [ sh:prefix "xsd" ; sh:namespace "http://www.w3.org/2001/XMLSchema#"^^xsd:anyURI ] .
"""
# Valid texts of XML Schema that Python has no value for: years before 1 and after 9999, the hour 24, long durations.
_DAY = r"(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_DATE = rf"(?:-\d{{4}}|-?[1-9]\d{{4,}}|0000)-{_DAY}"
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?"
_END_OF_DAY = r"24:00:00(?:\.0+)?"
_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_TIMES = r"(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
_BEYOND_PYTHON = {
    XSD.date: (rf"{_DATE}{_ZONE}", date),
    XSD.dateTime: (rf"(?:{_DATE}T(?:{_TIME}|{_END_OF_DAY})|\d{{4}}-{_DAY}T{_END_OF_DAY}){_ZONE}", datetime),
    XSD.time: (rf"{_END_OF_DAY}{_ZONE}", time),
    XSD.duration: (rf"-?P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?{_TIMES}", timedelta),
    XSD.dayTimeDuration: (rf"-?P(?=.)(?:\d+D)?{_TIMES}", timedelta),
}
_USES = tuple(
    f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne", "add", "radd", "sub", "rsub", "neg", "bool")
)
_TEXTS = ("1", "2026-01-01", "2026-01-01T00:00:00Z", "12:00:00", "P1D", "P1Y", "true", "<p>a&amp;b</p>", "<", "a\u0300")

_unchecked: list[str] = []


class NotChecked(BaseException):
    """A rule could not be evaluated, for a reason that is not in the statement; no `except Exception` catches it."""


def prepare() -> Graph:
    """Load what evaluations need, as far as it can be without one; the data for `SHAPES`, which load the rest."""
    sys.set_int_max_str_digits(0)  # a number is not invalid because it is long; the time limit ends what takes long
    data = Graph(bind_namespaces="none")
    data.add((NODE, URIRef("urn:x:p"), Literal("2020-01-01T00:00:00Z", datatype=XSD.dateTime)))
    data.add((NODE, URIRef("urn:x:p"), Literal(2)))
    for datatype in filter(None, rdflib.term._toPythonMapping):
        literals = [Literal(text, datatype=URIRef(datatype)) for text in _TEXTS]
        data.add((NODE, URIRef("urn:x:q"), min(literals)))  # comparing them may load modules, too
    keep_own_errors()
    return data


def keep_own_errors() -> None:
    """Let an error of the machinery end an evaluation, instead of making a literal invalid."""
    mapping: dict[Any, Any] = rdflib.term._toPythonMapping
    for datatype, convert in mapping.items():
        if convert is not None:
            mapping[datatype] = _guarded(convert, *_BEYOND_PYTHON.get(datatype, (None, None)))


def check_all_was_evaluated() -> None:
    """Raise what a library caught since the last call.

    Raises:
        NotChecked: a part of the rules was not evaluated.
    """
    caught = [*(f"the module {name} was not loaded" for name in refused_imports()), *_unchecked]
    _unchecked.clear()
    if caught:
        raise NotChecked(caught[0])


def _guarded(convert: Callable[[str], Any], beyond: str | None, kind: Any) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            return convert(text)
        except (MemoryError, RecursionError, OSError) as error:
            _give_up(f"a literal cannot be read here ({type(error).__name__})")
        except Exception:
            if beyond is None or not re.fullmatch(beyond, text, re.ASCII):
                raise
            return _without_value(kind, text)

    return read


def _without_value(kind: Any, text: str) -> Any:
    """An object of a type whose every use is `NotChecked`."""

    def used(*_: object) -> NoReturn:
        _give_up(f"{text[:40]} is beyond the values that can be compared here")

    made = {name: property(used) for name in dir(kind) if not name.startswith("_")}
    return type("Valueless", (kind,), {**made, **dict.fromkeys(_USES, used)})(
        *((1, 1, 1) if issubclass(kind, date) else ())
    )


def _give_up(reason: str) -> NoReturn:
    _unchecked.append(reason)
    raise NotChecked(reason)
