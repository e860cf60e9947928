"""What is left of a pattern when it forgets how often: an automaton over bytes, for the reader (`reader/automata.c`).

Rules kept here:
- what the pattern matches, the automaton accepts somewhere in it, and perhaps more, where it tells so: many times as
  any, a class of some characters that are not of ASCII as any of those, a blank as a line end;
- a state is a class of bytes, and which states may follow it; behind the last of them comes the end; states that differ
  in nothing are one;
- whether a word begins or ends between two bytes is told as RE2 does, by letters of ASCII;
- a line end is a blank, as in the text that the reader looks at.
"""

from __future__ import annotations

import re._constants as ops  # type: ignore[import-not-found]
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

# A part of a pattern, as Python's parser tells of it: what it is, and what of.
Item = tuple[Any, Any]
Bytes = frozenset[int]
# A state, and whether a word begins or ends before it is entered.
Edge = tuple[int, bool]
Edges = dict[int, set[Edge]]

# What comes before the first state, and behind the last.
_BEGIN, _END = -1, -2
# So many times are told apart of what stands there, and of what may stand there; more of it as any times.
_MOST_TIMES, _MOST_TIMES_IF_ANY = 40, 4
# How a character begins that is not of ASCII, and how it goes on.
_ASCII, _LONGER, _CONTINUED = range(0x80), frozenset(range(0xC0, 0x100)), frozenset(range(0x80, 0xC0))
_ANY = _LONGER.union(_ASCII)
_DIGITS = frozenset(b"0123456789")
_WORD = _DIGITS | frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACES = frozenset(b" \t\n\r\f")
_CATEGORIES = {
    ops.CATEGORY_DIGIT: _DIGITS,
    ops.CATEGORY_WORD: _WORD,
    ops.CATEGORY_SPACE: _SPACES,
    ops.CATEGORY_NOT_DIGIT: _ANY - _DIGITS,
    ops.CATEGORY_NOT_WORD: _ANY - _WORD,
    ops.CATEGORY_NOT_SPACE: _ANY - _SPACES,
}
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT)


class Automaton(NamedTuple):
    """An automaton that is entered at any place of a text.

    Attributes:
        states: the class of bytes of each; and last, the bytes with which any match begins.
        edges: for each state, which may follow, one behind the last of them for the end; and last, those that begin.
        is_exact: whether it accepts nothing but what the pattern matches.

    """

    states: tuple[Bytes, ...]
    edges: tuple[tuple[Edge, ...], ...]
    is_exact: bool


class _Part(NamedTuple):
    """With which states a part begins and ends, and how nothing of it may stand: at a border of a word, or anywhere."""

    first: frozenset[Edge]
    last: frozenset[Edge]
    empty: frozenset[bool]


_NOTHING = _Part(frozenset(), frozenset(), frozenset({False}))
_BORDER = _Part(frozenset(), frozenset(), frozenset({True}))


def automaton(items: Sequence[Item]) -> Automaton:
    """The automaton of some items that follow each other."""
    maker = _Maker()
    edges = _merged(maker.states, maker.edges_of(items))
    order = [*sorted(edges.keys() - {_BEGIN}), _BEGIN]
    numbers = {state: number for number, state in enumerate([*order[:-1], _END])}
    rows = [
        tuple(sorted((numbers[other], at) for other, at in some if not at or (other, False) not in some))
        for some in map(edges.__getitem__, order)
    ]
    first = frozenset().union(*(maker.states[other] for other, _ in edges[_BEGIN]))
    return Automaton((*(maker.states[state] for state in order[:-1]), first), tuple(rows), maker.is_exact)


def _merged(states: Sequence[Bytes], edges: Edges) -> Edges:
    """Edges in which one state stands for those of the same bytes that come behind the same, or before the same."""
    while any((names := _names(states, edges, along)) for along in (_turned(edges), edges)):
        edges = _renamed(edges, names)
    return edges


