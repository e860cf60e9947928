"""Rewrites a query where Oxigraph would answer it wrongly.

Rules kept here:
- `GRAPH g {…}` is evaluated in each named graph of the dataset alone, and binds its variable (SPARQL 1.1 §18.6).
  Oxigraph takes the graph from the triples that a group matches. A variable around a group without triples, or with a
  subquery, is replaced by the union of the named graphs, and a constant has `GRAPH g {}` before it;
- a path that may have length zero matches the constant at its end also when no graph has it (§18.4). The solution is
  added, for constants that the worker does not find;
- numbers of any length have a place in an order, and a sum (`expressions.py`);
- a text that cannot be parsed here is not rewritten. The engine gets both texts, and reports errors in the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cortex_graph.sparql.exact_numbers import FUNCTIONS
from cortex_graph.sparql.expressions import Cursor, ExactWriter, Expression, ExpressionReader, NotParsedError
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.serialize import SparqlWriter
from cortex_graph.sparql.tokens import SparqlToken
from cortex_graph.store import Dataset

Tokens = Sequence[SparqlToken]

_MOST_TOKENS = 20_000  # of a group, in all named graphs together
_TOO_MANY = "GRAPH around a group without triples, or with a subquery, is not evaluated in so many graphs each alone"
_TOO_DEEP = "operations nest too deeply in the arguments of functions for integers beyond 64 bits and long decimals"
_MODIFIERS = frozenset({"GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"})
_PATH_SIGNS = frozenset("^!/|()*+?")
_ZERO_LENGTH = frozenset("*?")


@dataclass
class CarefulQuery:
    """A rewritten query.

    Attributes:
        text: the query.
        programs: what its functions calculate (`exact_numbers.functions`).
        probes: questions; when all are true, the original text has the same answer, unless `is_needed`.
        is_needed: whether the original text may have another answer.
        warnings: what was not rewritten.

    """

    text: str
    programs: list[Any] = field(default_factory=list)
    probes: list[str] = field(default_factory=list)
    is_needed: bool = False
    warnings: tuple[str, ...] = ()


def careful_query(
    text: str, tokens: Sequence[SparqlToken], dataset: Dataset, *, has_long_numbers: bool
) -> CarefulQuery | None:
    """Return a query rewritten; None when nothing of it needs to be.

    Args:
        text: a query that was serialised by this package.
        tokens: its tokens.
        dataset: its dataset.
        has_long_numbers: whether the dataset may have numbers that the engine does not calculate with.

    """
    signs = {token.text for token in tokens if token.kind in ("word", "sign")}
    if not (has_long_numbers or "GRAPH" in signs or (_ZERO_LENGTH & signs) or _has_long(tokens)):
        return None
    prologue = Prologue(text, {})
    try:
        rewriter = _Rewriter(tokens[prologue.read(tokens, 0) :], prologue, dataset)
        rewriter.exact = has_long_numbers or _has_long(tokens)
        body = rewriter.query()
    except (NotParsedError, RecursionError):
        return None
    if not rewriter.changed:
        return None
    written = SparqlWriter(text, prologue, functions=FUNCTIONS).write([body])
    found = CarefulQuery(written.text, rewriter.numbers.programs)
    found.probes = [SparqlWriter(text, prologue).write([probe]).text for probe in rewriter.probes]
    found.is_needed = rewriter.is_needed
    found.warnings = tuple(rewriter.warnings | ({_TOO_DEEP} if not rewriter.numbers.is_complete else set()))
    return found


def _has_long(tokens: Iterable[SparqlToken]) -> bool:
    """Return whether a query itself has a number that may be too long for the engine."""
    return any(token.kind in ("number", "string") and len(token.text) > 18 and _digits(token.text) for token in tokens)


def _digits(text: str) -> bool:
    return text.strip("\"'+-").replace(".", "", 1).isdecimal()


class _Rewriter:
    """Copies a query, and changes the parts that need it."""

    def __init__(self, tokens: Sequence[SparqlToken], prologue: Prologue, dataset: Dataset) -> None:
        self.exact = False
        self.changed = False
        self.is_needed = False
        self.warnings: set[str] = set()
        self.probes: list[list[SparqlToken]] = []
        self._cursor = Cursor(tokens)
        self._dataset = dataset
        self._in_graph = 0
        self._reader = ExpressionReader(self._cursor, self._group, prologue.iri)
        self.numbers = ExactWriter(prologue.iri)

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
            word = self._cursor.next()
            out.append(word)
            if word.text in ("LIMIT", "OFFSET"):
                out.append(self._cursor.next())
            elif word.text == "VALUES":
                out += self._values()
            else:
                if word.text != "HAVING":
                    out.append(self._cursor.next("BY"))
                while self._cursor.peek().kind in ("var", "iri", "pname") or self._sees_condition():
                    out += self._condition(word.text)
        return out

    def _sees_condition(self) -> bool:
        token = self._cursor.peek()
        return self._cursor.sees("(") or (token.kind == "word" and token.text not in _MODIFIERS)

    def _condition(self, clause: str) -> list[SparqlToken]:
        if clause == "ORDER":
            direction = [self._cursor.next()] if self._cursor.sees("ASC", "DESC") else []
            found = self._reader.primary()
            if not self.exact:
                return [*direction, *self._written(found)]
            self.changed = self.is_needed = True
            return [*direction, *_bracketed(self.numbers.order_key(found), found.start)]
        if clause == "GROUP" and self._cursor.sees("("):
            return self._named_expression()
        return self._constraint()

    def _constraint(self) -> list[SparqlToken]:
        """Rewrite what FILTER or HAVING tests; a call needs no brackets there, and a rewritten one has them."""
        found = self._reader.primary()
        written = self._written(found)
        if found.operation == "()" or len(written) == len(self._plain(found)):
            return written
        return _bracketed(written, found.start)

    def _plain(self, expression: Expression) -> list[SparqlToken]:
        found: list[SparqlToken] = []
        for part in expression.parts:
            found += self._plain(part) if isinstance(part, Expression) else [part]
        return found

    def _written(self, expression: Expression) -> list[SparqlToken]:
        if not self.exact:
            return self._plain(expression)
        before = len(self.numbers.programs)
        written = self.numbers.written(expression)
        if len(self.numbers.programs) > before or len(written) > len(self._plain(expression)):
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
        word = self._cursor.next("GRAPH")
        name = self._cursor.next()
        if name.kind not in ("var", "iri", "pname"):
            raise NotParsedError
        self._in_graph += 1
        inner = self._pattern()
        self._in_graph -= 1
        found = _Group([word, name, *inner.tokens])
        if len(inner.tokens) == 2:
            return found
        if inner.needs_each and name.kind == "var":
            if len(inner.tokens) * len(self._dataset.named) <= _MOST_TOKENS:
                self.changed = self.is_needed = True
                found.tokens = self._in_each(name, inner.tokens)
                return found
            self.warnings.add(_TOO_MANY)
        if not inner.has_triples:
            self.changed = self.is_needed = True
            braces = [SparqlToken("sign", sign, word.start) for sign in "{}"]
            found.tokens = [word, name, *braces, word, name, *inner.tokens]
        return found

    def _in_each(self, name: SparqlToken, inner: list[SparqlToken]) -> list[SparqlToken]:
        """Return the union of a pattern in each named graph."""
        start = name.start

        def sign(text: str) -> SparqlToken:
            return SparqlToken("sign", text, start)

        def word(text: str) -> SparqlToken:
            return SparqlToken("word", text, start)

        out: list[SparqlToken] = []
        for graph in self._dataset.named:
            iri = SparqlToken("iri", f"<{graph.value}>", start)
            bound = [word("VALUES"), name, sign("{"), iri, sign("}")]
            out += [word("UNION")] if out else []
            out += [sign("{"), *bound, word("GRAPH"), iri, *inner, sign("}")]
        if not out:
            out = [word("FILTER"), SparqlToken("sign", "(", start, True), word("FALSE"), sign(")")]
        return [sign("{"), *out, sign("}")]

    def _triples(self, group: _Group) -> None:
        """Rewrite the triples of one subject."""
        start = self._cursor.at
        subject = self._node()
        pairs: list[tuple[list[SparqlToken], list[SparqlToken]]] = []
        while not self._cursor.sees(".", "}", "{"):
            if self._cursor.sees(";"):
                self._cursor.next()
                continue
            if self._ends_triples():
                break
            verb = self._verb()
            pairs.append((verb, self._node()))
            while self._cursor.sees(","):
                self._cursor.next()
                pairs.append((verb, self._node()))
        if self._cursor.at == start:
            raise NotParsedError
        zero = [self._is_zero_length(subject, verb, node) for verb, node in pairs]
        group.has_triples = group.has_triples or not all(zero) or subject[0].kind == "sign"
        if not any(zero):
            group.tokens += self._cursor.tokens[start : self._cursor.at]
            return
        self.changed = group.needs_each = True
        for (verb, node), is_zero in zip(pairs, zero, strict=True):
            if is_zero:
                group.tokens += self._with_zero_length(subject, verb, node)
            else:
                group.tokens += [*subject, *verb, *node, SparqlToken("sign", ".", node[-1].start)]

    def _ends_triples(self) -> bool:
        token = self._cursor.peek()
        return token.kind == "word" and token.text != "a"

    def _node(self) -> list[SparqlToken]:
        """Read a term, `[ … ]` or `( … )`."""
        token = self._cursor.next()
        if token.kind == "sign" and token.text in ("[", "("):
            out, depth = [token], 1
            while depth:
                token = self._cursor.next()
                out.append(token)
                if token.kind == "sign":
                    depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(token.text, 0)
            return out
        if token.kind == "sign" and token.text in ("+", "-") and self._cursor.peek().kind == "number":
            return [token, self._cursor.next()]
        if token.kind not in ("var", "iri", "pname", "bnode", "string", "number") and token.text not in (
            "TRUE",
            "FALSE",
        ):
            raise NotParsedError
        if token.kind == "string" and self._cursor.peek().kind == "lang":
            return [token, self._cursor.next()]
        if token.kind == "string" and self._cursor.sees("^^"):
            return [token, self._cursor.next(), self._cursor.next()]
        return [token]

    def _verb(self) -> list[SparqlToken]:
        """Read a predicate or a path."""
        out: list[SparqlToken] = []
        depth, is_complete = 0, False
        while True:
            token = self._cursor.peek()
            is_sign = token.kind == "sign" and token.text in _PATH_SIGNS
            is_signed_number = token.text == "+" and self._cursor.peek(1)[:3:2] == ("number", token.start + 1)
            if is_complete and (not is_sign or token.text not in "/|*+?" or is_signed_number):
                return out
            if not is_sign and token.kind not in ("iri", "pname", "var") and token[:2] != ("word", "a"):
                raise NotParsedError
            out.append(self._cursor.next())
            depth += {"(": 1, ")": -1}.get(token.text, 0) if is_sign else 0
            is_complete = not depth and (not is_sign or token.text in ")*+?")

    def _is_zero_length(self, subject: Tokens, verb: Tokens, node: Tokens) -> bool:
        """Return whether a constant may be the start and the end of a path."""
        if len(verb) == 1 or not _may_be_empty(verb):
            return False
        constants = [term for term in (subject, node) if _is_constant(term)]
        if len(constants) == 2:
            return _texts(subject) == _texts(node)
        return len(constants) == 1 and "var" in (subject[0].kind, node[0].kind)

    def _with_zero_length(self, subject: Tokens, verb: Tokens, node: Tokens) -> list[SparqlToken]:
        """Return a path, and the solution of length zero where the engine does not find it."""
        start = subject[0].start

        def sign(text: str) -> SparqlToken:
            return SparqlToken("sign", text, start)

        def word(text: str) -> SparqlToken:
            return SparqlToken("word", text, start)

        constant, other = (subject, node) if _is_constant(subject) else (node, subject)
        known = [sign("{"), *constant, *verb, *constant, sign("}")]
        if self._in_graph:
            self.is_needed = True
        else:
            self.probes.append([word("ASK"), *known])
        bound = [word("VALUES"), *other, sign("{"), *constant, sign("}")] if other[0].kind == "var" else []
        missing = [word("FILTER"), word("NOT"), word("EXISTS"), *known]
        found = [sign("{"), *subject, *verb, *node, sign("}")]
        return [sign("{"), *found, word("UNION"), sign("{"), *bound, *missing, sign("}"), sign("}")]


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


_CONSTANTS = frozenset({"iri", "pname", "string", "number"})


def _bracketed(tokens: Tokens, start: int) -> list[SparqlToken]:
    return [SparqlToken("sign", "(", start, True), *tokens, SparqlToken("sign", ")", start, True)]


def _is_constant(term: Tokens) -> bool:
    return term[0].kind in _CONSTANTS or term[0].text in ("TRUE", "FALSE", "+", "-")


def _texts(tokens: Iterable[SparqlToken]) -> list[str]:
    return [token.text for token in tokens]


def _may_be_empty(path: Sequence[SparqlToken]) -> bool:
    """Return whether a path may have length zero (SPARQL 1.1 §9.1)."""
    alternatives = _split(path, "|")
    if len(alternatives) > 1:
        return any(map(_may_be_empty, alternatives))
    steps = _split(path, "/")
    if len(steps) > 1:
        return all(map(_may_be_empty, steps))
    if path and path[0].text == "^":
        return _may_be_empty(path[1:])
    if path and path[-1].kind == "sign" and path[-1].text in _ZERO_LENGTH:
        return True
    if path and path[-1].text == "+":
        return _may_be_empty(path[:-1])
    return len(path) > 1 and path[0].text == "(" and _may_be_empty(path[1:-1])


def _split(path: Sequence[SparqlToken], sign: str) -> list[Sequence[SparqlToken]]:
    """Split a path at a sign outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, token in enumerate(path):
        if token.kind == "sign":
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.text == sign and not depth:
                parts.append(path[start:at])
                start = at + 1
    return [*parts, path[start:]]
