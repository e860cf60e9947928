"""What stands under one name in many places, and whether these are facts.

Rules kept here:
- what stands under a name in many places, and is complete in nearly all, is a column of facts: no sentence goes from
  place to place in it, nor from one record with that name to the next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from cortex_skills.enrichment.pieces import Piece, is_open
from cortex_skills.enrichment.windows import Stretch

T = TypeVar("T")

# In so many places, all but one in so many must be complete.
_MANY, _BUT_ONE_IN = 6, 8


def names_of_facts(pieces: Sequence[Piece]) -> frozenset[str]:
    """The names under which facts stand in columns."""
    values = [piece for piece in pieces if piece[0] is not None]
    often = {name for name, count in times(values).items() if count >= _MANY}
    if not often:
        return frozenset()
    return frozenset(name for name, column in columns(values).items() if name in often and _are_complete(column))


def columns(values: Iterable[tuple[str | None, T]]) -> dict[str, list[T]]:
    """What stands under names, by these."""
    found: dict[str, list[T]] = {}
    for name, value in values:
        found.setdefault(name or "", []).append(value)
    return found


def times(values: Iterable[Piece]) -> dict[str, int]:
    """How often strings begin to stand under a name, others having stood before them."""
    found: dict[str, int] = {}
    last: str | None = None
    for name, _ in values:
        if name != last:
            found[name or ""] = found.get(name or "", 0) + 1
        last = name
    return found


def _are_complete(column: list[str]) -> bool:
    """Whether nearly all strings end as what is complete does."""
    return sum(map(is_open, column)) * _BUT_ONE_IN <= len(column)


def parted(pieces: Sequence[Piece], facts: Collection[str]) -> list[Stretch]:
    """The parts of pieces, apart where a record begins: where a name of facts comes again; two or more together."""
    begins = [0]
    met: set[str | None] = set()
    last: str | None = None
    for at, (name, _) in enumerate(pieces):
        if name in facts and name != last and name in met:
            begins.append(at)
            met.clear()
        met.add(name)
        last = name
    return [(first, behind) for first, behind in pairwise([*begins, len(pieces)]) if behind - first > 1]
