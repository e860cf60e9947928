r"""The tokens of a SPARQL text (SPARQL 1.1 §19.8).

Rules kept here:
- every character belongs to a token, whitespace or a comment; any other is refused with its line and column;
- a word is a keyword, function or aggregate of SPARQL. Oxigraph parses keywords without checking their end, so that
  `trueSERVICE <…>` would call another server; here it is an unknown word;
- codepoint escapes (`\u0053`) are decoded in strings and IRIs, as in Oxigraph and SPARQL 1.2, and refused elsewhere.
  SPARQL 1.1 §19.2 decodes them everywhere; a serialised text (`serialize.py`) contains none, so both agree;
- `<` is an operator in an expression after a value, and begins an IRI anywhere else;
- brackets are paired and do not nest deeper than the limit, nor do prefix operators (`!!!!`): Oxigraph's parser
  overflows its stack at about 1,000 groups.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from cortex_graph.exceptions import GraphError, InvalidArguments, PermissionDenied, QueryTimeout

# The keywords, functions and aggregates of SPARQL 1.1 §19.8, in upper case except `a`.
_KEYWORDS = """
a ADD ALL AS ASC ASK BASE BIND BY CLEAR CONSTRUCT COPY CREATE DATA DEFAULT DELETE DESC DESCRIBE DISTINCT DROP EXISTS
FALSE FILTER FROM GRAPH GROUP HAVING IN INSERT INTO LIMIT LOAD MINUS MOVE NAMED NOT OFFSET OPTIONAL ORDER PREFIX REDUCED
SELECT SEPARATOR SILENT TO TRUE UNDEF UNION USING VALUES WHERE WITH
"""

_FUNCTIONS = """
ABS AVG BNODE BOUND CEIL COALESCE CONCAT CONTAINS COUNT DATATYPE DAY ENCODE_FOR_URI FLOOR GROUP_CONCAT HASLANG
HASLANGDIR HOURS IF IRI ISBLANK ISIRI ISLITERAL ISNUMERIC ISURI LANG LANGDIR LANGMATCHES LCASE MAX MD5 MIN MINUTES MONTH
NOW RAND REGEX REPLACE ROUND SAMETERM SAMPLE SECONDS SHA1 SHA256 SHA384 SHA512 STR STRAFTER STRBEFORE STRDT STRENDS
STRLANG STRLANGDIR STRLEN STRSTARTS STRUUID SUBSTR SUM TIMEZONE TZ UCASE URI UUID YEAR
"""

FUNCTIONS: Final = frozenset(_FUNCTIONS.split())
WORDS: Final = FUNCTIONS.union(_KEYWORDS.split())

QUERY_FORMS: Final = frozenset({"SELECT", "ASK", "CONSTRUCT", "DESCRIBE"})
UPDATE_FORMS: Final = frozenset({"INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD"})
UPDATE_WORDS: Final = UPDATE_FORMS | {"USING", "INTO", "DATA", "ALL", "DEFAULT", "TO"}

MOST_DEPTH: Final = 1000  # for callers without the limits of users; beyond it the engine overflows its stack

Kind = Literal["iri", "pname", "var", "string", "lang", "bnode", "number", "word", "sign"]


class SparqlToken(NamedTuple):
    """A token and its position.

    Attributes:
        kind: its kind.
        text: as it was written; a word in upper case (except `a`).
        start: the offset of its first character in the text.
        in_expression: whether it is in an expression, and not in a pattern.
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


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A token, and an IRI. Compiling them takes a tenth of a second, so that it is done for the first text."""
    token = re.compile(
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
    return token, re.compile(_IRI)


_CLOSING = {"{": "}", "(": ")", "[": "]"}
_PREFIX_SIGNS = frozenset("!-+^")
_VALUED = frozenset({"iri", "pname", "var", "string", "lang", "bnode", "number"})
_NO_EXPRESSION = frozenset({"VALUES", "WHERE", "UNDEF", "a", "TRUE", "FALSE"})
_CLAUSES = frozenset({"SELECT", "BY", "HAVING"})  # expressions in brackets may follow, up to one of these:
_NO_CLAUSES = frozenset({"WHERE", "FROM", "VALUES", "LIMIT", "OFFSET"})
_NETWORK = "service"


def refused(text: str, at: int, problem: str, *, hint: str = "") -> InvalidArguments:
    """Return the error for a position in a text."""
    line, column = position(text, at)
    return InvalidArguments(
        f"the SPARQL text, line {line}, column {column}: {problem}",
        hint=hint,
        details={"field": "query", "line": line, "column": column},
    )


def position(text: str, at: int) -> tuple[int, int]:
    """Return the line and column of an offset, from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def another_server(text: str, at: int, what: str) -> GraphError:
    """Return the error for a text that queries another server."""
    line, column = position(text, at)
    return PermissionDenied(
        f"{what} at line {line}, column {column}: a query cannot query another server",
        hint="query that server yourself, and import the result",
        details={"line": line, "column": column},
    )


