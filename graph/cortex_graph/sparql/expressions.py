"""Expressions of SPARQL (§19.8, rules 110 to 128) as trees of their tokens, and what is calculated in them.

Rules kept here:
- an operation on numbers is kept as it is, and followed by the same operation on numbers of any length
  (`exact_numbers.py`) for the case that the engine has no result: `COALESCE(?a < ?b, exact/0(?a, ?b))`. So results that
  the engine has stay, and nothing else is slower;
- an operand is evaluated twice then, so that operations in arguments of arguments are rewritten `LEVELS` deep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyoxigraph import Literal, NamedNode

from cortex_graph.sparql.exact_numbers import AGGREGATES, FUNCTIONS, ORDER, XSD, Program, is_long, number_of
from cortex_graph.sparql.tokens import SparqlToken

LEVELS = 5
_COMPARED: Final = frozenset({"=", "!=", "<", ">", "<=", ">="})
_CHANGED: Final = frozenset({"ABS", "CEIL", "FLOOR", "ROUND"})
_ALL_AGGREGATES: Final = frozenset({*AGGREGATES, "COUNT", "SAMPLE", "GROUP_CONCAT"})


class NotParsedError(Exception):
    """The tokens are no SPARQL as it is known here; the engine decides."""


@dataclass
class Expression:
    """A part of an expression.

    Attributes:
        operation: what it calculates; empty for a constant, a variable, or a call of something else.
        parts: its tokens, and the expressions between them.
        operands: the expressions that it calculates with.

    """

    operation: str
    parts: list[SparqlToken | Expression] = field(default_factory=list)
    operands: list[Expression] = field(default_factory=list)

    @property
    def start(self) -> int:
        """The offset of its first token."""
        first = self.parts[0]
        return first.start


class Cursor:
    """A position in tokens."""

    def __init__(self, tokens: Sequence[SparqlToken]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> SparqlToken:
        """Return the next token, or one after it; an empty one after the last."""
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else _END

    def next(self, *texts: str) -> SparqlToken:
        """Return the next token and step over it; it must have one of these texts, if any are given."""
        token = self.peek()
        if token is _END or (texts and not self.sees(*texts)):
            raise NotParsedError
        self.at += 1
        return token

    def sees(self, *texts: str) -> bool:
        """Return whether the next token is one of these words or signs."""
        token = self.peek()
        return token.kind in ("word", "sign") and token.text in texts


_END = SparqlToken("sign", "", 0)


class ExpressionReader:
    """Reads expressions.

    Args:
        cursor: where they are.
        group: reads a group of patterns, for EXISTS, and returns its tokens.
        iri: returns the IRI of a token.

    """

    def __init__(
        self, cursor: Cursor, group: Callable[[], list[SparqlToken]], iri: Callable[[SparqlToken], str]
    ) -> None:
        self._cursor = cursor
        self._group = group
        self._iri = iri

    def bracketed(self) -> Expression:
        """Read `( expression )`."""
        opening = self._cursor.next("(")
        inner = self.expression()
        return Expression("()", [opening, inner, self._cursor.next(")")], [inner])

    def expression(self) -> Expression:
        """Read an expression."""
        return self._chain(lambda: self._chain(self._relation, "&&"), "||")

    def _chain(self, part: Callable[[], Expression], sign: str) -> Expression:
        parts: list[SparqlToken | Expression] = [part()]
        while self._cursor.sees(sign):
            parts += [self._cursor.next(), part()]
        return parts[0] if len(parts) == 1 and isinstance(parts[0], Expression) else Expression("", parts)

    def _relation(self) -> Expression:
        left = self._sum()
        if self._cursor.sees(*_COMPARED):
            sign = self._cursor.next()
            right = self._sum()
            return Expression(sign.text, [left, sign, right], [left, right])
        if self._cursor.sees("IN") or (self._cursor.sees("NOT") and self._cursor.peek(1).text == "IN"):
            words = [self._cursor.next("NOT")] if self._cursor.sees("NOT") else []
            words.append(self._cursor.next("IN"))
            listed, operands = self._arguments()
            return Expression(" ".join(word.text for word in words), [left, *words, *listed], [left, *operands])
        return left

    def _sum(self) -> Expression:
        return self._left(lambda: self._left(self._unary, "*", "/"), "+", "-")

    def _left(self, part: Callable[[], Expression], *signs: str) -> Expression:
        found = part()
        while self._cursor.sees(*signs):
            sign = self._cursor.next()
            right = part()
            found = Expression(sign.text, [found, sign, right], [found, right])
        return found

    def _unary(self) -> Expression:
        if self._cursor.sees("!"):
            return Expression("", [self._cursor.next(), self._unary()])
        if self._cursor.sees("+", "-"):
            sign = self._cursor.next()
            inner = self.primary()
            return Expression(f"{sign.text}1", [sign, inner], [inner])
        return self.primary()

    def primary(self) -> Expression:
        """Read a constant, a variable, a call, or an expression in brackets."""
        token = self._cursor.peek()
        if self._cursor.sees("("):
            return self.bracketed()
        if token.kind in ("var", "number"):
            return Expression("", [self._cursor.next()])
        if token.kind == "string":
            return self._string()
        if token.kind in ("iri", "pname"):
            return self._named()
        if token.kind != "word":
            raise NotParsedError
        self._cursor.next()
        if token.text in ("TRUE", "FALSE"):
            return Expression("", [token])
        if token.text == "NOT":
            return Expression("", [token, self._cursor.next("EXISTS"), *self._group()])
        if token.text == "EXISTS":
            return Expression("", [token, *self._group()])
        return self._aggregate(token) if token.text in _ALL_AGGREGATES else self._call(token)

    def _string(self) -> Expression:
        parts: list[SparqlToken | Expression] = [self._cursor.next()]
        if self._cursor.peek().kind == "lang":
            parts.append(self._cursor.next())
        elif self._cursor.sees("^^"):
            parts += [self._cursor.next(), self._cursor.next()]
        return Expression("", parts)

    def _named(self) -> Expression:
        name = self._cursor.next()
        if not self._cursor.sees("("):
            return Expression("", [name])
        listed, operands = self._arguments()
        iri = self._iri(name)
        is_cast = len(operands) == 1 and iri in (f"{XSD}{kind}" for kind in ("integer", "decimal", "float", "double"))
        return Expression(iri if is_cast else "", [name, *listed], operands)

    def _call(self, name: SparqlToken) -> Expression:
        listed, operands = self._arguments()
        operation = name.text if name.text in _CHANGED else "number" if name.text == "ISNUMERIC" else ""
        return Expression(operation if len(operands) == 1 else "", [name, *listed], operands)

    def _arguments(self) -> tuple[list[SparqlToken | Expression], list[Expression]]:
        listed: list[SparqlToken | Expression] = [self._cursor.next("(")]
        operands: list[Expression] = []
        if self._cursor.sees("DISTINCT"):
            listed.append(self._cursor.next())
        while not self._cursor.sees(")"):
            if operands:
                listed.append(self._cursor.next(","))
            operands.append(self.expression())
            listed.append(operands[-1])
        return [*listed, self._cursor.next()], operands

    def _aggregate(self, name: SparqlToken) -> Expression:
        parts: list[SparqlToken | Expression] = [name, self._cursor.next("(")]
        if self._cursor.sees("DISTINCT"):
            parts.append(self._cursor.next())
        operands: list[Expression] = []
        if self._cursor.sees("*"):
            parts.append(self._cursor.next())
        else:
            operands.append(self.expression())
            parts.append(operands[0])
        if self._cursor.sees(";"):
            parts += [self._cursor.next(";"), self._cursor.next("SEPARATOR"), self._cursor.next("=")]
            parts.append(self._cursor.next())
        parts.append(self._cursor.next(")"))
        return Expression(name.text if name.text in AGGREGATES else "", parts, operands)


class ExactWriter:
    """Writes expressions, with functions of `exact_numbers` beside the operations of the engine.

    Attributes:
        programs: what the functions calculate.
        is_complete: whether every operation was rewritten.

    """

    def __init__(self, iri: Callable[[SparqlToken], str]) -> None:
        self.programs: list[Program] = []
        self.is_complete = True
        self._iri = iri

    def written(self, expression: Expression, level: int = 0) -> list[SparqlToken]:
        """Return the tokens of an expression."""
        operation = expression.operation
        if operation in AGGREGATES:
            return self._aggregate(expression, level)
        if operation in ("", "()"):
            return self._plain(expression, level)
        leaves: list[Expression] = []
        program = _program(expression, leaves, is_root=True)
        if not self._matters(expression, leaves):
            return self._plain(expression, level)
        if level == LEVELS:
            self.is_complete = False
            return self._plain(expression, level)
        start = expression.start
        name = f"<{FUNCTIONS}{len(self.programs)}>"
        self.programs.append(program)
        arguments: list[SparqlToken] = []
        for leaf in leaves:
            arguments += [*([_sign(",", start)] if arguments else []), *self.written(leaf, level + 1)]
        call = [SparqlToken("iri", name, start, True), _sign("(", start), *arguments, _sign(")", start)]
        inner = self._inner(expression, leaves, level + 1)
        # The engine denies that it is a number, where it has no result for any other operation.
        return _first_of(call, inner, start) if operation == "number" else _first_of(inner, call, start)

    def order_key(self, expression: Expression) -> list[SparqlToken]:
        """Return the tokens of what a comparator of ORDER BY sorts by."""
        start = expression.start
        name = SparqlToken("iri", f"<{FUNCTIONS}{ORDER}>", start, True)
        return [name, _sign("(", start), *self.written(expression), _sign(")", start)]

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
            return self._plain(expression, level)
        distinct = isinstance(middle[0], SparqlToken) and middle[0].text == "DISTINCT"
        start = name.start
        own = SparqlToken("iri", f"<{FUNCTIONS}{name.text}{'-distinct' if distinct else ''}>", start, True)
        inner = self.written(expression.operands[0], level + 1)
        call = [own, _sign("(", start), *inner, _sign(")", start)]
        return _first_of(call, self._plain(expression, level + 1), start)

    def _matters(self, expression: Expression, leaves: list[Expression]) -> bool:
        """Return whether an operation may meet a number that the engine does not calculate with."""
        if expression.operation not in (*_COMPARED, "IN", "NOT IN"):
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
        kind = "double" if "e" in first.text.lower() else "decimal" if "." in first.text else "integer"
        number = number_of(Literal(first.text, datatype=NamedNode(f"{XSD}{kind}")))
        return number is not None and not is_long(number)


def _program(expression: Expression, leaves: list[Expression], *, is_root: bool = False) -> Program:
    """Return what an expression calculates; its operands that are not calculated are appended to `leaves`."""
    operation = expression.operation
    if operation == "()" and _is_calculated(expression):
        return _program(expression.operands[0], leaves)
    if not is_root and (operation in ("", "()", "IN", "NOT IN", "number", *_COMPARED, *AGGREGATES)):
        leaves.append(expression)
        return len(leaves) - 1
    return [operation, *(_program(operand, leaves) for operand in expression.operands)]


def _is_calculated(expression: Expression) -> bool:
    while expression.operation == "()":
        (expression,) = expression.operands
    return expression.operation not in ("", "IN", "NOT IN", "number", *_COMPARED, *AGGREGATES)


def _first_of(first: list[SparqlToken], second: list[SparqlToken], start: int) -> list[SparqlToken]:
    """Return an expression with the first value that is no error."""
    word = SparqlToken("word", "COALESCE", start, True)
    return [word, _sign("(", start), *first, _sign(",", start), *second, _sign(")", start)]


def _sign(text: str, start: int) -> SparqlToken:
    return SparqlToken("sign", text, start, True)
