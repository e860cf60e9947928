"""What names mean in a SPARQL text: its BASE and PREFIX, and the prefixes that are offered with it.

Rules kept here:
- a prefix that the text declares hides the one of that name that is offered;
- every IRI is resolved here (SPARQL 1.1 §4.1.1), so that what is written anew depends on no BASE;
- a long prefix that is used often makes a short text a huge one: how much all names have together is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyoxigraph import NamedNode, RdfFormat, parse

from cortex_graph.errors import QueryLimit
from cortex_graph.sparql.text import Token, refused

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_NOT_IN_IRIS = re.compile(r"[<>\"{}|^`\\\x00-\x20]")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_PREFIX_COSTS = 64  # bytes, in a copy of all that are declared
_MOST = 32 << 20  # characters: some ten times what the longest text can be whose prefixes are of ordinary length


class Prologue:
    """The base and the prefixes that hold at a place of a text.

    Args:
        text: the text, for errors.
        offered: prefix → beginning of its IRIs.

    """

    def __init__(self, text: str, offered: Mapping[str, str]) -> None:
        self.base: str | None = None
        self.prefixes = dict(offered)
        self._text = text
        self._spent = [0]  # one for a text, however many of its operations have copies of the prologue

    def read(self, tokens: Sequence[Token], at: int) -> int:
        """Take in the declarations that begin at a token; say where they end.

        What a copy of this one means, made before, stays.
        """
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

    def count(self, token: Token) -> None:
        """Count what a token will have when it is written in full; to be called once for each token of the text.

        Raises:
            QueryLimit: all that were counted have too much together.

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

    def iri(self, token: Token) -> str:
        """The IRI that a token means.

        Raises:
            InvalidArguments: it is malformed or relative to nothing, its prefix is not declared, or it is no IRI.

        """
        if token.kind == "iri":
            return self._checked(self._resolved(unescaped(token.text[1:-1], self._text, token.start), token), token)
        if token.kind != "pname":
            raise refused(self._text, token.start, f"an IRI belongs here, not `{token.text[:40]}`")
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            hint = f"begin with `PREFIX {prefix}: <…>`; known are: {', '.join(sorted(self.prefixes)) or 'none'}"
            raise refused(self._text, token.start, f"the prefix `{prefix}:` is not declared", hint=hint)
        return self._checked(self.prefixes[prefix] + _LOCAL_ESCAPE.sub(r"\1", local), token)

    def _resolved(self, iri: str, token: Token) -> str:
        if _ABSOLUTE.match(iri):
            return iri
        if self.base is None:
            hint = "write it in full, or begin with `BASE <…>`"
            raise refused(self._text, token.start, f"<{iri[:200]}> is relative, and there is no base", hint=hint)
        try:
            (quad,) = parse(f"<{iri}> a <x:y> .", RdfFormat.TURTLE, base_iri=self.base)
        except (SyntaxError, ValueError) as error:
            raise refused(self._text, token.start, f"<{iri[:200]}> is no IRI: {error}") from None
        return str(quad.subject)[1:-1]

    def _checked(self, iri: str, token: Token) -> str:
        try:
            return NamedNode(iri).value
        except ValueError as error:
            raise refused(self._text, token.start, f"<{iri[:200]}> is no IRI: {error}") from None

    def _expect(self, tokens: Sequence[Token], at: int, kind: str, after: Token) -> Token:
        if at < len(tokens) and tokens[at].kind == kind:
            return tokens[at]
        raise refused(self._text, after.start, f"`{after.text}` lacks what it declares")


def unescaped(iri: str, text: str, start: int) -> str:
    """The content of an IRI without codepoint escapes."""
    if "\\" not in iri:
        return iri
    try:
        plain = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), iri)
        plain.encode()
    except (ValueError, OverflowError):
        raise refused(text, start, "an escape in the IRI is no character") from None
    if _NOT_IN_IRIS.search(plain):
        raise refused(text, start, "an escape in the IRI stands for what no IRI may hold")
    return plain
