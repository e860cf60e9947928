"""The second step: nothing that tells a model what to do.

Rules kept here:
- every string and every key is judged (`detecting`); what is an instruction is removed whole, its kind is the reason;
- keys and strings are judged together, too (`neighbours`). Of an object or array that says an instruction only as a
  whole, the fewest neighbouring members that say it are removed, and of those not what stands between two that say it
  by themselves; of an array of pieces of a text all;
- a string that is exactly what the graph holds under a predicate for quotations stays, and so does nothing else;
- a path never holds the text that was removed: the place of a key stands for the key;
- bounded work: the parts are halved to find the guilty ones, and after `ROUNDS` the whole is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from cortex_skills.enrichment.neighbours import Neighbours, joined, names_of_facts
from cortex_skills.enrichment.pieces import Member, Piece, members_of, said
from cortex_skills.enrichment.steps import NOTHING, Cleaned, Path, Removal, pointer
from cortex_skills.enrichment.verdicts import Verdicts

ROUNDS = 6
_WORDS_OF_TEXT = 6
_REMEMBERED = 256


def drop_instructions(value: Any, quotations: Collection[str] = (), verdicts: Verdicts | None = None) -> Cleaned:
    """`value` without instructions.

    Args:
        value: JSON types only, bounded in depth and length.
        quotations: strings that stay as they are.
        verdicts: what is known of its texts already.

    """
    quotations = frozenset(quotations)
    verdicts = Verdicts() if verdicts is None else verdicts
    removals: list[Removal] = []
    for _ in range(ROUNDS):
        pieces = tuple(said(value, quotations))
        facts = names_of_facts(pieces)
        if _say_nothing(pieces, facts, verdicts):
            return Cleaned(value, tuple(removals))
        # What was removed may have left less than a column of facts.
        walk = _Walk(quotations, verdicts, facts)
        value = walk.cleaned(value, pieces)
        removals += walk.removals
        if value is NOTHING:
            return Cleaned(NOTHING, tuple(removals))
    return Cleaned(NOTHING, (*removals, Removal("split", "")))


# Whether some pieces say nothing, of those that were judged last.
_JUDGED: dict[tuple[Piece, ...], bool] = {}


def _say_nothing(pieces: tuple[Piece, ...], facts: Collection[str], verdicts: Verdicts) -> bool:
    """Whether none of the pieces of a value is an instruction, and none are together: so of most values."""
    found = _JUDGED.get(pieces)
    if found is None:
        neighbours = Neighbours(pieces, facts)
        found = verdicts.first([*(text for _, text in pieces), *neighbours.joined()], neighbours.runs) is None
        if len(_JUDGED) >= _REMEMBERED:
            _JUDGED.clear()
        _JUDGED[pieces] = found
    return found


def _are_pieces_of_one(members: list[Member]) -> bool:
    """Whether the members of an array are strings, so short that they are pieces of a text rather than texts."""
    if not all(type(item) is str for _, item in members):
        return False
    return sum(len(item.split()) for _, item in members) < _WORDS_OF_TEXT * len(members)


class _Walk:
    """One walk over a value, and what was removed on it."""

    def __init__(self, quotations: Collection[str], verdicts: Verdicts, facts: Collection[str]) -> None:
        self.removals: list[Removal] = []
        self._quotations, self._verdicts, self._facts = quotations, verdicts, facts

    def cleaned(self, value: Any, pieces: Iterable[Piece]) -> Any:
        """What stays of a value with these pieces."""
        self._verdicts.look_at(text for _, text in pieces)
        return self.keep_together(self.keep(value, ()), (), ROUNDS)

    def keep(self, value: Any, path: Path) -> Any:
        """What stays of `value` when each string and key is judged by itself."""
        if type(value) is str:
            kind = None if value in self._quotations else self._verdicts.kind(value)
            return value if kind is None else self._remove(kind, path)
        if type(value) is list:
            kept = [self.keep(item, (*path, place)) for place, item in enumerate(value)]
            left = [item for item in kept if item is not NOTHING]
            return NOTHING if value and not left else left
        if type(value) is dict:
            members = {}
            for place, (key, item) in enumerate(value.items()):
                kind = self._verdicts.kind(key)
                if kind is not None:
                    self._remove(kind, (*path, f"(key {place})"))
                    continue
                kept_item = self.keep(item, (*path, key))
                if kept_item is not NOTHING:
                    members[key] = kept_item
            return NOTHING if value and not members else members
        return value

    def keep_together(self, value: Any, path: Path, rounds: int) -> Any:
        """What stays of `value` when its strings and keys are judged together."""
        if type(value) not in (dict, list) or not value:
            return value
        if self._together(map(self._said, members_of(value))) is None:
            return value
        inner = [(key, self.keep_together(item, (*path, key), rounds)) for key, item in members_of(value)]
        members = [member for member in inner if member[1] is not NOTHING]
        pieces = list(map(self._said, members))
        for _ in range(rounds):
            kind = self._together(pieces)
            if kind is None:
                break
            if type(value) is list and _are_pieces_of_one(members):
                return self._remove(f"split_{kind}", path, len(members))
            guilty = self._guilty(pieces)
            for place in guilty:
                key = members[place][0]
                shown = f"(key {self._place(value, key)})" if type(value) is dict else key
                self._remove(f"split_{kind}", (*path, shown))
            for place in reversed(guilty):
                del members[place], pieces[place]
        else:
            if self._together(pieces) is not None:
                return self._remove("split", path, max(len(members), 1))
        if not members:
            return NOTHING
        return dict(members) if type(value) is dict else [item for _, item in members]

    def _guilty(self, pieces: list[list[Piece]]) -> Sequence[int]:
        """The places of the fewest neighbours that together say an instruction, found by halving.

        Of those, what stands between the first and the last is none of it when these two say one by themselves.
        """
        low, high = 1, len(pieces)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._together(pieces[:middle]) is not None else (middle + 1, high)
        last = low
        low, high = 0, last - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._together(pieces[middle:last]) is not None else (low, middle - 1)
        if last - low > 2 and self._together((pieces[low], pieces[last - 1])) is not None:
            return low, last - 1
        return range(low, last)

    def _said(self, member: Member) -> list[Piece]:
        """The key of a member, if it has one, and all that stands in it."""
        key, item = member
        if type(key) is not str:
            return said(item, self._quotations)
        pieces = said(item, self._quotations, key)
        return pieces if key in self._quotations else [(None, key), *pieces]

    def _together(self, pieces: Iterable[list[Piece]]) -> str | None:
        """The kind of instruction that members say when their pieces are read one after the other."""
        return self._verdicts.first(joined(list(chain.from_iterable(pieces)), self._facts))

    @staticmethod
    def _place(value: dict[str, Any], key: str | int) -> int:
        return next(place for place, name in enumerate(value) if name == key)

    def _remove(self, reason: str, path: Path, count: int = 1) -> Any:
        self.removals.append(Removal(reason, pointer(path), count))
        return NOTHING
