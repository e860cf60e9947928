"""What a text must hold for a pattern of `patterns.txt` to stand in it, worked out from the patterns.

python -m tests.enrichment.literals     writes cortex_skills/enrichment/detecting/literals.json

Rules kept here:
- a pattern is some alternatives; of each, any match holds a literal of each of its sets;
- sets are chosen whose literals are rare in plain texts, by their letters; a line end in a literal is a blank;
- an alternative that crosses lines may match across a line end, any other stands within a line; a line end at the end
  of a match, where a text may end instead, is such an end: a text may begin and end with each of its lines;
- what holds them is read by an automaton of the alternative, which accepts all that it matches (`automata.py`);
- the same patterns give the same file (`test_literals.py`).
"""

from __future__ import annotations

import json
import re
import re._constants as ops  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from cortex_skills.enrichment.detecting import patterns
from cortex_skills.enrichment.detecting.literals import FILE, MOST_SETS, WINDOW, digest, edge
from tests.enrichment.automata import SPACES, Automaton, Bytes, Item, automaton

Literals = frozenset[str]

# So far and farther is any place before.
ANY_REACH = 1 << 16
# How many bytes a character has at most.
_MOST_BYTES = 4
_MOST_TEXTS, _MOST_TIMES, _MOST_ALTERNATIVES = 400, 4, 64
# A set that nearly each line meets tells nothing; and no more are needed of an alternative that is so rare in one.
_LINE, _TELLS_NOTHING, _RARE, _RARE_ENOUGH = 100, 0.3, 1e-9, 1e-3
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
_SHORT, _COMMON = 3, 0.005


class Alternative(NamedTuple):
    """One of the ways in which a pattern may match.

    Attributes:
        pattern: the number of the pattern.
        crosses: whether a line end may be in a match.
        sets: of each, a match holds a literal.
        reach: how many bytes of a match may stand before the literal of the first set.
        automaton: what accepts all matches.

    """

    pattern: int
    crosses: bool
    sets: tuple[Literals, ...]
    reach: int
    automaton: Automaton


def alternatives() -> Iterator[Alternative]:
    """Those of all patterns, in their order."""
    for number, pattern in enumerate(patterns.every()):
        rows: dict[tuple[bool, tuple[Literals, ...], int], list[list[Item]]] = {}
        for items in map(_trimmed, _split(parser.parse(pattern))):
            rows.setdefault((_crosses(items), *_sets(items)), []).append(items)
        for (crosses, sets, reach), some in rows.items():
            yield Alternative(number, crosses, sets, reach, automaton([(ops.BRANCH, (None, some))]))


