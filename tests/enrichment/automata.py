"""A pattern as an automaton over bytes, for the reader (`reader/automata.c`).

Rules kept here:
- what the pattern matches, the automaton accepts somewhere in it, and perhaps more, where it tells so: a class of some
  characters that are not of ASCII as any of those, and what is many times of what is many times as any times;
- a state is a class of bytes, and which states may follow it; behind the last of them comes the end; states that differ
  in nothing are one;
- what may stand there many times is one state that counts; of two ways to it the lower count tells all, since nothing
  asks for more of it;
- whether a word begins or ends between two bytes is told as RE2 does, by letters of ASCII; a text begins and ends with
  each of its lines.
"""

from __future__ import annotations

import re._constants as ops  # type: ignore[import-not-found]
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from cortex_skills.enrichment.detecting.literals import ANEW, BORDER, LINE_BEGIN, LINE_END, MORE, ON

# A part of a pattern, as Python's parser tells of it: what it is, and what of.
Item = tuple[Any, Any]
Bytes = frozenset[int]
# A state, what must be there before it is entered, and how it counts then.
Edge = tuple[int, int, int]
Edges = dict[int, set[Edge]]
# What comes before the first state, and behind the last; a state, as it sees itself.
_BEGIN, _END, _ITSELF = -1, -2, -3
# What may stand there more often is counted.
_MOST_TIMES = 4
# How a character begins that is not of ASCII, and how it goes on.
_ASCII, _LONGER, _CONTINUED = range(0x80), frozenset(range(0xC0, 0x100)), frozenset(range(0x80, 0xC0))
_ANY = _LONGER.union(_ASCII)
_DIGITS = frozenset(b"0123456789")
_WORD = _DIGITS | frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
SPACES = frozenset(b" \t\n\r\f")
_CATEGORIES = {
    ops.CATEGORY_DIGIT: _DIGITS,
    ops.CATEGORY_WORD: _WORD,
    ops.CATEGORY_SPACE: SPACES,
    ops.CATEGORY_NOT_DIGIT: _ANY - _DIGITS,
    ops.CATEGORY_NOT_WORD: _ANY - _WORD,
    ops.CATEGORY_NOT_SPACE: _ANY - SPACES,
}
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT)
_WANTED = {ops.AT_BOUNDARY: BORDER, ops.AT_BEGINNING: LINE_BEGIN, ops.AT_END: LINE_END}


# The class of bytes of a state, and up to how many it counts.
_Kind = tuple[Bytes, int]


class Automaton(NamedTuple):
    """An automaton that is entered at any place of a text.

    Attributes:
        states: the class of bytes of each.
        begins: the bytes with which any match begins where a line does, and with which elsewhere.
        limits: for each state, up to how many it counts; 0 when it does not.
        edges: for each state, which may follow, one behind the last of them for the end; and last, those that begin.
        is_exact: whether it accepts nothing but what the pattern matches.

    """

    states: tuple[Bytes, ...]
    begins: tuple[Bytes, Bytes]
    limits: tuple[int, ...]
    edges: tuple[tuple[Edge, ...], ...]
    is_exact: bool


# A state, and what is wanted before it, or behind it.
_At = tuple[int, int]


class _Part(NamedTuple):
    """With which states a part begins and ends, and what each wants there; what it wants when nothing of it stands."""

    first: frozenset[_At]
    last: frozenset[_At]
    empty: frozenset[int]


_NOTHING = _Part(frozenset(), frozenset(), frozenset({0}))


def automaton(items: Sequence[Item]) -> Automaton:
    """The automaton of some items that follow each other."""
    maker = _Maker()
    made = maker.edges_of(items)
    edges = _merged(maker.kinds(), made)
    order = [*sorted(edges.keys() - {_BEGIN}), _BEGIN]
    numbers = {state: number for number, state in enumerate([*order[:-1], _END])}
    rows = [
        tuple(sorted((numbers[other], wanted, count) for other, wanted, count in _needed(edges[state])))
        for state in order
    ]
    first = [(maker.states[other], wanted) for other, wanted, _ in edges[_BEGIN]]
    begins = frozenset().union(*(some for some, _ in first))
    within = frozenset().union(*(some for some, wanted in first if not wanted & LINE_BEGIN))
    kinds = maker.kinds()
    states, limits = zip(*(kinds[state] for state in order[:-1]), strict=True)
    return Automaton(states, (begins, within), limits, tuple(rows), maker.is_exact)


