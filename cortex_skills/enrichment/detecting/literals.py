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
from typing import Any, NamedTuple

from cortex_skills.enrichment.detecting.sources import FOLDER

FILE = FOLDER / "literals.json"
# The sets of which a match holds a literal each; by how many bytes a literal is looked for.
MOST_SETS, WINDOW = 3, 4
_ALIGNED = 4
_HEAD, _ALTERNATIVE, _BYTES = struct.Struct("<7I4x"), struct.Struct("<9I"), 256
_BITS = 32
# What an edge may want, a bit each: that a word begins or ends there, that a line begins, or that one ends.
BORDER, LINE_BEGIN, LINE_END = 1, 2, 4
# How a state counts that is entered: from one on, as the state before it, or one more.
ANEW, ON, MORE = range(3)
# How many bits of an edge tell how it counts, and how many what it wants.
_COUNTS, _WANTS = 2, 3
_AT_LINE_END = (LINE_BEGIN | LINE_END) << _COUNTS


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
    automata = [_automaton(*automaton) for *_, automaton in alternatives]
    places = accumulate(map(len, automata), initial=0)
    counts = map(len, (literals, windows, known["sets"], alternatives, patterns, known["classes"]))
    head = _HEAD.pack(*counts, max(len(states) for *_, (_, states, *_) in alternatives))
    rows = [_alternative(place, *each) for each, place in zip(alternatives, places, strict=False)]
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


def edge(state: int, wanted: int = 0, count: int = ANEW) -> int:
    """An edge as a number: the state that it leads to, above what it wants, and that above how the state counts."""
    return (state << _WANTS | wanted) << _COUNTS | count


def _alternative(
    place: int, pattern: int, crosses: bool, is_exact: bool, sets: list[int], reach: int, automaton: list[Any]
) -> bytes:
    *_, others = automaton
    is_at_line_end = any(one & _AT_LINE_END for _, *some in others for one in some)
    filled = (*sets, *sets[:1] * (MOST_SETS - len(sets)))
    return _ALTERNATIVE.pack(pattern, crosses, is_exact, is_at_line_end, *filled, reach, place)


def _classes(classes: list[list[int]]) -> Iterator[bytes]:
    """For each byte, the classes that hold it, a bit each."""
    rows = [0] * _BYTES
    for number, ranges in enumerate(classes):
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            for byte in range(first, last + 1):
                rows[byte] |= 1 << number
    size = -(-len(classes) // _BITS) * _BITS // 8
    return (row.to_bytes(size, "little") for row in rows)


def _automaton(begins: list[int], states: list[int], counted: list[tuple[int, int]], others: list[list[int]]) -> bytes:
    """Up to how many each state counts, where its edges begin, and the edges; behind the last are those that begin."""
    limits, edges = dict(counted), {state: some for state, *some in others}
    rows = [edges.get(state, [edge(state + 1)]) for state in range(len(states) + 1)]
    places = list(accumulate(map(len, rows), initial=0))
    # The end has no class.
    pairs = ((one, [*states, 0][one // edge(1)]) for one in chain(*rows))
    most = [limits.get(state, 0) for state in range(len(states))]
    numbers = [len(states), *begins, *places, *most, *chain(*pairs)]
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
