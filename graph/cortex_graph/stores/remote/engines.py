"""What is known of the servers that were tried (`docs/graph.md` has the table), and what is assumed of the others.

Rules kept here:
- a server says what it is in its `Server` header. One that is not known here is one of `OTHER`: nothing is assumed of
  the spelling in which it keeps literals or of the order in which it answers; both are found out or asked for;
- Oxigraph keeps values, in the spelling of pyoxigraph, and answers in the order of its indexes;
- Virtuoso keeps values too, but takes equal ones of different types (`1`, `1.0`, `true`) for the same term, shortens
  what is long, and writes doubles with six digits. What it would change is refused; doubles are read digit by digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from pyoxigraph import Literal, NamedNode, Store, Variable

_XSD = "http://www.w3.org/2001/XMLSchema#"
_DOUBLES = frozenset({f"{_XSD}double", f"{_XSD}float"})

Term = NamedNode | Literal


@dataclass(frozen=True)
class Engine:
    """How a kind of server keeps terms, and in what portions it takes them.

    Attributes:
        name: what to call it.
        spelling: the literal as it is read from this server; None when that must be found out.
        objection: why it cannot keep a term; empty when it can.
        by_value: whether it takes equal values of different types for the same term.
        ordered: whether the rows of a pattern come in an order that writing does not change.
        digits: whether doubles are to be asked for digit by digit.
        batch: how many quads it takes in one update.

    """

    name: str
    spelling: Callable[[Literal], Literal] | None
    objection: Callable[[Term], str]
    by_value: bool = False
    ordered: bool = False
    digits: bool = False
    batch: int = 100_000


def engine_of(server: str) -> Engine:
    """The engine that a `Server` header names."""
    if re.match(r"Oxigraph/0\.5\.", server):  # the series of pyoxigraph here: both spell alike
        return OXIGRAPH
    return VIRTUOSO if server.startswith("Virtuoso/") else OTHER


def _no_objection(_: Term) -> str:
    return ""


_SPELLER = Store()


def oxigraph_spelling(literal: Literal) -> Literal:
    """The literal as Oxigraph gives it back."""
    if literal.language or literal.datatype.value == f"{_XSD}string":
        return literal
    rows = _SPELLER.query("SELECT ?literal {}", substitutions={Variable("literal"): literal})
    spelt: Literal = next(iter(rows))["literal"]  # type: ignore[arg-type]
    return spelt


_SECONDS = re.compile(r"(T\d\d:\d\d:\d\d)\.(\d+)")
_DATE_TIME = re.compile(r"(?!0000)\d{4}-\d\d-\d\d(T(?!24)\d\d:\d\d:[0-5]\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_DIGITS = re.compile(r"-?(\d{1,39})(\.\d{1,15})?", re.ASCII)
_SMALLEST_FLOAT = 1.1754944e-38
_VIRTUOSO_IRI_BYTES = 1_800
_VIRTUOSO_REFUSED = frozenset(
    f"{_XSD}{name}"
    for name in (
        *("time", "duration", "dayTimeDuration", "yearMonthDuration", "gYear", "gYearMonth", "gMonthDay", "gMonth"),
        *("gDay", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        *("negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
) | {"http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"}


def virtuoso_objection(term: Term) -> str:
    """Why Virtuoso cannot keep a term."""
    if isinstance(term, NamedNode):
        if len(term.value.encode()) > _VIRTUOSO_IRI_BYTES:
            return f"cuts IRIs of more than {_VIRTUOSO_IRI_BYTES} bytes"
        if term.value.lower().startswith(("nodeid:", "local:")):
            return "gives IRIs with this beginning a meaning of its own"
        return ""
    kind, text = term.datatype.value, term.value
    if term.direction:
        return "knows no direction of text"
    if len(kind.encode()) > _VIRTUOSO_IRI_BYTES:
        return f"cuts IRIs of more than {_VIRTUOSO_IRI_BYTES} bytes"
    if kind in _VIRTUOSO_REFUSED:
        return "does not keep this type as it is written"
    if kind == f"{_XSD}integer":
        in_range = re.fullmatch(r"-?\d{1,19}", text, re.ASCII) and abs(int(text)) < 2**63 - 1
        return "" if in_range else "keeps integers of 63 bits"
    if kind == f"{_XSD}decimal" and not _DIGITS.fullmatch(text):
        return "keeps decimals of 39 digits, 15 of them behind the point"
    if kind in _DOUBLES and (text == "NaN" or not _is_number(text)):
        return "finds no NaN again"
    if kind == f"{_XSD}float" and not (text in ("0", "-0") or _SMALLEST_FLOAT < abs(float(text)) < math.inf):
        return "keeps no float that is infinite or so near to zero"
    if kind == f"{_XSD}boolean" and text not in ("true", "false"):
        return "keeps `true` and `false` as booleans"
    if kind in (f"{_XSD}dateTime", f"{_XSD}date") and not _DATE_TIME.fullmatch(text):
        return "keeps times from the year 1 to 9999, with six digits behind the second"
    return ""


def value_of(literal: Literal) -> Hashable:
    """What a server that goes by values may take two literals for the same by; None for those that it tells apart."""
    kind, text = literal.datatype.value, literal.value
    if kind == f"{_XSD}boolean":
        return Decimal(text == "true")
    try:
        if kind in _DOUBLES:
            return Decimal(float(text))
        if kind in (f"{_XSD}decimal", f"{_XSD}integer"):
            return Decimal(text)
        if kind == f"{_XSD}dateTime":
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC) if moment.tzinfo else moment
    except (ArithmeticError, ValueError, OverflowError):
        pass
    return None


def _is_number(text: str) -> bool:
    try:
        float(text.replace("INF", "inf"))
    except ValueError:
        return False
    return True


OXIGRAPH = Engine("Oxigraph", oxigraph_spelling, _no_objection, ordered=True)
VIRTUOSO = Engine("Virtuoso", oxigraph_spelling, virtuoso_objection, by_value=True, digits=True, batch=500)
OTHER = Engine("this server", None, _no_objection)
