"""What the reader looks for before RE2 does: literals of which any match of a pattern holds some.

Rules kept here:
- they are worked out from `patterns.txt` and kept in `literals.json` (`make literals`), which says of which patterns;
  with others nothing is judged;
- the layout is that of `reader/forms.c`, little-endian, each entry at a multiple of 4 bytes.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from cortex_skills.enrichment.detecting.sources import FOLDER

FILE = FOLDER / "literals.json"
# The sets of which a match holds a literal each; by how many bytes a literal is looked for.
MOST_SETS, WINDOW = 3, 4
_ALIGNED = 4


class _Literal(NamedTuple):
    window: bytes
    letters: bytes
    offset: int
    set: int


def told(patterns: Sequence[str]) -> bytes:
    """What the reader is told of these patterns."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    if known["patterns"] != digest(patterns):
        raise RuntimeError(f"{FILE.name} is of other patterns than patterns.txt: make literals")
    literals = sorted(_literals(known["literals"], known["sets"]))
    alternatives = sorted(known["alternatives"], key=lambda alternative: alternative[2][0])
    windows = {literal.window for literal in literals}
    counts = map(len, (literals, windows, known["sets"], alternatives, patterns))
    head = struct.pack("<5I4x", *counts)
    return b"".join((head, *(_alternative(*each) for each in alternatives), *_entries(literals)))


def digest(patterns: Sequence[str]) -> str:
    """What tells some patterns from others."""
    return hashlib.sha256("\n".join(patterns).encode()).hexdigest()


def _literals(literals: list[tuple[str, int]], sets: list[list[int]]) -> Iterator[_Literal]:
    encoded = [(literal.encode(), offset) for literal, offset in literals]
    for number, some in enumerate(sets):
        for place in some:
            letters, offset = encoded[place]
            yield _Literal(letters[offset : offset + WINDOW], letters, offset, number)


def _alternative(pattern: int, crosses: bool, sets: list[int]) -> bytes:
    return struct.pack("<5I", pattern, crosses, *sets, *sets[:1] * (MOST_SETS - len(sets)))


def _entries(literals: list[_Literal]) -> Iterator[bytes]:
    """Literals, those with the same window one behind the other."""
    for window, group in groupby(literals, lambda literal: literal.window):
        same = list(group)
        for place, literal in enumerate(same, 1):
            number = int.from_bytes(window, "little")
            size = len(literal.letters)
            yield struct.pack("<6I", number, len(window), len(same) - place, size, literal.offset, literal.set)
            yield literal.letters + bytes(-size % _ALIGNED)
