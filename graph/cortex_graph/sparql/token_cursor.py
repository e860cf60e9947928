"""A position in the tokens of a SPARQL text, for readers of its grammar; and tokens that are written beside them."""

from __future__ import annotations

from collections.abc import Sequence

from cortex_graph.sparql.tokens import SparqlToken


class NotParsedError(Exception):
    """The tokens are no SPARQL as it is known here; the engine decides."""


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


def sign(text: str, start: int, *, in_expression: bool = False) -> SparqlToken:
    """Return a sign for a place of the text."""
    return SparqlToken("sign", text, start, in_expression)


def word(text: str, start: int) -> SparqlToken:
    """Return a word for a place of the text."""
    return SparqlToken("word", text, start)
