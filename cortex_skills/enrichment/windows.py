"""Some pieces that follow each other, in stretches that are no longer than one sentence may run.

Rules kept here:
- a window holds the words that a rule looks at, and the next one begins within it, so that what runs through pieces is
  whole in one of them, and all of them together are as long as the pieces a few times over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# The first of some neighbours, and the place behind the last.
Stretch = tuple[int, int]

_REACH = 24  # words, a little more than the widest rule


def windows(texts: Sequence[str], sentence: Stretch, words: Mapping[str, int]) -> list[Stretch]:
    """The windows of a sentence that runs through two or more of some texts, and how many words each of them has."""
    first, behind = sentence
    if behind - first == 2:
        return [sentence]
    sizes = [words[text] for text in texts[first:behind]]
    found = []
    start, size = 0, 0
    for end in range(1, len(sizes)):
        size += sizes[end - 1]
        if size >= 2 * _REACH and end - start > 1:
            found.append((first + start, first + end))
            # The next window begins so far back that what runs through both is whole in one of them.
            place, size = end, 0
            while place > start + 1 and size < _REACH:
                place -= 1
                size += sizes[place]
            if size < _REACH:
                # What begins in the first piece may run further than this window does.
                found.append((first + start, first + _end_of_reach(sizes, start)))
            start = place
    found.append((first + start, behind))
    return found


def _end_of_reach(sizes: Sequence[int], first: int) -> int:
    """Behind the last piece that something that begins in the first one may run into."""
    end, between = first + 1, 0
    while end < len(sizes) and between < _REACH:
        between += sizes[end]
        end += 1
    return end
