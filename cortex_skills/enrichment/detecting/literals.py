"""What the reader looks for before RE2 does: literals of which any match of a pattern holds some, and an automaton.

Rules kept here:
- they are worked out from `patterns.txt` and kept in `literals.json` (`make literals`), which says of which patterns;
  with others nothing is judged;
- the layout is that of `reader/forms.c` and `reader/automata.c`, little-endian, each entry at a multiple of 4 bytes.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, groupby
from typing import NamedTuple

from cortex_skills.enrichment.detecting.sources import FOLDER

FILE = FOLDER / "literals.json"
# The sets of which a match holds a literal each; by how many bytes a literal is looked for.
MOST_SETS, WINDOW = 3, 4
_ALIGNED = 4
_HEAD, _ALTERNATIVE, _BYTES = struct.Struct("<7I4x"), struct.Struct("<8I"), 256
_BITS = 32


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
    alternatives = sorted(known["alternatives"], key=lambda alternative: alternative[3][0])
    windows = {literal.window for literal in literals}
    automata = [_automaton(states, edges) for *_, states, edges in alternatives]
    places = accumulate(map(len, automata), initial=0)
    counts = map(len, (literals, windows, known["sets"], alternatives, patterns, known["classes"]))
    head = _HEAD.pack(*counts, max(len(states) for *_, states, _ in alternatives))
    rows = [_alternative(place, *each) for (*each, _, _), place in zip(alternatives, places, strict=False)]
    return b"".join((head, *rows, *_classes(known["classes"]), *_entries(literals), *automata))


def digest(patterns: Sequence[str]) -> str:
    """What tells some patterns from others."""
    return hashlib.sha256("\n".join(patterns).encode()).hexdigest()


def _literals(literals: list[tuple[str, int]], sets: list[list[int]]) -> Iterator[_Literal]:
    encoded = [(literal.encode(), offset) for literal, offset in literals]
    for number, some in enumerate(sets):
        for place in some:
            letters, offset = encoded[place]
            yield _Literal(letters[offset : offset + WINDOW], letters, offset, number)


def _alternative(automaton: int, pattern: int, crosses: bool, is_exact: bool, sets: list[int], reach: int) -> bytes:
    return _ALTERNATIVE.pack(pattern, crosses, is_exact, *sets, *sets[:1] * (MOST_SETS - len(sets)), reach, automaton)


def _classes(classes: list[list[int]]) -> Iterator[bytes]:
    """For each byte, the classes that hold it, a bit each."""
    rows = [0] * _BYTES
    for number, ranges in enumerate(classes):
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            for byte in range(first, last + 1):
                rows[byte] |= 1 << number
    size = -(-len(classes) // _BITS) * _BITS // 8
    return (row.to_bytes(size, "little") for row in rows)


def _automaton(states: list[int], others: list[list[int]]) -> bytes:
    """Where the edges of each state begin, and the edges; the last state is the one before the first."""
    edges = {state: some for state, *some in others}
    rows = [edges.get(state, [2 * (state + 1)]) for state in range(len(states))]
    places = list(accumulate(map(len, rows), initial=0))
    # Of the end, which has no class, that of the last state stands there.
    pairs = ((edge, states[edge // 2]) for edge in chain(*rows))
    numbers = [len(states) - 1, states[-1], *places, *chain(*pairs)]
    data = struct.pack(f"<{len(numbers)}H", *numbers)
    return data + bytes(-len(data) % _ALIGNED)


def _entries(literals: list[_Literal]) -> Iterator[bytes]:
    """Literals, those with the same window one behind the other."""
    for window, group in groupby(literals, lambda literal: literal.window):
        same = list(group)
        for place, literal in enumerate(same, 1):
            number = int.from_bytes(window, "little")
            size = len(literal.letters)
            yield struct.pack("<6I", number, len(window), len(same) - place, size, literal.offset, literal.set)
            yield literal.letters + bytes(-size % _ALIGNED)
