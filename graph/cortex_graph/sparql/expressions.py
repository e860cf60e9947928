"""Expressions of SPARQL (§19.8, rules 110 to 128), read as trees of their tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from cortex_graph.sparql.exact_numbers import AGGREGATES, XSD
from cortex_graph.sparql.token_cursor import Cursor, NotParsedError
from cortex_graph.sparql.tokens import SparqlToken

COMPARED: Final = frozenset({"=", "!=", "<", ">", "<=", ">="})
_CHANGED: Final = frozenset({"ABS", "CEIL", "FLOOR", "ROUND"})
_ALL_AGGREGATES: Final = frozenset({*AGGREGATES, "COUNT", "SAMPLE", "GROUP_CONCAT"})


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

    def tokens(self) -> list[SparqlToken]:
        """Return its tokens, and those of the expressions in it."""
        found: list[SparqlToken] = []
        for part in self.parts:
            found += part.tokens() if isinstance(part, Expression) else [part]
        return found

    @property
    def start(self) -> int:
        """The offset of its first token."""
        first = self.parts[0]
        return first.start


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
        if self._cursor.sees(*COMPARED):
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
