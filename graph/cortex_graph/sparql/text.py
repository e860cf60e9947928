r"""The tokens of a SPARQL text, as SPARQL 1.1 §19.8 writes them.

Rules kept here:
- every character belongs to a token, a blank or a comment; what belongs to none is refused with its line and column;
- a word is one that SPARQL knows. Oxigraph reads keywords without looking at what they are glued to, so that
  `trueSERVICE <…>` would be a call to another server; here it is a word that nobody knows;
- codepoint escapes (`\u0053`) are read in strings and IRIs, as Oxigraph and SPARQL 1.2 do, and are refused elsewhere.
  SPARQL 1.1 §19.2 reads them before everything else; what is written anew (`writing.py`) holds none, so both agree;
- whether `<` begins an IRI or means "less than" depends on where it stands: in an expression, behind something that
  has a value, it is the operator, else it begins an IRI;
- brackets are in pairs and do not nest deeper than the limit, nor do prefix operators (`!!!!`): Oxigraph's parser
  would overflow its stack at about 1,000 groups.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from cortex_graph.errors import GraphError, InvalidArguments, PermissionDenied, QueryTimeout
from cortex_graph.sparql.words import WORDS

Kind = Literal["iri", "pname", "var", "string", "lang", "bnode", "number", "word", "sign"]


class Token(NamedTuple):
    """A token and where it begins.

    Attributes:
        kind: what it is.
        text: as it was written; a word in upper case (but for `a`).
        start: the offset of its first character in the text.
        in_expression: whether it stands in an expression, not in a pattern.

    """

    kind: Kind
    text: str
    start: int
    in_expression: bool = False


_BASE: Final = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_FIRST = f"{_BASE}_0-9"  # of a variable, a blank node's label or a local name
_OF_VARIABLE = f"{_FIRST}\u00b7\u0300-\u036f\u203f-\u2040"
_INNER = f"{_OF_VARIABLE}\\-"
_ESCAPED = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = f"(?:[{_FIRST}:]|{_PLX})(?:(?:[{_INNER}:]|{_PLX})|\\.+(?=[{_INNER}:%\\\\]))*+"
_IRI = r"<(?:[^<>\"{}|^`\\\x00-\x20]|" + _ESCAPED + ")*+>"

_TOKEN = re.compile(
    "|".join(
        (
            r"(?P<blank>[ \t\r\n]++)",
            r"(?P<comment>\#[^\r\n]*+)",
            r"(?P<string>\"\"\"(?:\"{0,2}(?:[^\"\\]|\\.))*+\"\"\"|'''(?:'{0,2}(?:[^'\\]|\\.))*+'''"
            r"|\"(?:[^\"\\\r\n]|\\[^\r\n])++\"|'(?:[^'\\\r\n]|\\[^\r\n])++'|\"\"(?!\")|''(?!'))",
            f"(?P<var>[?$][{_FIRST}][{_OF_VARIABLE}]*+)",
            r"(?P<lang>@[A-Za-z]++(?:-[A-Za-z0-9]++)*+(?:--[A-Za-z]++)?)",
            f"(?P<bnode>_:[{_FIRST}](?:[{_INNER}]|\\.+(?=[{_INNER}]))*+)",
            f"(?P<pname>(?:[{_BASE}](?:[{_INNER}]|\\.+(?=[{_INNER}]))*+)?:(?:{_LOCAL})?)",
            r"(?P<number>(?:[0-9]++\.[0-9]*+|\.[0-9]++|[0-9]++)[eE][+-]?[0-9]++|[0-9]*\.[0-9]++|[0-9]++)",
            r"(?P<word>[A-Za-z][A-Za-z0-9_]*+)",
            r"(?P<sign>\^\^|&&|\|\||!=|<=|>=|[{}()\[\].;,*/|^?+!=<>-])",
        )
    ),
    re.DOTALL,
)
_IRIREF = re.compile(_IRI)
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_PREFIX_SIGNS = frozenset("!-+^")
_VALUED = frozenset({"iri", "pname", "var", "string", "lang", "bnode", "number"})
_NO_EXPRESSION = frozenset({"VALUES", "WHERE", "UNDEF", "a", "TRUE", "FALSE"})
_CLAUSES = frozenset({"SELECT", "BY", "HAVING"})  # what follows may hold expressions in brackets, up to one of these:
_NO_CLAUSES = frozenset({"WHERE", "FROM", "VALUES", "LIMIT", "OFFSET"})
_NETWORK = "service"


def refused(text: str, at: int, problem: str, *, hint: str = "") -> InvalidArguments:
    """The error for a place in a text."""
    line, column = position(text, at)
    return InvalidArguments(
        f"the SPARQL text, line {line}, column {column}: {problem}",
        hint=hint,
        details={"field": "query", "line": line, "column": column},
    )


def position(text: str, at: int) -> tuple[int, int]:
    """Line and column of an offset, from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def another_server(text: str, at: int, what: str) -> GraphError:
    """The error for what would ask another server."""
    line, column = position(text, at)
    return PermissionDenied(
        f"{what} at line {line}, column {column}: a query here asks no other server",
        hint="ask that server yourself, and import what it answers",
        details={"line": line, "column": column},
    )


