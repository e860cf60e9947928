"""Arithmetic on numbers of any length, for queries over values that Oxigraph does not calculate with.

Oxigraph keeps integers of 64 bits, and decimals of 38 digits with 18 after the point. Any longer number is an unknown
literal to it, which has no place in an order and no sum.

Rules kept here:
- the numbers are those of XML Schema: integers (also the derived ones), decimals, floats and doubles, promoted as in
  SPARQL 1.1 §17.3. Anything else has no result, so that the engine's own result, or error, remains;
- integers and decimals are exact; a quotient has 18 digits after the point, as in Oxigraph.
"""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Context, Decimal, InvalidOperation
from math import copysign, inf
from typing import Any, Final

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
FUNCTIONS: Final = "urn:cortex-graph:exact/"  # begins the names of the functions that a rewritten query calls
AGGREGATES: Final = ("MAX", "MIN", "SUM", "AVG")
ORDER: Final = "order"
FITTED: Final = "fitted"  # begins a program whose result has the digits that the engine keeps

Term = NamedNode | BlankNode | Literal | Triple
Number = tuple[int, Decimal | float]  # the rank of its type in promotions, and its value
Program = Any  # the index of an argument, or a list: an operator and its programs

_INTEGER, _DECIMAL, _FLOAT, _DOUBLE = range(4)
_INTEGERS = (
    "integer nonPositiveInteger negativeInteger long int short byte nonNegativeInteger unsignedLong unsignedInt "
    "unsignedShort unsignedByte positiveInteger"
)
_RANKS: Final = {f"{XSD}{name}": _INTEGER for name in _INTEGERS.split()} | {
    f"{XSD}decimal": _DECIMAL,
    f"{XSD}float": _FLOAT,
    f"{XSD}double": _DOUBLE,
}
DATATYPES: Final = tuple(_RANKS)
_TYPES = tuple(NamedNode(f"{XSD}{name}") for name in ("integer", "decimal", "float", "double"))
_STRING = NamedNode(f"{XSD}string")
_FORMS = (
    re.compile(r"[+-]?[0-9]+"),
    re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"),
    *(re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"),) * 2,
)
_LONGEST = 20_000  # digits of an operand or result of arithmetic
_CONTEXT = Context(prec=2 * _LONGEST, Emax=MAX_EMAX, Emin=MIN_EMIN)
_DIGITS = 18  # of a quotient, after the point
_LEAST, _MOST, _MOST_SCALED = Decimal(-(2**63)), Decimal(2**63 - 1), Decimal(2**127)
_TRUE, _FALSE = Literal(True), Literal(False)
_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


class _NoNumberError(Exception):
    """An operand is no number, or a result is not defined."""


def number_of(term: object) -> Number | None:
    """Return the value of a literal; None when it is no number."""
    if not isinstance(term, Literal) or (rank := _RANKS.get(term.datatype.value)) is None:
        return None
    text = term.value.strip(" \t\r\n")
    if not _FORMS[rank].fullmatch(text):
        return None
    return rank, float(text) if rank >= _FLOAT else Decimal(text)


def _short_integer(term: Term) -> int | None:
    """Return the value of an integer as the engine writes it; None for any other term. Most numbers are such."""
    if type(term) is not Literal:
        return None
    text = term.value
    if len(text) > _DIGITS or not text.isascii() or not text.removeprefix("-").isdigit():
        return None
    return int(text) if term.datatype == _TYPES[_INTEGER] else None


def is_long(number: Number) -> bool:
    """Return whether Oxigraph does not calculate with a number."""
    rank, value = number
    if isinstance(value, float):
        return False
    if rank == _INTEGER:
        return not _LEAST <= value <= _MOST
    if value.adjusted() > _DIGITS + 2:
        return True
    scaled = value.scaleb(_DIGITS, _CONTEXT)
    return scaled != scaled.to_integral_value() or abs(scaled) >= _MOST_SCALED


def is_long_text(text: str) -> bool:
    """Return whether a text is an integer or a decimal that Oxigraph does not calculate with."""
    datatype = _TYPES[_DECIMAL if "." in text else _INTEGER]
    return (number := number_of(Literal(text, datatype=datatype))) is not None and is_long(number)


def literal_of(number: Number) -> Literal:
    """Return the literal of a value."""
    rank, value = number
    if rank >= _FLOAT:
        text = Literal(float(value)).value
    else:
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if rank == _DECIMAL and "." in text else text
        text = "0" if text in ("-0", "") else text
    return Literal(text, datatype=_TYPES[rank])


def functions(programs: Sequence[Program]) -> dict[NamedNode, Callable[..., Term | None]]:
    """Return the functions of a rewritten query: those of its programs by their index, and that of ORDER BY."""
    found: dict[NamedNode, Callable[..., Term | None]] = {NamedNode(f"{FUNCTIONS}{ORDER}"): order_key}
    for index, program in enumerate(programs):
        found[NamedNode(f"{FUNCTIONS}{index}")] = _function(program)
    return found


def aggregates() -> dict[NamedNode, Callable[[], Any]]:
    """Return the aggregates of a rewritten query."""
    return {
        NamedNode(f"{FUNCTIONS}{name}{'-distinct' if distinct else ''}"): _aggregate(name, distinct=distinct)
        for name in AGGREGATES
        for distinct in (False, True)
    }


def order_key(term: Term) -> Term:
    """Return the term by which a term of one kind is sorted: for a number, a string that sorts like its value."""
    short = _short_integer(term)
    if short is not None:
        return Literal(_key(short < 0, str(abs(short)), len(str(abs(short))) - 1))
    number = number_of(term)
    return term if number is None else Literal(order_value(number))


def order_value(number: Number) -> str:
    """Return a string that sorts like a number; `NaN` is after all others, as in the engine."""
    value = number[1]
    if isinstance(value, float):
        if value != value or value in (inf, -inf):
            return {"inf": "2", "-inf": "0", "nan": "3"}[str(value)]
        value = Decimal(value)
    sign, digits, _ = value.as_tuple()
    return _key(bool(sign), "".join(map(str, digits)), value.adjusted())


def _key(is_negative: bool, digits: str, place: int) -> str:
    """Return the key of a number by its digits and the place of the first one."""
    digits = digits.strip("0") if digits[0] == "0" else digits.rstrip("0")
    if not digits:
        return "1b"
    # The place, then the digits; of a negative number, the complement of both, and an end.
    if not is_negative:
        return f"1c{place + 10**9:010d}{digits}"
    return f"1a{9999999999 - place - 10**9:010d}{digits.translate(_COMPLEMENT)}~"


_COMPLEMENT = str.maketrans("0123456789", "9876543210")


def _function(program: Program) -> Callable[..., Term | None]:
    def call(*arguments: Term) -> Term | None:
        try:
            result = _evaluated(program, arguments)
        except (_NoNumberError, InvalidOperation, OverflowError, ZeroDivisionError):
            return None
        return (_TRUE if result else _FALSE) if isinstance(result, bool) else literal_of(result)

    return call


def _evaluated(program: Program, arguments: Sequence[Term]) -> Number | bool:
    if isinstance(program, int):
        return _number(arguments[program])
    operation, *operands = program
    if operation == "number":
        _as_number(_evaluated(operands[0], arguments))
        return True
    if operation == FITTED:
        return _fitted(_as_number(_evaluated(operands[0], arguments)))
    if operation in _CASTS and isinstance(operands[0], int):
        return _cast(operation, _number(_retyped(arguments[operands[0]], operation)))
    first, *others = (_as_number(_evaluated(operand, arguments)) for operand in operands)
    if operation in _COMPARED:
        return _compared(operation, first, others[0])
    if operation in ("IN", "NOT IN"):
        is_in: bool = any(_compared("=", first, other) for other in others)
        return is_in is (operation == "IN")
    if others:
        return _calculated(operation, first, others[0])
    return _changed(operation, first)


def _number(term: Term) -> Number:
    if (found := number_of(term)) is None:
        raise _NoNumberError
    return found


def _fitted(number: Number) -> Number:
    rank, value = number
    if rank == _DECIMAL and isinstance(value, Decimal):
        number = rank, value.quantize(Decimal(1).scaleb(-_DIGITS), ROUND_DOWN, _CONTEXT)
    if is_long(number):
        raise _NoNumberError
    return number


def _retyped(term: Term, datatype: str) -> Term:
    """Return a string as a literal of another datatype, and any other term unchanged."""
    if isinstance(term, Literal) and term.datatype == _STRING:
        return Literal(term.value, datatype=NamedNode(datatype))
    return term


def _as_number(value: Number | bool) -> Number:
    if isinstance(value, bool):
        raise _NoNumberError
    return value


def _promoted(first: Number, second: Number) -> tuple[int, Any, Any]:
    """Return two values in the type of the one that is promoted less (XPath 2.0 §B.1)."""
    rank = max(first[0], second[0])
    if rank >= _FLOAT:
        return rank, _as_float(first[1], rank), _as_float(second[1], rank)
    return rank, first[1], second[1]


def _as_float(value: Decimal | float, rank: int) -> float:
    """Return a value as a double, or as a float of 32 bits."""
    try:
        return float(value) if rank == _DOUBLE else float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return inf if value > 0 else -inf


def _compared(operation: str, first: Number, second: Number) -> bool:
    _, one, other = _promoted(first, second)
    return _COMPARED[operation](one, other)


def _calculated(operation: str, first: Number, second: Number) -> Number:
    rank, one, other = _promoted(first, second)
    if rank >= _FLOAT:
        return rank, _as_float(_calculated_floats(operation, one, other), rank)
    for value in (one, other):
        if len(value.as_tuple().digits) > _LONGEST or abs(value.adjusted()) > _LONGEST:
            raise _NoNumberError
    if operation == "/":
        if not other:
            raise _NoNumberError
        places = max(0, one.adjusted() - other.adjusted() + 2) + _DIGITS
        quotient = Context(prec=places, rounding=ROUND_DOWN).divide(one, other)
        return _DECIMAL, quotient.quantize(Decimal(1).scaleb(-_DIGITS), ROUND_DOWN, _CONTEXT)
    change = {"+": _CONTEXT.add, "-": _CONTEXT.subtract, "*": _CONTEXT.multiply}[operation]
    return rank, change(one, other)


def _calculated_floats(operation: str, one: float, other: float) -> float:
    if operation == "/" and not other:
        return one * copysign(inf, other)  # 0/0 is no number
    return float(
        {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[operation](one, other)
    )


def _changed(operation: str, number: Number) -> Number:
    rank, value = number
    if operation == "+1":
        return number
    if operation in _CASTS:
        return _cast(operation, number)
    if not isinstance(value, Decimal):
        raise _NoNumberError  # the engine has the result
    if operation == "-1":
        return rank, value.copy_negate()
    if operation == "ABS":
        return rank, value.copy_abs()
    if operation == "ROUND":
        return rank, _CONTEXT.add(value, Decimal("0.5")).to_integral_value(ROUND_FLOOR)
    return rank, value.to_integral_value(ROUND_CEILING if operation == "CEIL" else ROUND_FLOOR)


_CASTS: Final = {f"{XSD}integer": _INTEGER, f"{XSD}decimal": _DECIMAL, f"{XSD}float": _FLOAT, f"{XSD}double": _DOUBLE}


def _cast(datatype: str, number: Number) -> Number:
    rank, value = _CASTS[datatype], number[1]
    if rank >= _FLOAT:
        return rank, _as_float(value, rank)
    exact = Decimal(value)
    if not exact.is_finite():
        raise _NoNumberError
    return rank, exact.to_integral_value(ROUND_DOWN) if rank == _INTEGER else exact


def _aggregate(name: str, *, distinct: bool) -> Callable[[], Any]:
    return lambda: _Aggregate(name, distinct=distinct)


class _Aggregate:
    """One group: an aggregate of numbers (SPARQL 1.1 §18.5.1). Without a result, that of the engine is right."""

    def __init__(self, name: str, *, distinct: bool) -> None:
        self._name = name
        self._is_better = operator.gt if name == "MAX" else operator.lt
        self._seen: set[Term] | None = set() if distinct else None
        self._best: tuple[str, Term] | None = None
        self._best_short: int | None = None
        self._total: Number | None = (_INTEGER, Decimal(0))
        self._total_short = 0
        self._count = 0
        self._has_long = False
        self._has_nodes = self._has_others = False

    def accumulate(self, term: Term) -> None:
        """Add a term."""
        if self._seen is not None:
            if term in self._seen:
                return
            self._seen.add(term)
        self._count += 1
        short = _short_integer(term)
        if short is not None:
            self._total_short += short
            if self._best_short is None or self._is_better(short, self._best_short):
                self._best_short = short
            return
        number = number_of(term)
        if number is None:
            self._has_nodes = self._has_nodes or not isinstance(term, Literal)
            self._has_others = True
            self._total = None
            return
        self._has_long = self._has_long or is_long(number)
        self._improve(number, term)
        if self._total is not None:
            self._total = _sum(self._total, number)

    def _improve(self, number: Number, term: Term) -> None:
        key = order_value(number)
        if self._best is None or self._is_better(key, self._best[0]):
            self._best = key, term

    def finish(self) -> Term | None:
        """Return the result. Numbers sort after nodes (SPARQL 1.1 §15.1), and in no order with other literals."""
        if self._name in ("MAX", "MIN"):
            if not (self._has_long or self._has_others) or (self._name == "MIN" and self._has_nodes):
                return None
            if self._best_short is not None:
                self._improve((_INTEGER, Decimal(self._best_short)), Literal(self._best_short))
            return None if self._best is None else self._best[1]
        total = None if self._total is None else _sum(self._total, (_INTEGER, Decimal(self._total_short)))
        if total is None or not (self._has_long or is_long(total)):
            return None
        return literal_of(total if self._name == "SUM" else _calculated("/", total, (_INTEGER, Decimal(self._count))))


def _sum(first: Number, second: Number) -> Number | None:
    try:
        return _calculated("+", first, second)
    except _NoNumberError:
        return None
