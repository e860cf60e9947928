"""Marks the words of a search in what is shown of a hit, with the matching of the index.

Rules kept here:
- a word is marked if one of its folded forms, or of its stems, is one of a word of the query; the last word of the
  query also marks what begins with it;
- names are split where capitals begin a word; of scripts without spaces the pairs of the index are marked;
- only pieces of text are marked: a token for invisible characters is no word.

    >>> from cortex_skills.doors.explorer.display import shown_text
    >>> shown = HitMarks("muller hous").marked(shown_text("Zoë Müllers houses"))
    >>> [piece.text for piece in shown.pieces if piece.is_hit]
    ['Müllers', 'houses']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from cortex_skills.doors.explorer.display import Piece, ShownLiteral, ShownName, ShownTerm, ShownText
from cortex_skills.features.finder.folded_words import UNTAGGED, folded_words, language_of, stems
from cortex_skills.features.finder.words import words

_RUN = re.compile(r"\w[\w\u0300-\u036f'’]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z_]+|_+")


class HitMarks:
    """The words of one search.

    Args:
        query: as it was typed.
    """

    def __init__(self, query: str) -> None:
        found = folded_words(query)
        self._words = frozenset(found)
        self._begins = found[-1] if found and query[-1:].isalnum() else ""
        self._typed = words(query)
        self._has = lru_cache(maxsize=1024)(self._is_hit)

    def term(self, shown: ShownTerm) -> ShownTerm:
        """A term with its hits."""
        if isinstance(shown, ShownLiteral):
            tag = None if shown.language is None else shown.language.plain
            return replace(shown, text=self.marked(shown.text, tag))
        return self.name(shown)

    def name(self, shown: ShownName) -> ShownName:
        """A name with its hits, in its label and in the part of the name itself."""
        return replace(shown, local=self.marked(shown.local), is_simple=False, marks=self.marked)

    def marked(self, shown: ShownText, tag: str | None = None) -> ShownText:
        """A text with its hits.

        Args:
            shown: the text.
            tag: its language tag.
        """
        if not self._words:
            return shown
        pieces = [part for piece in shown.pieces for part in self._split(piece, language_of(tag))]
        return replace(shown, pieces=tuple(pieces))

    def _split(self, piece: Piece, language: str) -> Iterator[Piece]:
        text, done = piece.text, 0
        for run in () if piece.is_token else _RUN.finditer(text):
            for start, end in self._hits(run[0], language):
                if run.start() + start > done:
                    yield Piece(text[done : run.start() + start])
                yield Piece(text[run.start() + start : run.start() + end], is_hit=True)
                done = run.start() + end
        if done < len(text) or not text:
            yield replace(piece, text=text[done:])

    def _hits(self, run: str, language: str) -> Iterator[tuple[int, int]]:
        """Where the hits in a run of letters are."""
        forms = folded_words(run)
        if len(forms) > 1:  # a script without spaces, of which the index has pairs
            last = 0
            for place, form in enumerate(forms[: len(run) - 1]):
                if form in self._words:
                    yield max(last, place), place + 2
                    last = place + 2
        elif self._has(run, language):
            yield 0, len(run)
        else:
            parts = list(_PART.finditer(run))
            yield from (part.span() for part in parts if len(parts) > 1 and self._has(part[0], language))

    def _is_hit(self, word: str, language: str) -> bool:
        forms = set(folded_words(word))
        if not self._words.isdisjoint(forms) or (self._begins and any(f.startswith(self._begins) for f in forms)):
            return True
        own = {stem for each in words(word) for stem in stems(language, each)}
        return any(not own.isdisjoint(stems(lang, each)) for each in self._typed for lang in {language, UNTAGGED})
