"""What a step of the cleaning takes out of a value, and what it reports about it.

Rules kept here:
- a step is a pure function from a JSON value to a JSON value and to what it removed;
- a removal holds the reason, the place and a count, never the text;
- a place is a JSON Pointer (RFC 6901); a key that is not one word is shown as its position, `(key 3)`;
- a member goes with its key, and an object or array of which nothing is left goes too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The keys and positions that lead to a value.
Path = tuple[str | int, ...]

_WORD = re.compile(r"(?=.{1,40}\Z)[-@$]?\w[\w.:-]*")


class Nothing:
    """The value of what was removed whole; JSON's null is None."""


NOTHING = Nothing()


@dataclass(frozen=True)
class Removal:
    """Something that was removed.

    Attributes:
        reason: a code such as `override`.
        path: a JSON Pointer.
        count: how many values.
    """

    reason: str
    path: str
    count: int = 1

    def to_json(self) -> dict[str, Any]:
        """The removal as a JSON object."""
        return dict(vars(self))


@dataclass(frozen=True)
class Cleaned:
    """What a step leaves of a value (`NOTHING` when nothing), and what it removed."""

    value: Any
    removals: tuple[Removal, ...]


def is_word(key: str) -> bool:
    """Whether a key is one word of at most 40 characters: letters, digits, `_`, `-`, `.` and `:`; `@id`, `$ref`, `-1`.

    >>> [key for key in ("toVerify", "foaf:name", "@id", "two words", "größe", "a" * 41, "<b>") if is_word(key)]
    ['toVerify', 'foaf:name', '@id', 'größe']
    """
    return _WORD.fullmatch(key) is not None


def key_shown(key: str, position: int) -> str:
    """What a path holds for a key."""
    return key if is_word(key) else f"(key {position})"


def pointer(path: Sequence[str | int]) -> str:
    """The JSON Pointer of a path whose keys are words or positions."""
    return "".join(f"/{key}" for key in path)


def without(value: Any, reasons: Mapping[Path, str], hidden: Collection[Path] = ()) -> Cleaned:
    """`value` without what is at some paths.

    Args:
        value: JSON types only.
        reasons: by path, why the string, array or member there is removed.
        hidden: paths of members whose key is not shown in the places of removals.
    """
    removals: list[Removal] = []

    def keep(item: Any, path: Path, shown: Path) -> Any:
        reason = reasons.get(path)
        if reason is not None:
            removals.append(Removal(reason, pointer(shown)))
            return NOTHING
        if type(item) is dict:
            members = {}
            for position, (key, member) in enumerate(item.items()):
                deeper = (*path, key)
                name = key_shown("" if deeper in hidden else key, position)
                kept = keep(member, deeper, (*shown, name))
                if kept is not NOTHING:
                    members[key] = kept
            return NOTHING if item and not members else members
        if type(item) is list:
            items = [keep(member, (*path, place), (*shown, place)) for place, member in enumerate(item)]
            left = [member for member in items if member is not NOTHING]
            return NOTHING if item and not left else left
        return item

    return Cleaned(keep(value, (), ()), tuple(removals))


def shortest_run(size: int, is_guilty: Callable[[int, int], bool]) -> range:
    """The places of a row whose parts are an instruction together, without those before and behind that are not needed.

    Args:
        size: of the row, which is one as a whole.
        is_guilty: whether the places from the first to the one before the second are an instruction. All that it is
            asked is a few times the row.
    """
    first, end = 0, size
    while end - first > 1:
        middle = (first + end) // 2
        if is_guilty(first, middle):
            end = middle
        elif is_guilty(middle, end):
            first = middle
        else:
            reach = 1
            while reach < size and not is_guilty(max(middle - reach, first), min(middle + reach, end)):
                reach *= 2
            return _trimmed(max(middle - reach, first), min(middle + reach, end), is_guilty)
    return range(first, end)


def _trimmed(first: int, end: int, is_guilty: Callable[[int, int], bool]) -> range:
    low, high = first + 1, end
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_guilty(first, middle) else (middle + 1, high)
    end, low, high = low, first, low - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_guilty(middle, end) else (low, middle - 1)
    return range(low, end)