def _needed(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Edges without those that want more than another does, and count no less."""
    some = set(edges)
    for edge in some:
        others = (other for other in some if other != edge and other[0] == edge[0])
        if not any(wanted & edge[1] == wanted and count <= edge[2] for _, wanted, count in others):
            yield edge


def _merged(kinds: Sequence[_Kind], edges: Edges) -> Edges:
    """Edges in which one state stands for those of the same kind that come behind the same, or before the same."""
    while any((names := _names(kinds, edges, along)) for along in (_turned(edges), edges)):
        edges = _renamed(edges, names)
    return edges


def _names(kinds: Sequence[_Kind], edges: Edges, along: Edges) -> dict[int, int]:
    """The states for which others stand, that differ from them neither in their kind nor along some edges."""
    first: dict[tuple[_Kind, frozenset[Edge]], int] = {}
    same = {
        state: first.setdefault((kinds[state], frozenset(_around(state, along))), state)
        for state in sorted(edges.keys() - {_BEGIN})
    }
    return {state: other for state, other in same.items() if state != other}


def _around(state: int, along: Edges) -> Iterator[Edge]:
    """The edges of a state, where it is no other than those it shall be compared with."""
    for other, wanted, count in along.get(state, ()):
        yield (_ITSELF if other == state else other), wanted, count


def _turned(edges: Edges) -> Edges:
    found: Edges = {}
    for state, behind in edges.items():
        for other, wanted, count in behind:
            found.setdefault(other, set()).add((state, wanted, count))
    return found


def _renamed(edges: Edges, names: dict[int, int]) -> Edges:
    found: Edges = {}
    for state, behind in edges.items():
        renamed = ((names.get(other, other), wanted, count) for other, wanted, count in behind)
        found.setdefault(names.get(state, state), set()).update(renamed)
    return found


class _Maker:
    """Makes the states of a pattern, one for each byte that it tells of."""

    def __init__(self) -> None:
        self.is_exact = True
        self.states: list[Bytes] = []
        self.limits: dict[int, int] = {}
        self._edges: Edges = {}

    def kinds(self) -> list[_Kind]:
        """That of each state."""
        return [(some, self.limits.get(state, 0)) for state, some in enumerate(self.states)]

    def edges_of(self, items: Sequence[Item]) -> Edges:
        """For each state of some items, and for the begin, what may follow."""
        part = self._row(items)
        self._join(part.last, {(_END, 0)})
        if part.empty:
            raise ValueError("a pattern that may match any text")
        return self._edges | {_BEGIN: {(state, wanted, ANEW) for state, wanted in part.first}}

    def _row(self, items: Iterable[Item]) -> _Part:
        found = _NOTHING
        for item in items:
            found = self._then(found, self._part(*item))
        return found

    def _part(self, op: Any, of: Any) -> _Part:
        if op is ops.LITERAL:
            return self._char(chr(of))
        if op is ops.AT:
            return _Part(frozenset(), frozenset(), frozenset({_WANTED[of]}))
        if op is ops.SUBPATTERN:
            return self._row(of[3])
        if op is ops.BRANCH:
            return _either(self._row(branch) for branch in of[1])
        if op in _REPEATS:
            return self._times(*of)
        if op is ops.IN:
            return self._one_of(of)
        if op is ops.NOT_LITERAL:
            return self._one_of([(ops.NEGATE, None), (ops.LITERAL, of)])
        if op is ops.ANY:
            return self._one_of([(ops.NEGATE, None), (ops.LITERAL, ord("\n"))])
        raise ValueError(f"{op} is not known")

    def _times(self, least: int, most: Any, items: Sequence[Item]) -> _Part:
        found = _NOTHING
        is_counted = most is not ops.MAXREPEAT and most - least > _MOST_TIMES
        if most is ops.MAXREPEAT or is_counted:
            # The last that must stand there is the first that may stand there again.
            alone = max(least - 1, 0)
            again = self._counted(most - alone, items) if is_counted else self._again(self._row(items))
            found = again if least else _either([_NOTHING, again])
            least = alone
        else:
            for _ in range(most - least):
                found = _either([_NOTHING, self._then(self._row(items), found)])
        for _ in range(least):
            found = self._then(self._row(items), found)
        return found

    def _counted(self, most: int, items: Sequence[Item]) -> _Part:
        """What stands there once, and may again, no more than so many times."""
        begin = len(self.states)
        part = self._row(items)
        states = range(begin, len(self.states))
        if not self.limits.keys().isdisjoint(states):
            self.is_exact = False
            return self._again(part)
        for state in states:
            self.limits[state] = most
            self._edges[state] = {(other, wanted, ON) for other, wanted, _ in self._edges[state]}
        self._join(part.last, part.first, MORE)
        return part

    def _again(self, part: _Part) -> _Part:
        """What stands there once, and may any times."""
        self._join(part.last, part.first)
        return part

    def _char(self, char: str) -> _Part:
        found = _NOTHING
        for byte in char.encode():
            found = self._then(found, self._state(frozenset({byte})))
        return found

    def _one_of(self, members: Sequence[Item]) -> _Part:
        found, others = set[int](), list[str]()
        for op, of in members:
            if op is ops.LITERAL and of >= len(_ASCII):
                others.append(chr(of))
            elif op is ops.LITERAL:
                found.add(of)
            elif op is ops.RANGE:
                found.update(byte for byte in _ASCII if of[0] <= byte <= of[1])
                if of[1] >= len(_ASCII):
                    found |= _LONGER
                    self.is_exact = False
            elif op is ops.CATEGORY:
                found.update(_CATEGORIES[of])
            elif op is not ops.NEGATE:
                raise ValueError(f"{op} is not known")
        if members[0][0] is ops.NEGATE:
            self.is_exact &= not others and not found & _LONGER
            found, others = set(_ASCII) - found | _LONGER, []
        some = self._state(frozenset(found))
        if found & _LONGER:
            some = self._then(some, _either([_NOTHING, self._again(self._state(_CONTINUED))]))
        return _either([some] * bool(found) + [self._char(char) for char in others])

    def _state(self, some: Bytes) -> _Part:
        state = len(self.states)
        self.states.append(some)
        self._edges[state] = set()
        some_at = frozenset({(state, 0)})
        return _Part(some_at, some_at, frozenset())

    def _then(self, part: _Part, other: _Part) -> _Part:
        self._join(part.last, other.first)
        return _Part(
            part.first | _with(other.first, part.empty),
            other.last | _with(part.last, other.empty),
            frozenset(one | another for one in part.empty for another in other.empty),
        )

    def _join(self, last: Iterable[_At], first: Iterable[_At], count: int = ANEW) -> None:
        for state, wanted in last:
            self._edges[state].update((other, wanted | also, count) for other, also in first)


def _with(some: Iterable[_At], empty: Iterable[int]) -> set[_At]:
    return {(state, wanted | also) for state, wanted in some for also in empty}


def _either(parts: Iterable[_Part]) -> _Part:
    some = list(parts)
    return _Part(*(frozenset().union(*members) for members in zip(*some, strict=True)))
