"""Rewrites a query where Oxigraph would answer it wrongly.

Rules kept here:
- `GRAPH g {…}` is evaluated in each named graph of the dataset alone, and binds its variable (SPARQL 1.1 §18.6).
  Oxigraph takes the graph from the triples that a group matches. A variable around a group without triples, or with a
  subquery, is replaced by the union of the named graphs, and a constant has `GRAPH g {}` before it;
- a path that may have length zero matches the constant at its end (`zero_length_paths.py`), also one that no graph has:
  the worker asks for it first;
- numbers of any length have a place in an order, and a sum, and decimals a product (`exact_writer.py`);
- values of several kinds have an order (`total_order.py`);
- a text that cannot be parsed here is not rewritten. The engine gets both texts, and reports errors in the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex_graph.sparql.exact_numbers import FUNCTIONS, is_long_text
from cortex_graph.sparql.exact_writer import ExactWriter
from cortex_graph.sparql.expressions import Expression, ExpressionReader
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.serialize import SparqlWriter
from cortex_graph.sparql.token_cursor import Cursor, NotParsedError, sign, word
from cortex_graph.sparql.tokens import SparqlToken
from cortex_graph.sparql.total_order import without_order
from cortex_graph.sparql.zero_length_paths import (
    ZERO_LENGTH,
    Tokens,
    is_zero_length,
    known,
    read_node,
    read_verb,
    with_zero_length,
)
from cortex_graph.store import Dataset

_MOST_TOKENS = 50_000  # of groups that are repeated for each named graph
_TOO_MANY = "GRAPH around a group without triples, or with a subquery, is not evaluated in so many graphs each alone"
_TOO_DEEP = "operations nest too deeply, or are too many, for long numbers and values of several kinds"
_TOO_LONG = "the server may not compare integers beyond 64 bits and decimals of more than 38 digits"
_SHORT = 18  # characters of a number that is never too long
_REWRITTEN = frozenset({"GRAPH", "ORDER", "MAX", "MIN", "/", *ZERO_LENGTH})
_MODIFIERS = frozenset({"GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"})


@dataclass
class CarefulQuery:
    """A rewritten query.

    Attributes:
        text: the query.
        checked: the original text without ORDER BY: whether the engine accepts it can be asked without sorting.
        programs: what its functions calculate (`exact_numbers.functions`).
        probes: questions; when all are true, the original text has the same answer, unless `is_needed`.
        is_needed: whether the original text may have another answer.
        warnings: what was not rewritten.
    """

    text: str
    checked: str = ""
    programs: list[Any] = field(default_factory=list)
    probes: list[str] = field(default_factory=list)
    is_needed: bool = False
    warnings: tuple[str, ...] = ()


def careful_query(
    text: str, tokens: Sequence[SparqlToken], dataset: Dataset, *, has_long_numbers: bool | None
) -> CarefulQuery | None:
    """Return a query rewritten; None when nothing of it needs to be.

    Args:
        text: a query that was serialised by this package.
        tokens: its tokens.
        dataset: its dataset.
        has_long_numbers: whether the dataset may have numbers that the engine does not calculate with; None when the
            engine cannot be given functions, as that of a server.
    """
    signs = {token.text for token in tokens if token.kind in ("word", "sign")}
    if not (has_long_numbers or _REWRITTEN & signs or _has_long(tokens)):
        return None
    prologue = Prologue(text, {})
    try:
        exact = has_long_numbers is not None and (has_long_numbers or _has_long(tokens))
        numbers = ExactWriter(prologue.iri, exact=exact, has_functions=has_long_numbers is not None)
        start = prologue.read(tokens, 0)
        rewriter = _Rewriter(tokens[start:], prologue, dataset, numbers)
        body = rewriter.query()
    except NotParsedError:
        return None
    except RecursionError:
        return CarefulQuery(text, text, warnings=(_TOO_DEEP,)) if has_long_numbers else None
    if has_long_numbers is None and _has_long(tokens):
        rewriter.warnings.add(_TOO_LONG)
    if not rewriter.changed and not rewriter.warnings:
        return None
    written = SparqlWriter(text, prologue, functions=FUNCTIONS).write([body])
    checked = SparqlWriter(text, prologue).write([without_order(tokens[start:])])
    found = CarefulQuery(written.text, checked.text, rewriter.numbers.programs)
    found.probes = [SparqlWriter(text, prologue).write([probe]).text for probe in rewriter.probes]
    found.is_needed = rewriter.is_needed
    found.warnings = tuple(rewriter.warnings | ({_TOO_DEEP} if not rewriter.numbers.is_complete else set()))
    return found


def _has_long(tokens: Iterable[SparqlToken]) -> bool:
    """Return whether a query itself has a number that is too long for the engine, also in a string for a cast."""
    return any(
        token.kind in ("number", "string") and len(token.text) > _SHORT and is_long_text(token.text.strip("\"'"))
        for token in tokens
    )


class _Rewriter:
    """Copies a query, and changes the parts that need it."""

    def __init__(
        self, tokens: Sequence[SparqlToken], prologue: Prologue, dataset: Dataset, numbers: ExactWriter
    ) -> None:
        self.numbers = numbers
        self.changed = False
        self.is_needed = False
        self.warnings: set[str] = set()
        self.probes: list[list[SparqlToken]] = []
        self._cursor = Cursor(tokens)
        self._dataset = dataset
        self._in_graph = 0
        self._added = 0  # tokens of groups that are repeated
        self._reader = ExpressionReader(self._cursor, self._group, prologue.iri)

    def query(self) -> list[SparqlToken]:
        """Rewrite the whole query."""
        out: list[SparqlToken] = []
        first = self._cursor.next("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
        out.append(first)
        if first.text == "SELECT":
            out += self._projection()
        elif first.text == "CONSTRUCT":
            if self._cursor.sees("{"):
                out += self._copied_braces()
            elif self._cursor.sees("WHERE"):  # one group is the template and the pattern, of triples alone
                return [*out, self._cursor.next(), *self._copied_braces(), *self._last_modifiers()]
        else:
            while self._cursor.peek().kind in ("var", "iri", "pname") or self._cursor.sees("*"):
                out.append(self._cursor.next())
        if self._cursor.sees("WHERE"):
            out.append(self._cursor.next())
        if self._cursor.sees("{"):
            out += self._group()
        return out + self._last_modifiers()

    def _last_modifiers(self) -> list[SparqlToken]:
        out = self._modifiers()
        if self._cursor.at != len(self._cursor.tokens):
            raise NotParsedError
        return out

    def _projection(self) -> list[SparqlToken]:
        out: list[SparqlToken] = []
        while not self._cursor.sees("WHERE", "{"):
            if self._cursor.sees("("):
                out += self._named_expression()
            elif self._cursor.peek().kind == "var" or self._cursor.sees("DISTINCT", "REDUCED", "*"):
                out.append(self._cursor.next())
            else:
                raise NotParsedError
        return out

    def _named_expression(self) -> list[SparqlToken]:
        """Rewrite `( expression AS ?variable )`, also without a name."""
        opening = self._cursor.next("(")
        inner = self._written(self._reader.expression())
        name = [self._cursor.next(), self._cursor.next()] if self._cursor.sees("AS") else []
        return [opening, *inner, *name, self._cursor.next(")")]

    def _modifiers(self) -> list[SparqlToken]:
        out: list[SparqlToken] = []
        while self._cursor.sees(*_MODIFIERS):
            clause = self._cursor.next()
            out.append(clause)
            if clause.text in ("LIMIT", "OFFSET"):
                out.append(self._cursor.next())
            elif clause.text == "VALUES":
                out += self._values()
            else:
                if clause.text != "HAVING":
                    out.append(self._cursor.next("BY"))
                while self._cursor.peek().kind in ("var", "iri", "pname") or self._sees_condition():
                    out += self._condition(clause.text)
        return out

    def _sees_condition(self) -> bool:
        token = self._cursor.peek()
        return self._cursor.sees("(") or (token.kind == "word" and token.text not in _MODIFIERS)

    def _condition(self, clause: str) -> list[SparqlToken]:
        if clause == "ORDER":
            direction = [self._cursor.next()] if self._cursor.sees("ASC", "DESC") else []
            found = self._reader.primary()
            keys = self.numbers.sort_keys(found)
            if keys == [found.tokens()]:
                return [*direction, *keys[0]]
            self.changed = self.is_needed = True
            return [token for key in keys for token in (*direction, *_bracketed(key, found.start))]
        if clause == "GROUP" and self._cursor.sees("("):
            return self._named_expression()
        return self._constraint()

    def _constraint(self) -> list[SparqlToken]:
        """Rewrite what FILTER or HAVING tests; a call needs no brackets there, and a rewritten one has them."""
        found = self._reader.primary()
        written = self._written(found)
        if found.operation == "()" or len(written) == len(found.tokens()):
            return written
        return _bracketed(written, found.start)

    def _written(self, expression: Expression) -> list[SparqlToken]:
        before = len(self.numbers.programs)
        written = self.numbers.written(expression)
        if len(self.numbers.programs) > before or len(written) > len(expression.tokens()):
            self.changed = self.is_needed = True
        return written

    def _group(self) -> list[SparqlToken]:
        """Rewrite `{ … }`."""
        return self._pattern().tokens

    def _pattern(self) -> _Group:
        group = _Group()
        group.tokens.append(self._cursor.next("{"))
        if self._cursor.sees("SELECT"):
            group.needs_each = True
            group.tokens += [self._cursor.next(), *self._projection()]
            if self._cursor.sees("WHERE"):
                group.tokens.append(self._cursor.next())
            group.tokens += self._pattern().tokens
            group.tokens += self._modifiers()
        while not self._cursor.sees("}"):
            self._element(group)
        group.tokens.append(self._cursor.next("}"))
        group.needs_each = group.needs_each or (not group.has_triples and len(group.tokens) > 2)
        return group

    def _element(self, group: _Group) -> None:
        if self._cursor.sees("{"):
            self._union(group)
        elif self._cursor.sees("OPTIONAL", "MINUS"):
            group.tokens.append(self._cursor.next())
            group.add(self._pattern())
        elif self._cursor.sees("GRAPH"):
            group.add(self._graph())
        elif self._cursor.sees("FILTER"):
            group.tokens += [self._cursor.next(), *self._constraint()]
        elif self._cursor.sees("BIND"):
            group.tokens += [self._cursor.next(), *self._named_expression()]
        elif self._cursor.sees("VALUES"):
            group.tokens += [self._cursor.next(), *self._values()]
        elif self._cursor.sees("."):
            group.tokens.append(self._cursor.next())
        else:
            self._triples(group)

    def _union(self, group: _Group) -> None:
        parts = [self._pattern()]
        group.add(parts[0])
        while self._cursor.sees("UNION"):
            group.tokens.append(self._cursor.next())
            parts.append(self._pattern())
            group.add(parts[-1])
        group.has_triples = group.has_triples or all(part.has_triples for part in parts)

    def _values(self) -> list[SparqlToken]:
        out: list[SparqlToken] = []
        while not self._cursor.sees("{"):
            out.append(self._cursor.next())
        return [*out, *self._copied_braces()]

    def _copied_braces(self) -> list[SparqlToken]:
        out = [self._cursor.next("{")]
        depth = 1
        while depth:
            token = self._cursor.next()
            out.append(token)
            if token.kind == "sign":
                depth += {"{": 1, "}": -1}.get(token.text, 0)
        return out

    def _graph(self) -> _Group:
        opening = self._cursor.next("GRAPH")
        name = self._cursor.next()
        if name.kind not in ("var", "iri", "pname"):
            raise NotParsedError
        self._in_graph += 1
        inner = self._pattern()
        self._in_graph -= 1
        found = _Group([opening, name, *inner.tokens])
        if len(inner.tokens) == 2:
            return found
        if inner.needs_each and name.kind == "var":
            self._added += len(inner.tokens) * len(self._dataset.named)
            if self._added <= _MOST_TOKENS:
                self.changed = self.is_needed = True
                found.tokens = self._in_each(name, inner.tokens)
                return found
            self.warnings.add(_TOO_MANY)
        if not inner.has_triples:
            self.changed = self.is_needed = True
            braces = [sign("{", name.start), sign("}", name.start)]
            found.tokens = [opening, name, *braces, opening, name, *inner.tokens]
        return found

    def _in_each(self, name: SparqlToken, inner: Tokens) -> list[SparqlToken]:
        """Return the union of a pattern in each named graph."""
        start = name.start
        out: list[SparqlToken] = []
        for graph in self._dataset.named:
            iri = SparqlToken("iri", f"<{graph.value}>", start)
            bound = [word("VALUES", start), name, sign("{", start), iri, sign("}", start)]
            out += [word("UNION", start)] if out else []
            out += [sign("{", start), *bound, word("GRAPH", start), iri, *inner, sign("}", start)]
        if not out:
            out = [word("FILTER", start), *_bracketed([word("FALSE", start)], start)]
        return [sign("{", start), *out, sign("}", start)]

    def _triples(self, group: _Group) -> None:
        """Rewrite the triples of one subject."""
        start = self._cursor.at
        subject = read_node(self._cursor)
        pairs: list[tuple[list[SparqlToken], list[SparqlToken]]] = []
        while not self._cursor.sees(".", "}", "{"):
            if self._cursor.sees(";"):
                self._cursor.next()
                continue
            if self._ends_triples():
                break
            verb = read_verb(self._cursor)
            pairs.append((verb, read_node(self._cursor)))
            while self._cursor.sees(","):
                self._cursor.next()
                pairs.append((verb, read_node(self._cursor)))
        if self._cursor.at == start:
            raise NotParsedError
        zero = [is_zero_length(subject, verb, node) for verb, node in pairs]
        group.has_triples = group.has_triples or not all(zero) or subject[0].kind == "sign"
        if not any(zero):
            group.tokens += self._cursor.tokens[start : self._cursor.at]
            return
        self.changed = group.needs_each = True
        for (verb, node), is_zero in zip(pairs, zero, strict=True):
            if is_zero:
                if self._in_graph:
                    self.is_needed = True
                else:
                    self.probes.append([word("ASK", subject[0].start), *known(subject, verb, node)])
                group.tokens += with_zero_length(subject, verb, node)
            else:
                group.tokens += [*subject, *verb, *node, sign(".", node[-1].start)]

    def _ends_triples(self) -> bool:
        token = self._cursor.peek()
        return token.kind == "word" and token.text != "a"


@dataclass
class _Group:
    """A rewritten group.

    Attributes:
        tokens: with its braces.
        has_triples: whether a triple of the graph is matched in any case.
        needs_each: whether the engine does not evaluate it in each graph alone.
    """

    tokens: list[SparqlToken] = field(default_factory=list)
    has_triples: bool = False
    needs_each: bool = False

    def add(self, inner: _Group) -> None:
        """Append a group in it."""
        self.tokens += inner.tokens
        self.needs_each = self.needs_each or inner.needs_each


def _bracketed(tokens: Tokens, start: int) -> list[SparqlToken]:
    return [sign("(", start, in_expression=True), *tokens, sign(")", start, in_expression=True)]
