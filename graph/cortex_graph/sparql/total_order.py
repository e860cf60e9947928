"""Sort keys, maxima and minima of values of any kinds.

Oxigraph compares numbers by value, and a number with a string by their texts. In that order 10000 is before "1z", and
"1z" before 2.5: numbers beside strings are in no order of numbers, one that is neither the largest nor the smallest is
the maximum, and sorting such values may end the process. The same holds for times with and without a time zone.

Rules kept here:
- a first key sorts literals by their kind: numbers, texts (with and without a language), and each other datatype. The
  engine compares values of one kind in a total order, and nodes before literals (SPARQL 1.1 §15.1);
- a time without a time zone is sorted as one of UTC (the implicit time zone of XPath);
- the maximum and minimum of numbers and other literals are those of the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from cortex_graph.sparql.exact_numbers import DATATYPES, XSD
from cortex_graph.sparql.tokens import MOST_DEPTH, SparqlToken, read_tokens

_TEXTS = f"<{XSD}string>, <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>"
# The engine compares integers much faster than IRIs. A node has no datatype, and so no value here.
_KIND = f"IF({{is_number}}, 1, IF(DATATYPE(?e) IN ({_TEXTS}), 2, IF(DATATYPE(?e) = <{XSD}dateTime>, 0, DATATYPE(?e))))"
_VALUE = 'COALESCE(IF(TZ(?e) = "", STRDT(CONCAT(STR(?e), "Z"), DATATYPE(?e)), ?v), ?v)'
_SHORT = "isNumeric(?e)"
_ANY_LENGTH = f"(isNumeric(?e) || DATATYPE(?e) IN ({', '.join(f'<{datatype}>' for datatype in DATATYPES)}))"
_EXTREMES = {
    "MAX": f"IF(MAX(isNumeric(?e)), MAX(IF(isNumeric(?e), ?e, <{XSD}decimal>)), MAX(?e))",
    "MIN": f'IF(MAX(isNumeric(?e)), MIN(IF(isLiteral(?e) && !isNumeric(?e), "NaN"^^<{XSD}double>, ?e)), MIN(?e))',
}
# Their results, and those of operators on them, are of one kind.
_OF_ONE_KIND = frozenset({"ABS", "CEIL", "COUNT", "FLOOR", "LCASE", "ROUND", "STR", "STRLEN", "SUM", "UCASE", "YEAR"})
_AFTER_ORDER = frozenset({"LIMIT", "OFFSET", "VALUES"})
EXTREMES = frozenset(_EXTREMES)


def sort_keys(key: Sequence[SparqlToken], value: Sequence[SparqlToken], *, exact: bool) -> list[list[SparqlToken]]:
    """Return the keys by which an expression is sorted, in turn.

    Args:
        key: the expression.
        value: what the engine sorts by among values of one kind.
        exact: whether a number may be longer than the engine knows.
    """
    if next(token.text for token in key if token.text != "(") in _OF_ONE_KIND:
        return [list(value)]
    kind = _KIND.format(is_number=_ANY_LENGTH if exact else _SHORT)
    return [_filled(kind, key, value), _filled(_VALUE, key, value)]


def extreme(name: str, expression: Sequence[SparqlToken]) -> list[SparqlToken]:
    """Return the maximum (`MAX`) or the minimum (`MIN`) of an expression."""
    return _filled(_EXTREMES[name], expression, expression)


def without_order(tokens: Iterable[SparqlToken]) -> list[SparqlToken]:
    """Return a query without its ORDER BY clauses."""
    out: list[SparqlToken] = []
    depth, kept = 0, True
    for token in tokens:
        ends = token.text in _AFTER_ORDER if token.kind == "word" else token.text == "}"
        kept = (kept or (ends and not depth)) and token[:2] != ("word", "ORDER")
        if kept:
            out.append(token)
        elif token.kind == "sign":
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(token.text, 0)
    return out


def _filled(text: str, expression: Iterable[SparqlToken], value: Iterable[SparqlToken]) -> list[SparqlToken]:
    places = {"?e": list(expression), "?v": list(value)}
    start = places["?e"][0].start
    found: list[SparqlToken] = []
    for token in _template(text):
        found += places.get(token.text) or [token._replace(start=start)]
    return found


@cache
def _template(text: str) -> tuple[SparqlToken, ...]:
    return tuple(read_tokens(f"FILTER({text})", MOST_DEPTH)[2:-1])
