"""What a text must hold for a pattern of `patterns.txt` to stand in it, worked out from the patterns.

python -m tests.enrichment.literals     writes cortex_skills/enrichment/detecting/literals.json

Rules kept here:
- a pattern is some alternatives; of each, any match holds a literal of each of its sets;
- sets are chosen whose literals are rare in plain texts, by their letters; a line end in a literal is a blank;
- an alternative that crosses lines may match across a line end, any other stands within a line;
- the same patterns give the same file (`test_literals.py`).
"""

from __future__ import annotations

import json
import re
import re._constants as ops  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from cortex_skills.enrichment.detecting import patterns
from cortex_skills.enrichment.detecting.literals import FILE, MOST_SETS, WINDOW, digest

# A part of a pattern, as Python's parser tells of it: what it is, and what of.
Item = tuple[Any, Any]
Literals = frozenset[str]

_MOST_TEXTS, _MOST_TIMES, _MOST_ALTERNATIVES = 400, 4, 64
# A set that nearly each line meets tells nothing; and no more are needed of an alternative that is so rare in one.
_LINE, _TELLS_NOTHING, _RARE = 100, 0.3, 1e-9
# How often a letter stands in English, in a hundred letters; and how often other signs do, in one text.
_LETTERS = dict(zip("etaoinshrdlucmfwypvbgkjqxz", (
    12.7, 9.1, 8.2, 7.5, 7.0, 6.7, 6.3, 6.1, 6.0, 4.3, 4.0, 2.8, 2.8, 2.4, 2.2, 2.4, 2.0, 1.9, 1.0, 1.5, 2.0, 0.8, 0.15,
    0.1, 0.15, 0.07,
), strict=True))  # fmt: skip
_SIGNS = {" ": 0.17} | dict.fromkeys("0123456789.,-", 0.01) | dict.fromkeys(":()\"/'", 0.004)
_ASCII, _OTHER, _LETTERS_OF_ALL = 0.001, 0.0001, 0.8
# A letter tells less when it goes on with a word.
_LIKELIER, _WORD = 1.8, 3
# Letters that often stand side by side in English, and how often for what they would by themselves.
_PAIRS = frozenset(
    re.findall(
        "..",
        "thheineranreonatenndtiesorteofedisitalarsttontngsehaasouiolevecomedehiriroicnearacelichllcaeltansdifohopeecpr"
        "noctusiltrlyutssrsungewiolwenaulpaimfi",
    )
)
_IN_PAIRS = 3
# What it costs to look for a literal, as a chance.
_A_LITERAL = 3e-3
# Literals so short are looked for only when their letters are rare.
_SHORT, _COMMON = 3, 0.01


class Alternative(NamedTuple):
    """One of the ways in which a pattern may match."""

    pattern: int
    crosses: bool
    sets: tuple[Literals, ...]


def alternatives() -> Iterator[Alternative]:
    """Those of all patterns, in their order."""
    for number, pattern in enumerate(patterns.without_anchors()):
        found = (Alternative(number, _crosses(items), _sets(items)) for items in _split(parser.parse(pattern)))
        yield from dict.fromkeys(found)


