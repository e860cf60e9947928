"""Pieces that stand one after the other, and which of them may be one sentence, or of one kind.

Rules kept here:
- what holds no word (a number, a version, an address) may end a sentence that goes over pieces, and is no other part of
  one;
- a stretch is two pieces or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from cortex_skills.enrichment.pieces import CLOSES, COMPLETE, TURN, begins_anew
from cortex_skills.enrichment.windows import Stretch


class Row(NamedTuple):
    """Pieces that stand one after the other.

    Attributes:
        places: of the pieces.
        texts, shapes: of each.

    """

    places: Sequence[int]
    texts: Sequence[str]
    shapes: Sequence[int]


def sentences(row: Row, part: Stretch) -> Iterator[Stretch]:
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


def stretches(row: Row, shape: int) -> list[Stretch]:
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


def turns(row: Row) -> list[int]:
    """The places of what may name who speaks at its beginning."""
    return [place for place, shape in zip(row.places, row.shapes, strict=True) if shape & TURN]
