"""The second step: nothing that tells a model what to do.

Rules kept here:
- every string and every key is judged (`detecting`); what is an instruction is removed whole, its kind is the reason;
- keys and strings are judged together, too: in the order of the value, a line each, as words, and run together. Of an
  object or array that says an instruction only as a whole, the fewest neighbouring members that say it are removed, and
  of an array of strings all;
- a string that is exactly what the graph holds under a predicate for quotations stays, and so does nothing else;
- a path never holds the text that was removed: the place of a key stands for the key;
- bounded work: the parts are halved to find the guilty ones, and after `ROUNDS` the whole is removed.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cortex_skills.enrichment.pieces import Member, Piece, joined, members_of, runs, said
from cortex_skills.enrichment.steps import NOTHING, Cleaned, Path, Removal, pointer

if TYPE_CHECKING:
    from cortex_skills.enrichment.detecting import Screen

ROUNDS = 6


def drop_instructions(value: Any, quotations: Collection[str] = ()) -> Cleaned:
    """`value` without instructions.

    Args:
        value: JSON types only, bounded in depth and length.
        quotations: strings that stay as they are.

    """
    quotations = frozenset(quotations)
    pieces = tuple(said(value, quotations))
    if _say_nothing(pieces):
        return Cleaned(value, ())
    walk = _Walk(quotations)
    kept = walk.keep(value, (), _screen(pieces))
    if not walk.removals or not _say_nothing(tuple(said(kept, quotations))):
        kept = walk.keep_together(kept, (), ROUNDS)
    return Cleaned(kept, tuple(walk.removals))


@lru_cache(maxsize=256)
def _say_nothing(pieces: tuple[Piece, ...]) -> bool:
    """Whether no piece is an instruction, and none are together: so of most values."""
    screen = _screen(pieces)
    if screen.clears_all:
        return True
    texts = {piece for _, piece in pieces}
    return all(screen.kind(text) is None for text in texts) and all(
        screen.kind(text) is None for text in joined(pieces)
    )


@lru_cache(maxsize=1)
def _screen(pieces: tuple[Piece, ...]) -> Screen:
    """What the pieces show, for the two looks at what says something."""
    from cortex_skills.enrichment.detecting import Screen

    return Screen(runs(pieces))


class _Walk:
    """One walk over a value, and what was removed on it."""

    def __init__(self, quotations: Collection[str]) -> None:
        self.removals: list[Removal] = []
        self._quotations = quotations

    def keep(self, value: Any, path: Path, screen: Screen) -> Any:
        """What stays of `value` when each string and key is judged by itself."""
        if type(value) is str:
            kind = None if value in self._quotations else screen.kind(value)
            return value if kind is None else self._remove(kind, path)
        if type(value) is list:
            kept = [self.keep(item, (*path, place), screen) for place, item in enumerate(value)]
            left = [item for item in kept if item is not NOTHING]
            return NOTHING if value and not left else left
        if type(value) is dict:
            members = {}
            for place, (key, item) in enumerate(value.items()):
                kind = screen.kind(key)
                if kind is not None:
                    self._remove(kind, (*path, f"(key {place})"))
                    continue
                kept_item = self.keep(item, (*path, key), screen)
                if kept_item is not NOTHING:
                    members[key] = kept_item
            return NOTHING if value and not members else members
        return value

    def keep_together(self, value: Any, path: Path, rounds: int) -> Any:
        """What stays of `value` when its strings and keys are judged together."""
        if type(value) not in (dict, list) or not value or self._together(members_of(value)) is None:
            return value
        inner = [(key, self.keep_together(item, (*path, key), rounds)) for key, item in members_of(value)]
        members = [member for member in inner if member[1] is not NOTHING]
        for _ in range(rounds):
            kind = self._together(members)
            if kind is None:
                break
            if all(type(item) is str for _, item in members) and type(value) is list:
                return self._remove(f"split_{kind}", path, len(members))
            first, last = self._guilty(members)
            for key, _item in members[first:last]:
                shown = f"(key {self._place(value, key)})" if type(value) is dict else key
                self._remove(f"split_{kind}", (*path, shown))
            members = members[:first] + members[last:]
        else:
            if self._together(members) is not None:
                return self._remove("split", path, max(len(members), 1))
        if not members:
            return NOTHING
        return dict(members) if type(value) is dict else [item for _, item in members]

    def _guilty(self, members: list[Member]) -> tuple[int, int]:
        """The range of the fewest neighbours that together say an instruction, found by halving."""
        low, high = 1, len(members)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._together(members[:middle]) is not None else (middle + 1, high)
        last = low
        low, high = 0, last - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._together(members[middle:last]) is not None else (low, middle - 1)
        return low, last

    def _together(self, members: list[Member]) -> str | None:
        """The kind of instruction that members say when they are read one after the other."""
        from cortex_skills.enrichment.detecting import detect

        pieces: list[Piece] = []
        for key, item in members:
            if type(key) is str and key not in self._quotations:
                pieces.append((True, key))
            pieces += said(item, self._quotations)
        kinds = map(detect, joined(pieces))
        return next((kind for kind in kinds if kind is not None), None)

    @staticmethod
    def _place(value: dict[str, Any], key: str | int) -> int:
        return next(place for place, name in enumerate(value) if name == key)

    def _remove(self, reason: str, path: Path, count: int = 1) -> Any:
        self.removals.append(Removal(reason, pointer(path), count))
        return NOTHING