def text() -> str:
    """The file: literals with the places of their rarest bytes, sets, classes of bytes, alternatives of all those."""
    every = list(alternatives())
    sets = sorted({one for each in every for one in each.sets}, key=sorted)
    literals = sorted({literal for one in sets for literal in one})
    places = {literal: place for place, literal in enumerate(literals)}
    numbers = {one: number for number, one in enumerate(sets)}
    times = Counter(some for each in every for some in each.automaton.begins + each.automaton.states)
    classes = {some: number for number, some in enumerate(sorted(times, key=lambda some: (-times[some], sorted(some))))}
    found = {
        "patterns": digest(patterns.every()),
        "literals": [[literal, _rarest(literal)] for literal in literals],
        "sets": [sorted(places[literal] for literal in one) for one in sets],
        "classes": list(map(_ranges, classes)),
        "alternatives": [
            [
                *(each.pattern, each.crosses, each.automaton.is_exact),
                *([numbers[one] for one in each.sets], each.reach),
                [*_automaton(each.automaton, classes)],
            ]
            for each in every
        ],
    }
    rows = (f'"{key}": {json.dumps(value, ensure_ascii=False, separators=(",", ":"))}' for key, value in found.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _ranges(some: Iterable[int]) -> list[int]:
    """The first and the last byte of each range of a class."""
    members = set(some)
    return sorted(byte for byte in members for side in (-1, 1) if byte + side not in members)


def _automaton(made: Automaton, classes: dict[Bytes, int]) -> Iterator[list[Any]]:
    """The classes with which it begins, and of its states; those that count, and up to how many; and where not the next
    state alone follows, the state and those that do.
    """
    yield [classes[some] for some in made.begins]
    yield [classes[some] for some in made.states]
    yield [[state, limit] for state, limit in enumerate(made.limits) if limit]
    edges = [[edge(*one) for one in some] for some in made.edges]
    yield [[state, *some] for state, some in enumerate(edges) if some != [edge(state + 1)]]


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
        row = _at_line_ends(left.pop(0))
        place = next((n for n, item in enumerate(row) if item[0] is ops.BRANCH and _texts([item]) is None), None)
        if place is None or len(left) + done + len(row[place][1][1]) > _MOST_ALTERNATIVES:
            done += 1
            yield row
        else:
            left += [[*row[:place], *_flat(branch), *row[place + 1 :]] for branch in row[place][1][1]]


def _at_line_ends(items: list[Item]) -> list[Item]:
    """Items with no line end at their ends, where a text may begin or end instead."""
    for end, anchor in ((0, (ops.AT, ops.AT_BEGINNING)), (-1, (ops.AT, ops.AT_END))):
        op, of = items[end]
        if op is ops.BRANCH and any(list(branch) == [anchor] for branch in of[1]):
            branches = [each for branch in of[1] for each in _without_line_end(_flat(branch), end, anchor)]
            items = _with_end(items, end, (op, (None, branches)))
    return items


def _with_end(items: list[Item], end: int, item: Item) -> list[Item]:
    """Items with another one first, or last."""
    return [*items[:-1], item] if end else [item, *items[1:]]


def _without_line_end(items: list[Item], end: int, anchor: Item) -> Iterator[list[Item]]:
    """Items, and as they are with an anchor for a line end."""
    op, of = items[end]
    if not _crosses([items[end]]) or op not in (ops.LITERAL, ops.IN):
        yield items
        return
    for item in [anchor, *([(ops.IN, _without_line_ends(of))] if op is ops.IN else [])]:
        yield _with_end(items, end, item)


def _without_line_ends(members: Sequence[Item]) -> list[Item]:
    spaces = [(ops.LITERAL, byte) for byte in sorted(SPACES)]
    every = [one for item in members for one in (spaces if item == (ops.CATEGORY, ops.CATEGORY_SPACE) else [item])]
    left = [item for item in every if item != (ops.LITERAL, ord("\n"))]
    if _holds_line_end(left):
        raise ValueError(f"{members} hold a line end that is not told apart")
    return left


def _trimmed(items: list[Item]) -> list[Item]:
    """Items without what a match may do without at its ends."""
    for end in (0, -1):
        while items and _may_be_empty(*items[end]):
            items.pop(end)
        if items and items[end][0] in _REPEATS:
            op, (least, _, inner) = items[end]
            items[end] = (op, (least, least, inner))
    return items


def _may_be_empty(op: Any, of: Any) -> bool:
    if op is ops.BRANCH:
        return any(all(_may_be_empty(*item) for item in branch) for branch in of[1])
    if op is ops.SUBPATTERN:
        return all(_may_be_empty(*item) for item in of[3])
    return op in _REPEATS and (not of[0] or all(_may_be_empty(*item) for item in of[2]))


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
        elif op is ops.CATEGORY and of is ops.CATEGORY_DIGIT:
            found.update("0123456789")
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


class _Set(NamedTuple):
    """Literals of which any match holds one.

    Attributes:
        literals: those.
        reach: how many bytes of the match may stand before it.
        items: the first of the items that it stands for, and the one behind them.

    """

    literals: Literals
    reach: int
    items: tuple[int, int]

    def adds_to(self, other: _Set) -> bool:
        """Whether this tells more than another does: of a rare one, the automaton tells the rest."""
        follows = all(any(part in literal for part in self.literals) for literal in other.literals)
        is_beside = self.items[1] <= other.items[0] or self.items[0] >= other.items[1]
        return not follows and (is_beside or _chance_in_line(other.literals) > _RARE_ENOUGH)


def _sets(items: list[Item]) -> tuple[tuple[Literals, ...], int]:
    """The sets of an alternative that tell most, as many as it takes, none of which follows from those before.

    First is the one that leaves the least before it in a match, and how many bytes that is.
    """
    found: list[_Set] = []
    chance = 1.0
    for some in sorted(_all_sets(items), key=lambda some: (_cost(some.literals), sorted(some.literals), some.reach)):
        if chance < _RARE or (found and _chance_in_line(some.literals) > _TELLS_NOTHING):
            break
        if all(some.adds_to(before) for before in found):
            found.append(some)
            chance *= _chance_in_line(some.literals)
        if len(found) == MOST_SETS:
            break
    if not found:
        raise ValueError("a pattern that may match any text")
    found.sort(key=lambda some: some.reach)
    return tuple(some.literals for some in found), found[0].reach


def _all_sets(items: Iterable[Item]) -> Iterator[_Set]:
    """Sets of which any match of some items holds a literal each."""
    row, before = _apart(items), 0
    for start, (op, of) in enumerate(row):
        for count, texts in _longer(row[start:]):
            if "" not in texts:
                yield _Set(_shortest(texts), _reach(before, max(map(_size, texts))), (start, start + count))
        behind = _reach(before, _most_bytes([(op, of)]))
        if op is ops.BRANCH:
            branches = [min(_all_sets(branch), key=lambda some: _cost(some[0]), default=None) for branch in of[1]]
            if None not in branches:
                some = _shortest(literal for branch in branches if branch for literal in branch.literals)
                yield _Set(some, behind, (start, start + 1))
        elif op in _REPEATS and of[0]:
            for inner in _all_sets(of[2]):
                yield _Set(inner.literals, behind, (start, start + 1))
        before = behind


def _apart(items: Iterable[Item]) -> list[Item]:
    """Items, each by itself: what is repeated as often as it must stand there, and then as often as it may."""
    row: list[Item] = []
    for op, of in _flat(items):
        if op in _REPEATS and of[0] and _texts_of(op, of) is None:
            least, most, inner = of
            row += [*inner] * least if least <= _MOST_TIMES else [(op, (least, least, inner))]
            row.append((op, (0, most - least if most < ops.MAXREPEAT else most, inner)))
        else:
            row.append((op, of))
    return row


def _reach(before: int, more: int) -> int:
    return min(ANY_REACH, before + more)


def _size(text: str) -> int:
    return len(text.encode())


def _most_bytes(items: Iterable[Item]) -> int:
    """How many bytes some items match at most."""
    return _reach(0, sum(_most_bytes_of(op, of) for op, of in items))


def _most_bytes_of(op: Any, of: Any) -> int:
    if op is ops.AT:
        return 0
    if op is ops.LITERAL:
        return _size(chr(of))
    if op is ops.SUBPATTERN:
        return _most_bytes(of[3])
    if op is ops.BRANCH:
        return max(map(_most_bytes, of[1]))
    if op in _REPEATS:
        return _reach(0, int(of[1]) * _most_bytes(of[2]))
    chars = _chars(of) if op is ops.IN else None
    return _MOST_BYTES if chars is None else max(map(_size, chars))


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