def _names(states: Sequence[Bytes], edges: Edges, along: Edges) -> dict[int, int]:
    """The states for which others stand, that differ from them neither in their bytes nor along some edges."""
    first: dict[tuple[Bytes, frozenset[Edge]], int] = {}
    same = {
        state: first.setdefault((states[state], frozenset(along.get(state, ()))), state)
        for state in sorted(edges.keys() - {_BEGIN})
    }
    return {state: other for state, other in same.items() if state != other}


def _turned(edges: Edges) -> Edges:
    found: Edges = {}
    for state, behind in edges.items():
        for other, at_border in behind:
            found.setdefault(other, set()).add((state, at_border))
    return found


def _renamed(edges: Edges, names: dict[int, int]) -> Edges:
    found: Edges = {}
    for state, behind in edges.items():
        found.setdefault(names.get(state, state), set()).update((names.get(other, other), at) for other, at in behind)
    return found


class _Maker:
    """Makes the states of a pattern, one for each byte that it tells of."""

    def __init__(self) -> None:
        self.is_exact = True
        self.states: list[Bytes] = []
        self._edges: Edges = {}

    def edges_of(self, items: Sequence[Item]) -> Edges:
        """For each state of some items, and for the begin, what may follow."""
        part = self._row(items)
        for state, at_border in part.last:
            self._edges[state].add((_END, at_border))
        if part.empty:
            raise ValueError("a pattern that may match any text")
        return self._edges | {_BEGIN: set(part.first)}

    def _row(self, items: Iterable[Item]) -> _Part:
        found = _NOTHING
        for item in items:
            found = self._then(found, self._part(*item))
        return found

    def _part(self, op: Any, of: Any) -> _Part:
        if op is ops.LITERAL:
            return self._char(chr(of))
        if op is ops.AT:
            return _BORDER if of is ops.AT_BOUNDARY else _NOTHING
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
        if most is not ops.MAXREPEAT and most > (_MOST_TIMES if least else _MOST_TIMES_IF_ANY):
            self.is_exact = False
            least, most = min(least, _MOST_TIMES_IF_ANY), ops.MAXREPEAT
        if most is ops.MAXREPEAT:
            found = self._any_times(self._row(items))
        else:
            for _ in range(most - least):
                found = _either([_NOTHING, self._then(self._row(items), found)])
        for _ in range(least):
            found = self._then(self._row(items), found)
        return found

    def _any_times(self, part: _Part) -> _Part:
        self._join(part.last, part.first)
        return _either([_NOTHING, part])

    def _char(self, char: str) -> _Part:
        found = _NOTHING
        self.is_exact &= char != "\n"
        for byte in (" " if char == "\n" else char).encode():
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
        if ord("\n") in found:
            self.is_exact = False
            found.add(ord(" "))
        some = self._state(frozenset(found))
        if found & _LONGER:
            some = self._then(some, self._any_times(self._state(_CONTINUED)))
        return _either([some] * bool(found) + [self._char(char) for char in others])

    def _state(self, some: Bytes) -> _Part:
        state = len(self.states)
        self.states.append(some)
        self._edges[state] = set()
        edge = frozenset({(state, False)})
        return _Part(edge, edge, frozenset())

    def _then(self, part: _Part, other: _Part) -> _Part:
        self._join(part.last, other.first)
        return _Part(
            part.first | _with(other.first, part.empty),
            other.last | _with(part.last, other.empty),
            frozenset(one or another for one in part.empty for another in other.empty),
        )

    def _join(self, last: Iterable[Edge], first: Iterable[Edge]) -> None:
        for state, at_border in last:
            self._edges[state].update((other, at_border or also) for other, also in first)


def _with(edges: Iterable[Edge], empty: Iterable[bool]) -> set[Edge]:
    return {(state, at_border or also) for state, at_border in edges for also in empty}


def _either(parts: Iterable[_Part]) -> _Part:
    some = list(parts)
    return _Part(*(frozenset().union(*members) for members in zip(*some, strict=True)))
