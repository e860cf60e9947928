"""What is known of the tested servers (`docs/graph.md` has the table), and what is assumed of others.

Rules kept here:
- a server is identified by its `Server` header. For an unknown one nothing is assumed about the lexical forms in which
  it stores literals or about the order of its rows; both are tested or requested;
- Oxigraph stores values, with the lexical forms of pyoxigraph, and returns rows in the order of its indexes;
- Virtuoso stores values too, but takes equal values of different types (`1`, `1.0`, `true`) for the same term,
  truncates long terms, and writes doubles with six digits. Terms that it would change are refused; doubles are read
  with all digits.
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
class EngineProfile:
    """How a kind of server stores terms, and in what batches it accepts them.

    Attributes:
        name: for messages.
        spelling: returns a literal as it is read from this server; None when that must be tested.
        objection: states why it cannot store a term; empty when it can.
        by_value: whether it takes equal values of different types for the same term.
        ordered: whether the order of the rows of a pattern is stable when quads are written.
        digits: whether all digits of doubles must be requested explicitly.
        batch: the maximum number of quads in one update.
        fails_whole: whether an update that fails changes nothing, and one that drops a missing graph fails. Its updates
            are evaluated beside one another.
        made: whether its answer to a conditional update states that it was made; without that, it must be looked at.
        alone: what follows the pattern of a condition, so that no other update makes it false until this one has ended.
        incomplete_rows: whether a row may lack a term while another writer commits it.
    """

    name: str
    spelling: Callable[[Literal], Literal] | None
    objection: Callable[[Term], str]
    by_value: bool = False
    ordered: bool = False
    digits: bool = False
    batch: int = 100_000
    fails_whole: bool = False
    made: Callable[[bytes], bool] = lambda _: False
    alone: str = ""
    incomplete_rows: bool = False


def engine_of(server: str) -> EngineProfile:
    """Return the profile for a `Server` header."""
    if re.match(r"Oxigraph/0\.5\.", server):  # the series of the installed pyoxigraph, with the same lexical forms
        return OXIGRAPH
    return VIRTUOSO if server.startswith("Virtuoso/") else OTHER


def _no_objection(_: Term) -> str:
    return ""


_SPELLER = Store()


def oxigraph_spelling(literal: Literal) -> Literal:
    """Return the literal as Oxigraph returns it."""
    if literal.language or literal.datatype.value == f"{_XSD}string":
        return literal
    rows = _SPELLER.query("SELECT ?literal {}", substitutions={Variable("literal"): literal})
    spelt: Literal = next(iter(rows))["literal"]  # type: ignore[arg-type]
    return spelt


_DATE_TIME = re.compile(r"(?!0000)\d{4}-\d\d-\d\d(T(?!24)\d\d:\d\d:[0-5]\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
# In a request, Virtuoso reads a longer integer as a decimal, which its indexes order and compare otherwise than the
# integer that it stores: neither is found reliably, and nor are the numbers beside it.
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"-?(?=(?:\.?\d){1,39}$)\d+(\.\d{1,15})?", re.ASCII)
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
    """State why Virtuoso cannot store a term."""
    if isinstance(term, NamedNode):
        if len(term.value.encode()) > _VIRTUOSO_IRI_BYTES:
            return f"truncates IRIs of more than {_VIRTUOSO_IRI_BYTES} bytes"
        if term.value.lower().startswith(("nodeid:", "local:")):
            return "interprets IRIs with this prefix"
        return ""
    kind, text = term.datatype.value, term.value
    if term.direction:
        return "does not support text directions"
    if len(kind.encode()) > _VIRTUOSO_IRI_BYTES:
        return f"truncates IRIs of more than {_VIRTUOSO_IRI_BYTES} bytes"
    if kind in _VIRTUOSO_REFUSED:
        return "changes the lexical form of this type"
    if kind == f"{_XSD}integer":
        return "" if _INTEGER.fullmatch(text) else "finds integers of 18 digits"
    if kind == f"{_XSD}decimal" and not _DECIMAL.fullmatch(text):
        return "stores decimals of 39 digits, 15 of them after the point"
    if kind in _DOUBLES and (text == "NaN" or not _is_number(text)):
        return "does not find NaN"
    if kind == f"{_XSD}float" and not (text in ("0", "-0") or _SMALLEST_FLOAT < abs(float(text)) < math.inf):
        return "stores no float that is infinite or this close to zero"
    if kind == f"{_XSD}boolean" and text not in ("true", "false"):
        return "stores `true` and `false` as booleans"
    if kind in (f"{_XSD}dateTime", f"{_XSD}date") and not _DATE_TIME.fullmatch(text):
        return "stores times from the year 1 to 9999, with six digits after the second"
    return ""


def value_of(literal: Literal) -> Hashable:
    """Return the value by which a server with `by_value` compares a literal; None when it compares the term."""
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


_INSERTED = re.compile(rb"insert (into .+?, )?[1-9][0-9]* \(or less\) (quads|triples) -- done", re.IGNORECASE)


def _virtuoso_made(answer: bytes) -> bool:
    return _INSERTED.search(answer) is not None and b"nothing to do" not in answer


# It evaluates the condition of an update beside other updates ("read committed"). This option locks the rows that the
# pattern finds, and the place where they would be, until the update ends. Without `for update` the locks are shared:
# two updates would wait for each other, and the server would repeat one of them a second later. Every quad that is
# inserted is inserted into the primary key.
_ALONE = ' OPTION (TABLE_OPTION "index primary key, isolation serializable, for update")'

OXIGRAPH = EngineProfile("Oxigraph", oxigraph_spelling, _no_objection, ordered=True, fails_whole=True)
VIRTUOSO = EngineProfile(
    "Virtuoso",
    oxigraph_spelling,
    virtuoso_objection,
    by_value=True,
    digits=True,
    batch=500,
    made=_virtuoso_made,
    alone=_ALONE,
    incomplete_rows=True,
)
OTHER = EngineProfile("this server", None, _no_objection)
