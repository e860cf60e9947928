"""Writes the expressions of a query so that numbers of any length are calculated.

Rules kept here:
- an operation on numbers is kept as it is, and followed by the same operation on numbers of any length
  (`exact_numbers.py`) for the case that the engine has no result: `COALESCE(?a < ?b, exact/0(?a, ?b))`. So results that
  the engine has stay, and nothing else is slower;
- an operand is evaluated twice then, so that operations in arguments of arguments are rewritten `LEVELS` deep;
- where no number is longer than the engine knows, only products and quotients are: it has none where one has more
  digits than it keeps. There they have the digits that it keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cortex_graph.sparql.exact_numbers import AGGREGATES, FITTED, FUNCTIONS, ORDER, XSD, Program, is_long_text
from cortex_graph.sparql.expressions import COMPARED, Expression
from cortex_graph.sparql.token_cursor import sign
from cortex_graph.sparql.tokens import SparqlToken
from cortex_graph.sparql.total_order import EXTREMES, extreme, sort_keys

LEVELS = 5
_MOST_TOKENS = 200_000  # that are added to one query
_MOST_REPEATED = 8  # how often a key or an operand is in what is written for it (`total_order.py`)
_NO_NUMBERS = frozenset({"IN", "NOT IN", "number", *COMPARED})  # their results are true or false
_sign = partial(sign, in_expression=True)


class ExactWriter:
    """Writes expressions, with functions of `exact_numbers` beside the operations of the engine.

    Args:
        iri: returns the IRI of a token.
        exact: whether a number may be longer than the engine knows.
        has_functions: whether the engine can be given functions.

    Attributes:
        programs: what the functions calculate.
        is_complete: whether every operation was rewritten.
    """

    def __init__(self, iri: Callable[[SparqlToken], str], *, exact: bool, has_functions: bool) -> None:
        self.programs: list[Program] = []
        self.is_complete = True
        self._added = 0
        self._iri = iri
        self._exact = exact
        self._has_functions = has_functions

    def written(self, expression: Expression, level: int = 0) -> list[SparqlToken]:
        """Return the tokens of an expression."""
        operation = expression.operation
        if operation in AGGREGATES and self._exact:
            return self._aggregate(expression, level)
        if operation in EXTREMES:
            return self._extreme(expression, level)
        if operation in ("", "()", *AGGREGATES):
            return self._plain(expression, level)
        leaves: list[Expression] = []
        program = _program(expression, leaves, is_root=True)
        if not (self._matters(expression, leaves) if self._exact else self._has_functions and _multiplies(program)):
            return self._plain(expression, level)
        if level == LEVELS or self._added > _MOST_TOKENS:
            self.is_complete = False
            return expression.tokens()
        start = expression.start
        name = f"<{FUNCTIONS}{len(self.programs)}>"
        self.programs.append(program if self._exact or operation in _NO_NUMBERS else [FITTED, program])
        arguments: list[SparqlToken] = []
        for leaf in leaves:
            arguments += [*([_sign(",", start)] if arguments else []), *self.written(leaf, level + 1)]
        call = [SparqlToken("iri", name, start, True), _sign("(", start), *arguments, _sign(")", start)]
        inner = self._inner(expression, leaves, level + 1)
        self._added += len(inner) + len(call)
        # The engine denies that it is a number, where it has no result for any other operation.
        return _first_of(call, inner, start) if operation == "number" else _first_of(inner, call, start)

    def sort_keys(self, expression: Expression) -> list[list[SparqlToken]]:
        """Return the tokens of the keys that a comparator of ORDER BY sorts by, in turn."""
        start = expression.start
        key = self.written(expression)
        if not self._may_repeat(key):
            return [key]
        if not self._exact:
            return sort_keys(key, key, exact=False)
        name = SparqlToken("iri", f"<{FUNCTIONS}{ORDER}>", start, True)
        return sort_keys(key, [name, _sign("(", start), *key, _sign(")", start)], exact=True)

    def _may_repeat(self, tokens: list[SparqlToken]) -> bool:
        self._added += _MOST_REPEATED * len(tokens)
        self.is_complete = self.is_complete and self._added <= _MOST_TOKENS
        return self._added <= _MOST_TOKENS

    def _plain(self, expression: Expression, level: int) -> list[SparqlToken]:
        found: list[SparqlToken] = []
        for part in expression.parts:
            found += self.written(part, level) if isinstance(part, Expression) else [part]
        return found

    def _inner(self, expression: Expression, leaves: list[Expression], level: int) -> list[SparqlToken]:
        """Return the tokens of a rewritten operation as the engine calculates it."""
        found: list[SparqlToken] = []
        for part in expression.parts:
            if not isinstance(part, Expression):
                found.append(part)
            elif any(part is leaf for leaf in leaves):
                found += self.written(part, level)
            else:
                found += self._inner(part, leaves, level)
        return found

    def _aggregate(self, expression: Expression, level: int) -> list[SparqlToken]:
        name, _, *middle = expression.parts
        if level == LEVELS or not isinstance(name, SparqlToken):
            self.is_complete = False
            return expression.tokens()
        distinct = isinstance(middle[0], SparqlToken) and middle[0].text == "DISTINCT"
        start = name.start
        own = SparqlToken("iri", f"<{FUNCTIONS}{name.text}{'-distinct' if distinct else ''}>", start, True)
        inner = self.written(expression.operands[0], level + 1)
        if not self._may_repeat(inner):
            return self._plain(expression, level + 1)
        call = [own, _sign("(", start), *inner, _sign(")", start)]
        return _first_of(call, self._plain(expression, level + 1), start)

    def _extreme(self, expression: Expression, level: int) -> list[SparqlToken]:
        if level == LEVELS:
            self.is_complete = False
            return expression.tokens()
        operand = self.written(expression.operands[0], level + 1)
        if not self._may_repeat(operand):
            return expression.tokens()
        return extreme(expression.tokens()[0].text, operand)

    def _matters(self, expression: Expression, leaves: list[Expression]) -> bool:
        """Return whether an operation may meet a number that the engine does not calculate with."""
        if expression.operation not in (*COMPARED, "IN", "NOT IN"):
            return True
        if any(self._is_no_number(operand) for operand in expression.operands):
            return False
        return any(not self._is_short_constant(leaf) for leaf in leaves)

    def _is_no_number(self, leaf: Expression) -> bool:
        first, *others = leaf.parts
        if not isinstance(first, SparqlToken):
            return False
        if first.kind == "string":
            datatype = others[-1] if others else first
            if not isinstance(datatype, SparqlToken) or datatype.kind not in ("iri", "pname"):
                return True
            return not self._iri(datatype).startswith(XSD)
        return (first.kind in ("iri", "pname") and not others) or first.text in ("TRUE", "FALSE")

    def _is_short_constant(self, leaf: Expression) -> bool:
        first = leaf.parts[0]
        if not isinstance(first, SparqlToken) or first.kind != "number":
            return False
        return not is_long_text(first.text)


def _program(expression: Expression, leaves: list[Expression], *, is_root: bool = False) -> Program:
    """Return what an expression calculates; its operands that are not calculated are appended to `leaves`."""
    operation = expression.operation
    if operation == "()" and _is_calculated(expression):
        return _program(expression.operands[0], leaves)
    if not is_root and operation in ("", "()", *_NO_NUMBERS, *AGGREGATES):
        leaves.append(expression)
        return len(leaves) - 1
    return [operation, *(_program(operand, leaves) for operand in expression.operands)]


def _is_calculated(expression: Expression) -> bool:
    while expression.operation == "()":
        (expression,) = expression.operands
    return expression.operation not in ("", *_NO_NUMBERS, *AGGREGATES)


def _multiplies(program: Program) -> bool:
    return isinstance(program, list) and (program[0] in ("*", "/") or any(map(_multiplies, program[1:])))


def _first_of(first: list[SparqlToken], second: list[SparqlToken], start: int) -> list[SparqlToken]:
    """Return an expression with the first value that is no error."""
    word = SparqlToken("word", "COALESCE", start, True)
    return [word, _sign("(", start), *first, _sign(",", start), *second, _sign(")", start)]
