"""What the reader is told of characters: which is a letter, a blank or a sign, and what each becomes.

Rules kept here:
- pure; the layout is that of `reader/characters.c`, little-endian as WebAssembly is;
- what is told of a character depends on it alone, and many are worked out together, which takes a fraction of the time;
- little is imported: most processes need this for a single rare character, if at all.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator
from functools import cache

from cortex_skills.enrichment.detecting.folding import folded_alone, folded_by_neighbours, look_alike
from cortex_skills.enrichment.detecting.roles import CLAUSES, ENDS, QUOTES, SIGNS

_CHARACTER = struct.Struct("<4I")


def told(chars: Collection[str]) -> tuple[bytes, int]:
    """What some characters are, and what they become; and of how many it tells (`reader/characters.c`)."""
    becomes = dict(zip(chars, folded_alone(chars), strict=True))
    # What they become must be known, too, and is folded already.
    becomes = {char: char for char in "".join(becomes.values())} | becomes
    text = "".join(becomes)
    each = map(_character, text, classes(text), becomes.values(), look_alike(text))
    return b"".join(each), len(text)


def _character(char: str, classes: int, folded: str, look: str) -> bytes:
    becomes = folded.encode()
    head = _CHARACTER.pack(ord(char), classes, 0 if look == char else ord(look), len(becomes))
    return head + becomes + bytes(-len(becomes) % 4)


def classes(text: str) -> Iterator[int]:
    """What each character of a text is: a bit for each of these tests, the first being the lowest."""
    by_neighbours = folded_by_neighbours(text)
    tests: tuple[Callable[[str], bool], ...] = (
        str.isalnum,
        _is_letter,
        str.isspace,
        ENDS.__contains__,
        CLAUSES.__contains__,
        QUOTES.__contains__,
        SIGNS.__contains__,
        str.isupper,
        str.islower,
        by_neighbours.__contains__,
        str.isprintable,
    )
    return map(_bits, zip(*(map(test, text) for test in tests), strict=True))


def _is_letter(char: str) -> bool:
    return char.isalnum() and not char.isdecimal()


@cache
def _bits(found: tuple[bool, ...]) -> int:
    return sum(1 << place for place, holds in enumerate(found) if holds)