def read_tokens(text: str, depth: int, deadline: float | None = None) -> list[SparqlToken]:
    """Return the tokens of a text.

    Args:
        text: the text.
        depth: the maximum nesting of brackets and prefix operators.
        deadline: by `time.monotonic`.

    Raises:
        InvalidArguments: it is malformed, or nests too deeply.
        PermissionDenied: it queries another server.
        QueryTimeout: the deadline has passed.
    """
    found: list[SparqlToken] = []
    for token in _Reader(text, depth).tokens():
        if deadline is not None and not len(found) % 1000 and time.monotonic() > deadline:
            raise QueryTimeout("the text took longer to read than it may", hint="send it in parts")
        found.append(token)
    return found


class _Reader:
    """Reads a text from its beginning, and tracks the open brackets."""

    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._depth = depth
        self._a_token, self._an_iri = _patterns()
        self._open: list[tuple[str, bool, int]] = []  # the bracket, whether it contains an expression, its offset
        self._last: SparqlToken | None = None
        self._before_last: SparqlToken | None = None
        self._signs = 0
        self._clauses = [False]  # for the text and each `{`: whether a clause with expressions is read

    def tokens(self) -> Iterator[SparqlToken]:
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
            found = self._an_iri.match(self._text, at)
            if found:
                return found
        found = self._a_token.match(self._text, at)
        if found:
            return found
        character = self._text[at]
        if character == "\\":
            problem = "a codepoint escape is outside of strings and IRIs"
            raise refused(self._text, at, problem, hint="write the character itself")
        if character in "\"'":
            raise refused(self._text, at, "the string does not end")
        raise refused(self._text, at, f"{character!r} is not allowed in SPARQL")

    def _token(self, found: re.Match[str]) -> SparqlToken:
        kind, text, start = found.lastgroup or "iri", found[0], found.start()
        if kind == "word":
            return SparqlToken("word", self._word(text, start), start, self._in_expression())
        if kind == "sign":
            return self._sign(text, start)
        self._signs = 0
        if kind == "bnode" and "." in text and _NETWORK in text.lower():
            raise another_server(self._text, start, "a label that may hide SERVICE")
        return SparqlToken(kind, text, start, self._in_expression())  # type: ignore[arg-type]

    def _word(self, text: str, start: int) -> str:
        self._signs = 0
        word = "a" if text == "a" else text.upper()
        if word in WORDS:
            if word in _CLAUSES or word in _NO_CLAUSES:
                self._clauses[-1] = word in _CLAUSES
            return word
        if _NETWORK in text.lower():
            raise another_server(self._text, start, "SERVICE")
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise refused(self._text, start, f"`{shown}` is no keyword of SPARQL", hint="a name has a prefix: `:name`")

    def _sign(self, text: str, start: int) -> SparqlToken:
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
        return SparqlToken("sign", text, start, in_expression)

    def _in_expression(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def _opens_expression(self) -> bool:
        """Return whether `(` opens an expression here; otherwise it is a collection, a path or a row of VALUES."""
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
