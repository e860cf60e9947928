"""The ways in which the keys and strings of a value are read one after the other.

Rules kept here:
- neighbours are what stands one after the other in the order of the value, and what stands under one name, wherever,
  but in columns of facts (`columns`);
- pieces without a word, and others without blanks, are read by themselves, too, since they may be a code in pieces;
- words are read run together, too; a key of one word names a value, and is read with other keys alone;
- neighbours are read together as far as one sentence may run (`rows`, `windows`), so that the work is linear.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from cortex_skills.enrichment.columns import columns, parted, times
from cortex_skills.enrichment.pieces import CODE, LETTERS, OF_COLUMN, WORD, WORDLESS, Piece, Shapes, is_word
from cortex_skills.enrichment.rows import Row, sentences, stretches, turns
from cortex_skills.enrichment.windows import Stretch, windows


class Document(NamedTuple):
    """All that is read of some pieces, in one text.

    Attributes:
        text: its lines.
        parts: what is judged, each piece and then all that is read together: the first line, and how many.

    """

    text: str
    parts: list[tuple[int, int]]


class Neighbours:
    """Some pieces in their order, and which of them are read together.

    Args:
        pieces: of a value, or of some of its members.
        facts: the names of facts in the whole value.
        shapes: what is known of pieces.

    """

    def __init__(self, pieces: Sequence[Piece], facts: Collection[str], shapes: Shapes) -> None:
        self.facts = facts
        self._pieces, self._shapes = pieces, shapes
        values = self._row(place for place, (name, _) in enumerate(pieces) if name is not None)
        keys = dict.fromkeys(text for name, text in pieces if name is None)
        names = dict.fromkeys(filter(is_word, keys))
        order = values
        if len(names) < len(keys):
            order = self._row(
                place for place, (name, text) in enumerate(pieces) if name is not None or text not in names
            )
        self._names, self._order = [*names], order

        # Which of a row are read together, of many rows.
        self._read: list[tuple[Row, list[Stretch]]] = []
        self._add_sentences(order)
        if order is not values:
            self._add_sentences(values)
        words = self._add_codes(values) + self._add_columns(values)
        self._add_turns(values, order)
        self._run_together = _run_together(words)
        if order is values and len(keys) > 1:
            self._run_together += _run_together([self._names])

    @cached_property
    def alone(self) -> list[str]:
        """The texts of the pieces, each once."""
        return [*self._first_places]

    @cached_property
    def _first_places(self) -> dict[str, int]:
        """Where each text of the pieces stands first, the names behind the order."""
        found: dict[str, int] = {}
        for place, text in enumerate([*self._order.texts, *self._names]):
            found.setdefault(text, place)
        return found

    @cached_property
    def joined(self) -> list[str]:
        """The texts as which pieces are read together."""
        found = ["\n".join(row.texts[first:behind]) for row, some in self._read for first, behind in some]
        return found + self._run_together

    def places(self, number: int) -> Sequence[int]:
        """The places of the pieces that are the lines of one of the texts of `joined`; none of words run together."""
        for row, some in self._read:
            if number < len(some):
                return row.places[slice(*some[number])]
            number -= len(some)
        return ()

    def document(self) -> Document:
        """What is to be judged of the pieces: those of `alone` and of `joined`, in one text."""
        texts = [*self._order.texts, *self._names]
        parts = [(place, place + 1) for place in self._first_places.values()]
        for row, some in self._read:
            # Of other rows than the order, what is read together stands there once more.
            start, covered = 0, len(row.texts) if row is self._order else 0
            for first, behind in some:
                if first >= covered:
                    start, covered = len(texts) - first, first
                texts += row.texts[covered:behind]
                covered = max(covered, behind)
                parts.append((start + first, start + behind))
        parts += [(place, place + 1) for place in range(len(texts), len(texts) + len(self._run_together))]
        texts += self._run_together
        whole = "\n".join(texts)
        lines = [*range(len(texts) + 1)]
        if whole.count("\n") >= len(texts):
            lines = [0, *accumulate(text.count("\n") + 1 for text in texts)]
        return Document(whole, [(lines[first], lines[behind] - lines[first]) for first, behind in parts])

    def are(self, pieces: Sequence[Piece], facts: Collection[str]) -> bool:
        """Whether they are those of these pieces, beside these facts."""
        return self._pieces == pieces and self.facts == facts

    def with_pieces(self, pieces: Sequence[Piece]) -> Neighbours:
        """The neighbours of other pieces, most of which are among these, beside the same facts."""
        return self if pieces == self._pieces else Neighbours(pieces, self.facts, self._shapes)

    def _row(self, places: Iterable[int]) -> Row:
        places = list(places)
        texts = [self._pieces[place][1] for place in places]
        return Row(places, texts, [*map(self._shapes.__getitem__, texts)])

    def _add(self, row: Row, together: Iterable[Stretch]) -> None:
        """Add a row of which some pieces may be read together, as far as one sentence may run."""
        found = [window for sentence in together for window in windows(row.texts, sentence, self._shapes.words)]
        if found:
            self._read.append((row, found))

    def _add_sentences(self, row: Row) -> None:
        """Add what one sentence may run through in the order of the pieces."""
        parts = [(0, len(row.places))]
        if self.facts:
            parts = parted([self._pieces[place] for place in row.places], self.facts)
        self._add(row, [sentence for part in parts for sentence in sentences(row, part)])

    def _add_codes(self, values: Row) -> list[list[str]]:
        """Add what may be a code in pieces; letters that follow each other."""
        row = values
        if self.facts:
            row = self._row(place for place in values.places if self._pieces[place][0] not in self.facts)
        codes = stretches(row, CODE)
        self._add(row, [some for some in codes if any(shape & WORDLESS for shape in row.shapes[slice(*some)])])
        return [[*row.texts[slice(*some)]] for some in stretches(row, LETTERS)] if codes else []

    def _add_columns(self, values: Row) -> list[list[str]]:
        """Add what stands under one name in many places; words that follow each other there."""
        pieces = [self._pieces[place] for place in values.places]
        if len({name for name, _ in pieces}) == len(pieces):
            return []
        words: list[list[str]] = []
        of_names = columns((name, place) for (name, _), place in zip(pieces, values.places, strict=True))
        often = times(pieces)
        for name, places in of_names.items():
            if len(places) == 1 or name in self.facts:
                continue
            column = self._row(places)
            words += [[*column.texts[slice(*some)]] for some in stretches(column, WORD)]
            row = column
            if not all(shape & OF_COLUMN for shape in column.shapes):
                row = self._row(place for place, shape in zip(places, column.shapes, strict=True) if shape & OF_COLUMN)
            if row is not column or often[name] > 1:
                self._add(row, sentences(row, (0, len(row.places))))
        return words

    def _add_turns(self, *rows: Row) -> None:
        """Add what may name who speaks at its beginning, as a whole."""
        for some in dict.fromkeys(tuple(turns(row)) for row in rows):
            if len(some) > 1:
                self._read.append((self._row(some), [(0, len(some))]))


def _run_together(runs: Iterable[list[str]]) -> list[str]:
    """Words that follow each other, as sentences, and each run of them as one word."""
    different = {tuple(run): run for run in runs}.values()
    return [" . ".join(map(" ".join, different)), " ".join(map("".join, different))] if different else []
