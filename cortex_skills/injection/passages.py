r"""A long text as passages of a few thousand characters, which are judged one by one.

Rules kept here:
- a text is made of units: lines with their ends, and parts of long lines; the units joined are the text;
- a passage is a run of units. Where two meet, the end of one and the start of the other are judged together (`seam`),
  since a sentence may run from one to the other;
- a text that is short enough is one passage.

    >>> [len(passage) for passage in passages(units("A bridge.\n" * 1000))]
    [409, 409, 182]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

PASSAGE = 1 << 12  # characters
_LONGEST_UNIT, _SEAM, _BLANK = 1 << 10, 360, 4


def units(text: str) -> list[str]:
    """The lines of a text, and the parts of its long lines, which end with a sentence or a word where there is one."""
    found = []
    start = 0
    while start < len(text):
        most = start + _LONGEST_UNIT
        end = text.find("\n", start, most) + 1
        if not end and most < len(text):
            end = text.rfind(". ", start, most) + 2
            end = end if end > start + 1 else text.rfind(" ", start, most) + 1
        end = end if end > start else min(most, len(text))
        found.append(text[start:end])
        start = end
    return found


def passages(given: Sequence[str]) -> Iterator[list[str]]:
    """Runs of units, none longer than `PASSAGE` characters if it has more than one."""
    passage: list[str] = []
    size = 0
    for unit in given:
        if passage and size + len(unit) > PASSAGE:
            yield passage
            passage, size = [], 0
        passage.append(unit)
        size += len(unit)
    if passage:
        yield passage


def seam(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """How many units at the end of one passage, and at the start of the next, are judged together."""
    return _least(reversed(left)), _least(iter(right))


def _least(given: Iterator[str]) -> int:
    """How many units have so many characters; blank ones count for little, but do count."""
    size = count = 0
    for unit in given:
        size += len(unit.strip()) + (len(unit) + _BLANK - 1) // _BLANK
        count += 1
        if size >= _SEAM:
            break
    return count
