"""The BASE and PREFIX declarations of a SPARQL text, and the prefixes that it may use without declaring them.

Rules kept here:
- a declared prefix replaces an offered one of the same name;
- every IRI is resolved here (SPARQL 1.1 §4.1.1), so that the serialised text depends on no BASE;
- the total length of all names is bounded, since a long prefix that is used often makes a short text very long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyoxigraph import NamedNode, RdfFormat, parse

from cortex_graph.exceptions import QueryLimit
from cortex_graph.sparql.tokens import SparqlToken, refused

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_NOT_IN_IRIS = re.compile(r"[<>\"{}|^`\\\x00-\x20]")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_PREFIX_COSTS = 64  # bytes of a declared prefix
_MOST = 32 << 20  # characters; about ten times the longest text with prefixes of ordinary length


class Prologue:
    """The base and the prefixes that are valid at a position of a text."""

    def __init__(self, text: str, offered: Mapping[str, str]) -> None:
        self.base: str | None = None
        self.prefixes = dict(offered)
        self._text = text
        self._spent = [0]  # shared by all copies of the prologue of one text

    def read(self, tokens: Sequence[SparqlToken], at: int) -> int:
        """Read the declarations that begin at a token, and return their end. Earlier copies do not change."""
        if tokens[at : at + 1] and tokens[at][:2] == ("word", "PREFIX"):
            self.prefixes = dict(self.prefixes)
            self._spend(_PREFIX_COSTS * len(self.prefixes))
        while at < len(tokens) and tokens[at][:2] in (("word", "BASE"), ("word", "PREFIX")):
            word, at = tokens[at], at + 1
            name = None
            if word.text == "PREFIX":
                name = self._expect(tokens, at, "pname", word).text
                if not name.endswith(":") or name.count(":") > 1:
                    raise refused(self._text, tokens[at].start, f"`{name}` cannot be declared as a prefix")
                at += 1
            self.count(declared := self._expect(tokens, at, "iri", word))
            iri = self.iri(declared)
            at += 1
            if name is None:
                self.base = iri
            else:
                self.prefixes[name[:-1]] = iri
        return at

    def count(self, token: SparqlToken) -> None:
        """Count the length of a token when it is written in full; called once for each token of the text.

        Raises:
            QueryLimit: the total is too long.
        """
        if token.kind == "iri":
            self._spend(len(token.text) + len(self.base or ""))
        elif token.kind == "pname":
            self._spend(len(token.text) + len(self.prefixes.get(token.text.partition(":")[0], "")))

    def _spend(self, size: int) -> None:
        self._spent[0] += size
        if self._spent[0] > _MOST:
            raise QueryLimit(
                f"the names of the text have more than {_MOST >> 20} MiB when they are written in full",
                hint="use shorter and fewer prefixes, or send it in parts",
            )

    def iri(self, token: SparqlToken) -> str:
        """Return the IRI of a token."""
        if token.kind == "iri":
            return self._checked(self._resolved(unescaped(token.text[1:-1], self._text, token.start), token), token)
        if token.kind != "pname":
            raise refused(self._text, token.start, f"an IRI is expected here, not `{token.text[:40]}`")
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            hint = f"begin with `PREFIX {prefix}: <…>`; known are: {', '.join(sorted(self.prefixes)) or 'none'}"
            raise refused(self._text, token.start, f"the prefix `{prefix}:` is not declared", hint=hint)
        return self._checked(self.prefixes[prefix] + _LOCAL_ESCAPE.sub(r"\1", local), token)

    def _resolved(self, iri: str, token: SparqlToken) -> str:
        if _ABSOLUTE.match(iri):
            return iri
        if self.base is None:
            hint = "write it in full, or begin with `BASE <…>`"
            raise refused(self._text, token.start, f"<{iri[:200]}> is relative, and there is no base", hint=hint)
        try:
            (quad,) = parse(f"<{iri}> a <x:y> .", RdfFormat.TURTLE, base_iri=self.base)
        except (SyntaxError, ValueError) as error:
            raise refused(self._text, token.start, f"<{iri[:200]}> is not an IRI: {error}") from None
        return str(quad.subject)[1:-1]

    def _checked(self, iri: str, token: SparqlToken) -> str:
        try:
            return NamedNode(iri).value
        except ValueError as error:
            raise refused(self._text, token.start, f"<{iri[:200]}> is not an IRI: {error}") from None

    def _expect(self, tokens: Sequence[SparqlToken], at: int, kind: str, after: SparqlToken) -> SparqlToken:
        if at < len(tokens) and tokens[at].kind == kind:
            return tokens[at]
        raise refused(self._text, after.start, f"`{after.text}` is incomplete")


def unescaped(iri: str, text: str, start: int) -> str:
    """Return the content of an IRI with its codepoint escapes decoded."""
    if "\\" not in iri:
        return iri
    try:
        plain = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), iri)
        plain.encode()
    except (ValueError, OverflowError):
        raise refused(text, start, "an escape in the IRI is not a character") from None
    if _NOT_IN_IRIS.search(plain):
        raise refused(text, start, "an escape in the IRI is a character that IRIs cannot contain")
    return plain
