"""Some pieces that follow each other, in texts that are no longer than one sentence may run, and the way back.

Rules kept here:
- a window holds the words that a rule looks at, and the next one begins within it, so that what runs through pieces is
  whole in one of them, and all of them together are as long as the pieces a few times over;
- pieces are lines of a text, and may be several each.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

_REACH = 24  # words, a little more than the widest rule


def windows(sentence: list[str]) -> list[str]:
    """The windows of two or more pieces."""
    if len(sentence) == 2:
        return ["\n".join(sentence)]
    sizes = [len(piece.split()) for piece in sentence]
    found = []
    start, size = 0, 0
    for end in range(1, len(sentence)):
        size += sizes[end - 1]
        if size >= 2 * _REACH and end - start > 1:
            found.append("\n".join(sentence[start:end]))
            # The next window begins so far back that what runs through both is whole in one of them.
            place, size = end, 0
            while place > start + 1 and size < _REACH:
                place -= 1
                size += sizes[place]
            if size < _REACH:
                # What begins in the first piece may run further than this window does.
                found.append("\n".join(sentence[start : _end_of_reach(sizes, start)]))
            start = place
    found.append("\n".join(sentence[start:]))
    return found


def _end_of_reach(sizes: Sequence[int], first: int) -> int:
    """Behind the last piece that something that begins in the first one may run into."""
    end, between = first + 1, 0
    while end < len(sizes) and between < _REACH:
        between += sizes[end]
        end += 1
    return end


def lines_of(pieces: Sequence[str], text: str) -> slice | None:
    """Which neighbours are the lines of a text, if there are such; each piece may be several lines."""
    whole = "\n".join(pieces)
    behind = list(accumulate(len(piece) + 1 for piece in pieces))
    starts, ends = {0, *behind[:-1]}, set(behind)
    at = whole.find(text)
    while at >= 0:
        end = at + len(text) + 1
        if at in starts and end in ends:
            return slice(bisect_right(behind, at), bisect_left(behind, end) + 1)
        at = whole.find(text, at + 1)
    return None