def text() -> str:
    """The file: literals with the places of their rarest bytes, sets of those, alternatives of sets."""
    every = list(alternatives())
    sets = sorted({one for each in every for one in each.sets}, key=sorted)
    literals = sorted({literal for one in sets for literal in one})
    places = {literal: place for place, literal in enumerate(literals)}
    numbers = {one: number for number, one in enumerate(sets)}
    found = {
        "patterns": digest(patterns.without_anchors()),
        "literals": [[literal, _rarest(literal)] for literal in literals],
        "sets": [sorted(places[literal] for literal in one) for one in sets],
        "alternatives": [[each.pattern, each.crosses, [numbers[one] for one in each.sets]] for each in every],
    }
    rows = (f'"{key}": {json.dumps(value, ensure_ascii=False, separators=(",", ":"))}' for key, value in found.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _flat(items: Iterable[Item]) -> list[Item]:
    """Items without the groups that only hold them together."""
    found: list[Item] = []
    for op, of in items:
        found += _flat(of[3]) if op is ops.SUBPATTERN else [(op, of)]
    return found


def _split(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The alternatives of a pattern, as far as there are few: where one of many texts stands, it is no other."""
    left, done = [_flat(items)], 0
    while left:
        row = left.pop(0)
        place = next((n for n, item in enumerate(row) if item[0] is ops.BRANCH and _texts([item]) is None), None)
        if place is None or len(left) + done + len(row[place][1][1]) > _MOST_ALTERNATIVES:
            done += 1
            yield row
        else:
            left += [[*row[:place], *_flat(branch), *row[place + 1 :]] for branch in row[place][1][1]]


def _texts(items: Sequence[Item]) -> Literals | None:
    """All texts that some items match one after the other; None when they are many."""
    *_, (count, found) = _longer(items)
    return found if count == len(items) else None


def _longer(items: Sequence[Item]) -> Iterator[tuple[int, Literals]]:
    """The texts that so many items match, for none, one, two, …, as far as those are few."""
    found = frozenset({""})
    yield 0, found
    for count, (op, of) in enumerate(items, 1):
        some = _texts_of(op, of)
        found = frozenset(before + text for before in found for text in some or ())
        if not 0 < len(found) <= _MOST_TEXTS:
            return
        yield count, found


def _texts_of(op: Any, of: Any) -> Iterable[str] | None:
    if op is ops.LITERAL:
        return [chr(of)]
    if op is ops.AT:
        return [""]
    if op is ops.SUBPATTERN:
        return _texts(of[3])
    if op is ops.IN:
        return _chars(of)
    if op is ops.BRANCH:
        branches = [_texts(branch) for branch in of[1]]
        return None if None in branches else frozenset().union(*(texts for texts in branches if texts))
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT) and of[1] <= _MOST_TIMES:
        times = [_texts([*of[2]] * count) for count in range(of[0], of[1] + 1)]
        return None if None in times else frozenset().union(*(texts for texts in times if texts))
    return None


def _chars(members: Iterable[Item]) -> set[str] | None:
    found: set[str] = set()
    for op, of in members:
        if op is ops.LITERAL:
            found.add(chr(of))
        elif op is ops.RANGE and of[1] - of[0] <= _MOST_TEXTS:
            found.update(map(chr, range(of[0], of[1] + 1)))
        else:
            return None
    return found


def _crosses(items: Iterable[Item]) -> bool:
    """Whether a line end may be in what some items match."""
    for op, of in items:
        if (op is ops.LITERAL and chr(of) == "\n") or (op is ops.NOT_LITERAL and chr(of) != "\n"):
            return True
        if op is ops.IN and _holds_line_end(of):
            return True
        inner = [of[3]] if op is ops.SUBPATTERN else of[1] if op is ops.BRANCH else [of[2]] if op in _REPEATS else []
        if any(map(_crosses, inner)):
            return True
    return False


_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT)
_WITH_LINE_END = (ops.CATEGORY_SPACE, ops.CATEGORY_NOT_WORD, ops.CATEGORY_NOT_DIGIT)


def _holds_line_end(members: Sequence[Item]) -> bool:
    held = any(
        (op is ops.LITERAL and chr(of) == "\n")
        or (op is ops.RANGE and of[0] <= ord("\n") <= of[1])
        or (op is ops.CATEGORY and of in _WITH_LINE_END)
        for op, of in members
    )
    return held != (members[0][0] is ops.NEGATE)


def _sets(items: list[Item]) -> tuple[Literals, ...]:
    """The sets of an alternative that tell most, as many as it takes, none of which follows from those before."""
    found: list[Literals] = []
    chance = 1.0
    for some in sorted(set(_all_sets(items)), key=lambda some: (_cost(some), sorted(some))):
        if chance < _RARE or (found and _chance_in_line(some) > _TELLS_NOTHING):
            break
        if not any(all(any(part in literal for part in some) for literal in before) for before in found):
            found.append(some)
            chance *= _chance_in_line(some)
        if len(found) == MOST_SETS:
            break
    if not found:
        raise ValueError("a pattern that may match any text")
    return tuple(found)


def _all_sets(items: Iterable[Item]) -> Iterator[Literals]:
    """Sets of which any match of some items holds a literal each."""
    row: list[Item] = []
    for op, of in _flat(items):
        if op in _REPEATS and of[0] and _texts_of(op, of) is None:
            # As often as it must stand there, and then as often as it may.
            row += [(op, (of[0], of[0], of[2])), (ops.ANY, None)]
        else:
            row.append((op, of))
    for start in range(len(row)):
        for _, texts in _longer(row[start:]):
            if "" not in texts:
                yield _shortest(texts)
    for op, of in row:
        if op is ops.BRANCH:
            branches = [min(_all_sets(branch), key=_cost, default=None) for branch in of[1]]
            if None not in branches:
                yield _shortest(literal for branch in branches if branch for literal in branch)
        elif op in _REPEATS and of[0]:
            yield from _all_sets(of[2])


def _shortest(texts: Iterable[str]) -> Literals:
    """Those that hold no other."""
    found: list[str] = []
    for text in sorted({text.replace("\n", " ") for text in texts}, key=len):
        if not any(other in text for other in found):
            found.append(text)
    return frozenset(found)


@cache
def _chance(literal: str) -> float:
    """How likely a literal begins at a place of a plain text."""
    found, letters = 1.0, 0
    for char in literal:
        letters = letters + 1 if char.isalpha() else 0
        chance = _LETTERS[char] / 100 * _LETTERS_OF_ALL if char in _LETTERS else _SIGNS.get(char, 0)
        chance = min(1, (chance or (_ASCII if char.isascii() else _OTHER)) * _LIKELIER)
        found *= chance if letters < _WORD else chance**0.5
    return found


def _chance_in_line(some: Literals) -> float:
    """How likely a line holds any of some literals."""
    return min(1, sum(map(_chance, some)) * _LINE)


@cache
def _cost(some: Literals) -> float:
    """How likely they are found in vain, and how dear they are to look for."""
    common = sum(len(literal.encode()) < _SHORT and _chance(literal) > _COMMON for literal in some)
    return _chance_in_line(some) + _A_LITERAL * len(some) + common


def _rarest(literal: str) -> int:
    """Where the bytes of a literal begin by which it is looked for: rare ones, of one word if there are any."""
    encoded = literal.encode()

    def key(at: int) -> tuple[bool, float]:
        window = encoded[at : at + WINDOW].decode("utf-8", "replace")
        pairs = sum(window[place : place + 2] in _PAIRS for place in range(len(window)))
        return " " in window, _chance(window) * _IN_PAIRS**pairs

    return min(range(max(len(encoded) - WINDOW, 0) + 1), key=key)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
