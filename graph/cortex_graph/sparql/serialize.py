"""Serialises the tokens of a SPARQL text, so that every engine parses what was checked here.

Rules kept here:
- comments are removed, IRIs are absolute, and only the used prefixes are declared;
- an IRI in which an engine that parsed its `<` as "less than" would find a string or a comment is written with a prefix
  of this module, and the operator `<` is followed by a space, so that no engine parses it as an IRI;
- so is a name whose prefix contains `service`: Oxigraph parses `SERVICE:x {…}` as a call;
- strings contain no codepoint escapes, nor what looks like one to an engine that decodes them first (SPARQL 1.1 §19.2);
- functions are those of SPARQL, and the casts of XML Schema. A call of any other one is written as `TYPE_ERROR`: it
  is an error of its expression (SPARQL 1.1 §17.6), and no function of an engine (Virtuoso's `bif:`) is called.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.tokens import FUNCTIONS, SparqlToken, position, refused

# A literal of an unknown datatype has no truth value (SPARQL 1.1 §17.2.2).
TYPE_ERROR = "IF('unknown function'^^<urn:cortex-graph:unknown>, 1, 1)"
_VALUED = frozenset({"iri", "pname", "var", "string", "lang", "bnode", "number"})
_STRING_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([tbnrf\\\"']))|\\", re.DOTALL)
_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class SerializedText:
    """A text for an engine, and the positions of its parts in the user's text.

    Attributes:
        text: the text.
        places: (offset here, offset in the user's text), ascending.
        original: the user's text.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    original: str

    def position(self, line: int, column: int) -> tuple[int, int]:
        """Return the line and column in the user's text of a line and column here."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        at = start + column - 1
        index = bisect_right(self.places, at, key=lambda place: place[0]) - 1
        if index < 0:
            return 1, 1
        here, there = self.places[index]
        return position(self.original, min(there + at - here, len(self.original)))


class SparqlWriter:
    """Serialises tokens of one text.

    Args:
        original: the text.
        prologue: its declarations.
        functions: the beginning of the names of this package's own functions, which may be called; no text of a user
            is written with it.
    """

    def __init__(self, original: str, prologue: Prologue, functions: str | None = None) -> None:
        self._functions = functions
        self._original = original
        self._prologue = prologue
        self._used: dict[str, str] = {}
        self._own: dict[str, str] = {}
        self._makes_iris = False  # IRI() resolves its argument; nothing else depends on a BASE
        self._stem = "iri"
        while any(prefix.startswith(self._stem) for prefix in prologue.prefixes):
            self._stem += "i"

    def write(self, parts: Iterable[str | Sequence[SparqlToken]]) -> SerializedText:
        """Return the text of some parts: tokens, and texts of this package between them."""
        body: list[str] = []
        places: list[tuple[int, int]] = []
        length = 0

        def put(piece: str, start: int | None = None) -> None:
            nonlocal length
            if start is not None:
                places.append((length, start))
            body.append(piece)
            length += len(piece)

        for part in parts:
            if isinstance(part, str):
                put(f" {part} ")
                continue
            index = 0
            while index < len(part):
                put(self._gap(part, index))
                if self._calls_unknown(part, index):
                    put(TYPE_ERROR, part[index].start)
                    index = _end_of_call(part, index)
                else:
                    put(self._token(part, index), part[index].start)
                    index += 1
        head = self._head()
        return SerializedText(
            head + "".join(body), tuple((here + len(head), there) for here, there in places), self._original
        )

    def _head(self) -> str:
        base = f"BASE <{self._prologue.base}> " if self._makes_iris and self._prologue.base is not None else ""
        declared = "".join(f"PREFIX {prefix}: <{iri}> " for prefix, iri in self._used.items())
        return base + declared + "".join(f"PREFIX {prefix}: <{iri}> " for iri, prefix in self._own.items())

    def _gap(self, tokens: Sequence[SparqlToken], index: int) -> str:
        """Return the whitespace before a token: as little as separates it, and the line breaks of the original."""
        token, last = tokens[index], tokens[index - 1] if index else None
        if last is None:
            return " "
        pair = last.text, token.text
        if pair == ("(", ")") or (last.text in FUNCTIONS and token.text == "("):
            return ""  # Oxigraph does not parse `CONCAT (` and `BNODE( )`
        if "\n" in self._original[last.start : token.start]:
            return "\n"
        glued = last.start + len(last.text) == token.start
        if glued and (token.kind == "lang" or (token.kind == "number" and last.text in ("+", "-"))):
            return ""
        return "" if "^^" in pair else " "

    def _token(self, tokens: Sequence[SparqlToken], index: int) -> str:
        token = tokens[index]
        if token.kind == "string":
            return string_token(token, self._original)
        if token.kind == "sign" and token.text == "<":
            return "< "
        self._makes_iris = self._makes_iris or (token.kind == "word" and token.text in ("IRI", "URI"))
        if token.kind not in ("iri", "pname"):
            return token.text.lower() if token.text in ("TRUE", "FALSE") else token.text
        iri = self._prologue.iri(token)
        if token.kind == "iri":
            last = tokens[index - 1] if index else None
            valued = last is not None and (last.kind in _VALUED or last.text in (")", "}", "TRUE", "FALSE"))
            return self._own_name(iri) if valued and ("#" in iri or "'" in iri) else f"<{iri}>"
        prefix, _, local = token.text.partition(":")
        if "service" in prefix.lower() or "\\" in local or "." in local:
            return self._own_name(iri)
        self._used[prefix] = self._prologue.prefixes[prefix]
        return token.text

    def _calls_unknown(self, tokens: Sequence[SparqlToken], index: int) -> bool:
        token = tokens[index]
        if token.kind not in ("iri", "pname") or not _calls(tokens, index):
            return False
        iri = self._prologue.iri(token)
        is_own = self._functions is not None and iri.startswith(self._functions)
        return not is_own and not iri.startswith(WELL_KNOWN_VOCABULARIES["xsd"])

    def _own_name(self, iri: str) -> str:
        return self._own.setdefault(iri, f"{self._stem}{len(self._own)}") + ":"


def string_token(token: SparqlToken, original: str) -> str:
    """Return a string without codepoint escapes, and without a backslash before `u` or `U`."""
    if "\\" not in token.text:
        return token.text

    def value(found: re.Match[str]) -> str:
        if digits := found[1] or found[2]:
            code = int(digits, 16)
            if code < 0x110000 and not 0xD800 <= code < 0xE000:
                return chr(code)
        elif found[3]:
            return _LETTERS.get(found[3], found[3])
        raise refused(original, token.start, f"the string has an invalid escape: {found[0]!r}")

    quotes = 3 if token.text[:3] in ('"""', "'''") else 1
    text = _STRING_ESCAPE.sub(value, token.text[quotes:-quotes])
    written = "".join(_WRITTEN.get(character, character) for character in text)
    # `\\u0041` is a backslash and `u0041`; an engine that decodes codepoint escapes first must not find one.
    return '"' + written.replace("\\\\u", "\\\\\\u0075").replace("\\\\U", "\\\\\\u0055") + '"'


def _calls(tokens: Sequence[SparqlToken], index: int) -> bool:
    """Return whether the IRI at an index is that of a function: the bracket after it contains expressions."""
    after = tokens[index + 1 : index + 3]
    return len(after) == 2 and after[0][:2] == ("sign", "(") and after[1].in_expression


def _end_of_call(tokens: Sequence[SparqlToken], index: int) -> int:
    """Return the index after the arguments of the function at an index."""
    depth = 0
    while True:
        index += 1
        if tokens[index].kind == "sign":
            depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if not depth:
            return index + 1
