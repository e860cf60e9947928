"""The ways in which the keys and strings of a value are read one after the other.

Rules kept here:
- neighbours are what stands one after the other in the order of the value, and what stands under one name, wherever;
- what stands under a name in many places, and is complete in nearly all, is a column of facts: no sentence goes from
  place to place in it, nor from one record with that name to the next;
- what holds no word (a number, a version, an address) may end a sentence that goes over pieces, and is no other part of
  one; such pieces and others without blanks are read by themselves, too, since they may be a code in pieces;
- words are read run together, too; a key of one word names a value, and is read with other keys alone;
- neighbours are read together as far as one sentence may run, so that the work is linear.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple, TypeVar

from cortex_skills.enrichment.pieces import (
    CLOSES,
    CODE,
    COMPLETE,
    LETTERS,
    OF_COLUMN,
    TURN,
    WORD,
    WORDLESS,
    Piece,
    Shapes,
    begins_anew,
    is_open,
    is_word,
)
from cortex_skills.enrichment.windows import Stretch, windows

T = TypeVar("T")

# In so many places, all but one in so many must be complete.
_MANY, _BUT_ONE_IN = 6, 8


def names_of_facts(pieces: Sequence[Piece]) -> frozenset[str]:
    """The names under which facts stand in columns."""
    values = [piece for piece in pieces if piece[0] is not None]
    often = {name for name, count in _places(values).items() if count >= _MANY}
    if not often:
        return frozenset()
    return frozenset(name for name, column in _columns(values).items() if name in often and _are_complete(column))


class Document(NamedTuple):
    """All that is read of some pieces, in one text.

    Attributes:
        text: its lines.
        parts: what is judged, each piece and then all that is read together: the first line, and how many.

    """

    text: str
    parts: list[tuple[int, int]]


class _Row(NamedTuple):
    """Pieces that stand one after the other.

    Attributes:
        places: of the pieces.
        texts, shapes: of each.

    """

    places: Sequence[int]
    texts: Sequence[str]
    shapes: Sequence[int]


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
        self._read: list[tuple[_Row, list[Stretch]]] = []
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
        return [*dict.fromkeys([*self._order.texts, *self._names])]

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
        stretches = [(place, place + 1) for place in _first_places(texts).values()]
        for row, some in self._read:
            # Of other rows than the order, what is read together stands there once more.
            start, covered = 0, len(row.texts) if row is self._order else 0
            for first, behind in some:
                if first >= covered:
                    start, covered = len(texts) - first, first
                texts += row.texts[covered:behind]
                covered = max(covered, behind)
                stretches.append((start + first, start + behind))
        stretches += [(place, place + 1) for place in range(len(texts), len(texts) + len(self._run_together))]
        texts += self._run_together
        whole = "\n".join(texts)
        if whole.count("\n") < len(texts):
            return Document(whole, [(first, behind - first) for first, behind in stretches])
        lines = [0, *accumulate(text.count("\n") + 1 for text in texts)]
        return Document(whole, [(lines[first], lines[behind] - lines[first]) for first, behind in stretches])

    def are(self, pieces: Sequence[Piece], facts: Collection[str]) -> bool:
        """Whether they are those of these pieces, beside these facts."""
        return self._pieces == pieces and self.facts == facts

    def with_pieces(self, pieces: Sequence[Piece]) -> Neighbours:
        """The neighbours of other pieces, most of which are among these, beside the same facts."""
        return self if pieces == self._pieces else Neighbours(pieces, self.facts, self._shapes)

    def _row(self, places: Iterable[int]) -> _Row:
        places = list(places)
        texts = [self._pieces[place][1] for place in places]
        return _Row(places, texts, [*map(self._shapes.__getitem__, texts)])

    def _add(self, row: _Row, sentences: Iterable[Stretch]) -> None:
        """Add a row in which some sentences may run."""
        found = [window for sentence in sentences for window in windows(row.texts, sentence, self._shapes.words)]
        if found:
            self._read.append((row, found))

    def _add_sentences(self, row: _Row) -> None:
        """Add what one sentence may run through in the order of the pieces."""
        parts = [(0, len(row.places))]
        if self.facts:
            parts = _parted([self._pieces[place] for place in row.places], self.facts)
        self._add(row, [sentence for part in parts for sentence in _sentences(row, part)])

    def _add_codes(self, values: _Row) -> list[list[str]]:
        """Add what may be a code in pieces; letters that follow each other."""
        row = values
        if self.facts:
            row = self._row(place for place in values.places if self._pieces[place][0] not in self.facts)
        codes = _stretches(row, CODE)
        self._add(row, [some for some in codes if any(shape & WORDLESS for shape in row.shapes[slice(*some)])])
        return [[*row.texts[slice(*some)]] for some in _stretches(row, LETTERS)] if codes else []

    def _add_columns(self, values: _Row) -> list[list[str]]:
        """Add what stands under one name in many places; words that follow each other there."""
        pieces = [self._pieces[place] for place in values.places]
        if len({name for name, _ in pieces}) == len(pieces):
            return []
        words: list[list[str]] = []
        columns = _columns((name, place) for (name, _), place in zip(pieces, values.places, strict=True))
        times = _places(pieces)
        for name, places in columns.items():
            if len(places) == 1 or name in self.facts:
                continue
            column = self._row(places)
            words += [[*column.texts[slice(*some)]] for some in _stretches(column, WORD)]
            row = column
            if not all(shape & OF_COLUMN for shape in column.shapes):
                row = self._row(place for place, shape in zip(places, column.shapes, strict=True) if shape & OF_COLUMN)
            if row is not column or times[name] > 1:
                self._add(row, _sentences(row, (0, len(row.places))))
        return words

    def _add_turns(self, *rows: _Row) -> None:
        """Add what may name who speaks at its beginning, as a whole."""
        for turns in dict.fromkeys(tuple(_turns(row)) for row in rows):
            if len(turns) > 1:
                self._read.append((self._row(turns), [(0, len(turns))]))


def _turns(row: _Row) -> list[int]:
    """The places of what may name who speaks at its beginning."""
    return [place for place, shape in zip(row.places, row.shapes, strict=True) if shape & TURN]


def _first_places(texts: Iterable[str]) -> dict[str, int]:
    """Where each of some texts stands first."""
    found: dict[str, int] = {}
    for place, text in enumerate(texts):
        found.setdefault(text, place)
    return found


def _sentences(row: _Row, part: Stretch) -> Iterator[Stretch]:
    """Neighbours in a part of a row that one sentence may run through."""
    first, behind = part
    last = 0
    for at in range(first, behind):
        if last and (last & CLOSES or (last & COMPLETE and begins_anew(row.texts[at]))):
            if at - first > 1:
                yield first, at
            first = at
        last = row.shapes[at]
    if behind - first > 1:
        yield first, behind


def _stretches(row: _Row, shape: int) -> list[Stretch]:
    """Two or more of a row that follow each other and are of a shape."""
    found: list[Stretch] = []
    first = 0
    are_so = [one & shape != 0 for one in row.shapes]
    for is_so, some in groupby(are_so) if True in are_so else ():
        behind = first + len(list(some))
        if is_so and behind - first > 1:
            found.append((first, behind))
        first = behind
    return found


def _columns(values: Iterable[tuple[str | None, T]]) -> dict[str, list[T]]:
    """What stands under names, by these."""
    found: dict[str, list[T]] = {}
    for name, value in values:
        found.setdefault(name or "", []).append(value)
    return found


def _places(values: Iterable[Piece]) -> dict[str, int]:
    """How often strings begin to stand under a name, others having stood before them."""
    found: dict[str, int] = {}
    last: str | None = None
    for name, _ in values:
        if name != last:
            found[name or ""] = found.get(name or "", 0) + 1
        last = name
    return found


def _are_complete(column: list[str]) -> bool:
    """Whether nearly all strings end as what is complete does."""
    return sum(map(is_open, column)) * _BUT_ONE_IN <= len(column)


def _parted(pieces: Sequence[Piece], facts: Collection[str]) -> list[Stretch]:
    """The parts of pieces, apart where a record begins: where a name of facts comes again; two or more together."""
    begins = [0]
    met: set[str | None] = set()
    last: str | None = None
    for at, (name, _) in enumerate(pieces):
        if name in facts and name != last and name in met:
            begins.append(at)
            met.clear()
        met.add(name)
        last = name
    return [(first, behind) for first, behind in pairwise([*begins, len(pieces)]) if behind - first > 1]


def _run_together(runs: Iterable[list[str]]) -> list[str]:
    """Words that follow each other, as sentences, and each run of them as one word."""
    different = {tuple(run): run for run in runs}.values()
    return [" . ".join(map(" ".join, different)), " ".join(map("".join, different))] if different else []