def read_tokens(text: str, depth: int, deadline: float | None = None) -> list[Token]:
    """The tokens of a text.

    Args:
        text: the text.
        depth: how deep brackets and prefix operators may nest.
        deadline: when it must have been read, by `time.monotonic`.

    Raises:
        InvalidArguments: something in it is no token, or nests too deeply.
        PermissionDenied: it asks another server.
        QueryTimeout: it takes too long to read.

    """
    found: list[Token] = []
    for token in _Reader(text, depth).tokens():
        if deadline is not None and not len(found) % 1000 and time.monotonic() > deadline:
            raise QueryTimeout("the text took longer to read than it may", hint="send it in parts")
        found.append(token)
    return found


class _Reader:
    """Reads a text from its beginning, knowing in which brackets it is."""

    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._depth = depth
        self._open: list[tuple[str, bool, int]] = []  # the bracket, whether it holds an expression, where it is
        self._last: Token | None = None
        self._before_last: Token | None = None
        self._signs = 0
        self._clauses = [False]  # for the text and each `{`: whether a clause with expressions is being read

    def tokens(self) -> Iterator[Token]:
        at, end = 0, len(self._text)
        while at < end:
            found = self._match(at)
            at = found.end()
            if found.lastgroup in ("blank", "comment"):
                continue
            token = self._token(found)
            self._before_last, self._last = self._last, token
            yield token
        if self._open:
            bracket, _, start = self._open[-1]
            raise refused(self._text, start, f"`{bracket}` is not closed")

    def _match(self, at: int) -> re.Match[str]:
        if self._text[at] == "<" and not (self._in_expression() and self._has_value()):
            found = _IRIREF.match(self._text, at)
            if found:
                return found
        found = _TOKEN.match(self._text, at)
        if found:
            return found
        character = self._text[at]
        if character == "\\":
            problem = "a codepoint escape stands outside of strings and IRIs"
            raise refused(self._text, at, problem, hint="write the character itself")
        if character in "\"'":
            raise refused(self._text, at, "the string does not end")
        raise refused(self._text, at, f"{character!r} belongs to nothing in SPARQL")

    def _token(self, found: re.Match[str]) -> Token:
        kind, text, start = found.lastgroup or "iri", found[0], found.start()
        if kind == "word":
            return Token("word", self._word(text, start), start, self._in_expression())
        if kind == "sign":
            return self._sign(text, start)
        self._signs = 0
        if kind == "bnode" and "." in text and _NETWORK in text.lower():
            raise another_server(self._text, start, "a label that may hide SERVICE stands")
        return Token(kind, text, start, self._in_expression())  # type: ignore[arg-type]

    def _word(self, text: str, start: int) -> str:
        self._signs = 0
        word = "a" if text == "a" else text.upper()
        if word in WORDS:
            if word in _CLAUSES or word in _NO_CLAUSES:
                self._clauses[-1] = word in _CLAUSES
            return word
        if _NETWORK in text.lower():
            raise another_server(self._text, start, "SERVICE stands")
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise refused(self._text, start, f"`{shown}` is no word of SPARQL", hint="a name has a prefix: `:name`")

    def _sign(self, text: str, start: int) -> Token:
        self._signs = self._signs + 1 if text in _PREFIX_SIGNS else 0
        if text == "<" and self._text.startswith("<", start + 1):
            raise refused(self._text, start, "triple terms (RDF 1.2) are not stored here", hint="use reification")
        in_expression = self._in_expression()
        if text in _CLOSING:
            self._open.append((text, text == "(" and self._opens_expression(), start))
            if text == "{":
                self._clauses[-1] = False
                self._clauses.append(False)
        elif text in "})]":
            if not self._open or _CLOSING[self._open[-1][0]] != text:
                raise refused(self._text, start, f"`{text}` closes nothing")
            in_expression = self._open.pop()[1]
            if text == "}":
                self._clauses.pop()
        if len(self._open) + self._signs > self._depth:
            raise refused(self._text, start, f"brackets or operators nest more than {self._depth} deep")
        return Token("sign", text, start, in_expression)

    def _in_expression(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def _opens_expression(self) -> bool:
        """Whether the `(` that stands here opens an expression; else it is a collection, a path or a row of VALUES."""
        if self._open and self._open[-1][0] == "(":
            return self._open[-1][1]
        last, before = self._last, self._before_last
        if last is None:
            return False
        if last.kind == "word":
            return last.text not in _NO_EXPRESSION
        if self._clauses[-1] and not (self._open and self._open[-1][0] == "["):  # SELECT ?x (… AS ?y)
            return True
        return last.kind in ("iri", "pname") and before is not None and before[:2] == ("word", "FILTER")

    def _has_value(self) -> bool:
        last = self._last
        if last is None:
            return False
        return last.kind in _VALUED or last.text in (")", "}", "TRUE", "FALSE")
