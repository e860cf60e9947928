"""The ways in which the keys and strings of a value are read one after the other.

Rules kept here:
- neighbours are what stands one after the other in the order of the value, and what stands under one name, wherever;
- what stands under a name in many places, and is complete in nearly all, is a column of facts: no sentence goes from
  place to place in it, nor from one record with that name to the next;
- what holds no word (a number, a version, an address) may end a sentence that goes over pieces, and is no other part of
  one; such pieces and others without blanks are read by themselves, too, since they may be a code in pieces;
- words are read run together, too; a key of one word names a value, and is read with other keys alone;
- neighbours are read together as far as one sentence may run, so that the work is linear;
- `runs` says the same in few texts: each piece, and each text of `joined`, is a line of a run or some neighbours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, groupby

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
from cortex_skills.enrichment.windows import lines_of, windows

# In so many places, all but one in so many must be complete.
_MANY, _BUT_ONE_IN = 6, 8


def names_of_facts(pieces: Sequence[Piece]) -> frozenset[str]:
    """The names under which facts stand in columns."""
    values = [piece for piece in pieces if piece[0] is not None]
    often = {name for name, count in _places(values).items() if count >= _MANY}
    if not often:
        return frozenset()
    return frozenset(name for name, column in _columns(values).items() if name in often and _are_complete(column))


class Neighbours:
    """Some pieces in their order, for `joined` and `runs` of the same.

    Args:
        pieces: of a value, or of some of its members.
        facts: the names of facts in the whole value.
        shapes: what is known of pieces.

    """

    def __init__(self, pieces: Sequence[Piece], facts: Collection[str], shapes: Shapes | None = None) -> None:
        self.facts = facts
        self._pieces = pieces
        self._shapes = Shapes() if shapes is None else shapes
        values = [piece for piece in pieces if piece[0] is not None]
        keys = dict.fromkeys(text for name, text in pieces if name is None)
        self._names = set(filter(is_word, keys))
        are_names = len(self._names) == len(keys)
        order = values
        if not are_names:
            order = [(name, text) for name, text in pieces if name is not None or text not in self._names]
        self._order = [text for _, text in order]

        # Neighbours that are read together: in the order, and others; letters and words in pieces.
        self._within: list[list[str]] = []
        self._beside: list[list[str]] = []
        words: list[list[str]] = []
        for part in _parted(values, facts):
            self._within += self._sentences(part)
        for run in self._runs_of(CODE, (text for name, text in values if name not in facts)):
            if any(self._shapes[text] & WORDLESS for text in run):
                (self._beside if facts else self._within).append(run)
            words += self._runs_of(LETTERS, run)
        if not are_names:
            self._beside += self._within
            self._within = [run for part in _parted(order, facts) for run in self._sentences(part)]
        columns = [(name, column) for name, column in _columns(values).items() if len(column) > 1 and name not in facts]
        places = _places(values) if columns else {}
        for name, column in columns:
            words += self._runs_of(WORD, column)
            texts = [text for text in column if self._shapes[text] & OF_COLUMN]
            if len(texts) < len(column) or places[name] > 1:
                self._beside += self._sentences(texts)
        turns = [self._turns(values)] if are_names else [self._turns(values), self._turns(order)]
        self._whole = [*filter(None, turns), *_run_together(words)]
        if are_names and len(keys) > 1:
            self._whole += _run_together([list(keys)])

    @cached_property
    def joined(self) -> list[str]:
        """The texts as which the pieces are read together."""
        return [*chain.from_iterable(map(windows, chain(self._within, self._beside))), *self._whole]

    def runs(self) -> list[str]:
        """Texts that hold each piece, and each text of `joined`, as a line or as neighbouring lines."""
        found = ["\n".join(self._order), "\n".join(self._names), *map("\n".join, self._beside), *self._whole]
        return list(dict.fromkeys(filter(None, found)))

    def are(self, pieces: Sequence[Piece], facts: Collection[str]) -> bool:
        """Whether they are those of these pieces, beside these facts."""
        return self._pieces == pieces and self.facts == facts

    def with_pieces(self, pieces: Sequence[Piece]) -> Neighbours:
        """The neighbours of other pieces, most of which are among these, beside the same facts."""
        return self if pieces == self._pieces else Neighbours(pieces, self.facts, self._shapes)

    def lines_of(self, text: str) -> Sequence[int]:
        """The places of the pieces that are the lines of one of the texts of `joined`; none of words run together."""
        for places in self._rows():
            found = lines_of([self._pieces[place][1] for place in places], text)
            if found is not None:
                return places[found]
        return ()

    def _rows(self) -> Iterator[list[int]]:
        """The places of pieces that are read one after the other."""
        values = [place for place, (name, _) in enumerate(self._pieces) if name is not None]
        keys = [place for place, (name, text) in enumerate(self._pieces) if name is None and text not in self._names]
        order = sorted([*values, *keys])
        yield order
        yield values
        yield [place for place in values if self._pieces[place][0] not in self.facts]
        columns: dict[str | None, list[int]] = {}
        for place in values:
            name, text = self._pieces[place]
            if self._shapes[text] & OF_COLUMN:
                columns.setdefault(name, []).append(place)
        yield from (column for column in columns.values() if len(column) > 1)
        for row in (values, order):
            yield [place for place in row if self._shapes[self._pieces[place][1]] & TURN]

    def _sentences(self, texts: Iterable[str]) -> list[list[str]]:
        """Neighbours that one sentence may run through."""
        shapes, last = self._shapes, 0
        run: list[str] = []
        runs = [run]
        for text in texts:
            if last and (last & CLOSES or (last & COMPLETE and begins_anew(text))):
                runs.append(run := [])
            run.append(text)
            last = shapes[text]
        return [run for run in runs if len(run) > 1]

    def _runs_of(self, shape: int, texts: Iterable[str]) -> Iterator[list[str]]:
        """Two or more texts that follow each other and are of a shape."""
        runs = (list(some) for is_so, some in groupby(texts, lambda text: self._shapes[text] & shape) if is_so)
        return (run for run in runs if len(run) > 1)

    def _turns(self, pieces: Iterable[Piece]) -> str:
        """What may name who speaks at its beginning; empty when there is one at most."""
        some = [text for _, text in pieces if self._shapes[text] & TURN]
        return "\n".join(some) if len(some) > 1 else ""


def _columns(values: Iterable[Piece]) -> dict[str, list[str]]:
    """The strings by the names that they stand under."""
    found: dict[str, list[str]] = {}
    for name, text in values:
        found.setdefault(name or "", []).append(text)
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


def _parted(pieces: Iterable[Piece], facts: Collection[str]) -> list[list[str]]:
    """The texts of pieces, apart where a record begins: where a name of facts comes again; two or more together."""
    if not facts:
        return [[text for _, text in pieces]]
    parts: list[list[str]] = [[]]
    met: set[str | None] = set()
    last: str | None = None
    for name, text in pieces:
        if name in facts and name != last and name in met:
            parts.append([])
            met.clear()
        met.add(name)
        parts[-1].append(text)
        last = name
    return [part for part in parts if len(part) > 1]


def _run_together(runs: Iterable[list[str]]) -> list[str]:
    """Words that follow each other, as sentences, and each run of them as one word."""
    different = {tuple(run): run for run in runs}.values()
    return [" . ".join(map(" ".join, different)), " ".join(map("".join, different))] if different else []
