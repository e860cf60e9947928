"""Triples of a pattern whose path may have length zero.

Rules kept here:
- such a path matches the constant at its end also when no graph has it (SPARQL 1.1 §18.4); Oxigraph does not find it;
- a constant that Oxigraph finds is not added a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cortex_graph.sparql.token_cursor import Cursor, NotParsedError, sign, word
from cortex_graph.sparql.tokens import SparqlToken

Tokens = Sequence[SparqlToken]

ZERO_LENGTH = frozenset("*?")
_PATH_SIGNS = frozenset("^!/|()*+?")
_CONSTANTS = frozenset({"iri", "pname", "string", "number"})


def read_node(cursor: Cursor) -> list[SparqlToken]:
    """Read a term, `[ … ]` or `( … )`."""
    token = cursor.next()
    if token.kind == "sign" and token.text in ("[", "("):
        out, depth = [token], 1
        while depth:
            token = cursor.next()
            out.append(token)
            if token.kind == "sign":
                depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(token.text, 0)
        return out
    if token.kind == "sign" and token.text in ("+", "-") and cursor.peek().kind == "number":
        return [token, cursor.next()]
    if token.kind not in ("var", "iri", "pname", "bnode", "string", "number") and token.text not in (
        "TRUE",
        "FALSE",
    ):
        raise NotParsedError
    if token.kind == "string" and cursor.peek().kind == "lang":
        return [token, cursor.next()]
    if token.kind == "string" and cursor.sees("^^"):
        return [token, cursor.next(), cursor.next()]
    return [token]


def read_verb(cursor: Cursor) -> list[SparqlToken]:
    """Read a predicate or a path."""
    out: list[SparqlToken] = []
    depth, is_complete = 0, False
    while True:
        token = cursor.peek()
        is_sign = token.kind == "sign" and token.text in _PATH_SIGNS
        is_signed_number = token.text == "+" and cursor.peek(1)[:3:2] == ("number", token.start + 1)
        if is_complete and (not is_sign or token.text not in "/|*+?" or is_signed_number):
            return out
        if not is_sign and token.kind not in ("iri", "pname", "var") and token[:2] != ("word", "a"):
            raise NotParsedError
        out.append(cursor.next())
        depth += {"(": 1, ")": -1}.get(token.text, 0) if is_sign else 0
        is_complete = not depth and (not is_sign or token.text in ")*+?")


def is_zero_length(subject: Tokens, verb: Tokens, node: Tokens) -> bool:
    """Return whether a constant may be the start and the end of a path."""
    if len(verb) == 1 or not _may_be_empty(verb):
        return False
    constants = [term for term in (subject, node) if _is_constant(term)]
    if len(constants) == 2:
        return _texts(subject) == _texts(node)
    return len(constants) == 1 and any(_matches_anything(term) for term in (subject, node))


def with_zero_length(subject: Tokens, verb: Tokens, node: Tokens) -> list[SparqlToken]:
    """Return a path, and the solution of length zero where the engine does not find it."""
    start = subject[0].start
    constant, other = (subject, node) if _is_constant(subject) else (node, subject)
    bound = [word("VALUES", start), *other, sign("{", start), *constant, sign("}", start)]
    missing = [word("FILTER", start), word("NOT", start), word("EXISTS", start), *known(subject, verb, node)]
    added = [*(bound if other[0].kind == "var" else ()), *missing]
    found = [sign("{", start), *subject, *verb, *node, sign("}", start), word("UNION", start)]
    return [sign("{", start), *found, sign("{", start), *added, sign("}", start), sign("}", start)]


def known(subject: Tokens, verb: Tokens, node: Tokens) -> list[SparqlToken]:
    """Return the pattern that matches where the engine finds the constant at an end of a path."""
    start = subject[0].start
    constant = subject if _is_constant(subject) else node
    return [sign("{", start), *constant, *verb, *constant, sign("}", start)]


def _is_constant(term: Tokens) -> bool:
    return term[0].kind in _CONSTANTS or term[0].text in ("TRUE", "FALSE", "+", "-")


def _matches_anything(term: Tokens) -> bool:
    return term[0].kind == "var" or _texts(term) == ["[", "]"]


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
    if path and path[-1].kind == "sign" and path[-1].text in ZERO_LENGTH:
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
