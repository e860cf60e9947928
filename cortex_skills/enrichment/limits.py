"""The limits of a value that a model reads: types, depth, lengths and counts.

Rules kept here:
- null, booleans, finite numbers, strings, arrays and objects; anything else is removed, and so are integers of more
  than 256 bits;
- a value inside n arrays and objects has depth n, the whole value depth 0; nothing deeper than `DEPTH_LIMIT` is kept;
- strings are cut at 512 characters, not between a letter and its marks; arrays at 50 members; objects at 128; a member
  is removed when its key is longer than 128 characters or leads to an object's prototype;
- an object or array of which nothing is left is removed;
- bounded work on any Python value, including one that contains itself.
"""

from __future__ import annotations

import math
import unicodedata
from itertools import islice
from typing import Any

from cortex_skills.enrichment.removal import NOTHING, Cleaned, Path, Removal, key_shown, pointer
from cortex_skills.safe_io.display import whole_characters

DEPTH_LIMIT = 4
STRING_LIMIT = 512
ARRAY_LIMIT = 50
OBJECT_LIMIT = 128
KEY_LIMIT = 128
REMOVALS_LIMIT = 100

# More than fits into a block several times; what comes after it is not looked at.
VALUES_LIMIT = 4_096
CHARACTERS_LIMIT = 1 << 14

DID_NOT_FIT = "did_not_fit"

_PROTOTYPE_KEYS = frozenset({"__proto__", "constructor", "prototype"})
_INTEGER_BITS = 256
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32


def limit(value: Any) -> Cleaned:
    """`value` within the limits of depth, lengths and types."""
    limiter = _Limiter()
    kept = limiter.keep(value, ())
    unseen = [Removal(DID_NOT_FIT, "", limiter.unseen)] if limiter.unseen else []
    return Cleaned(kept, (*limiter.removals, *unseen))


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, ending before a character whose marks would be cut off."""
    if len(text) <= limit:
        return text
    for end in range(limit, max(limit - _LONGEST_CLUSTER, 0), -1):
        if not _continues(text[end]) and text[end - 1] != _JOINER:
            return text[:end]
    return text[:limit]


class _Limiter:
    """One walk over a value: what was removed, and how much more may be looked at."""

    def __init__(self) -> None:
        self.removals: list[Removal] = []
        self.unseen = 0
        self._values = VALUES_LIMIT
        self._characters = CHARACTERS_LIMIT

    def keep(self, value: Any, path: Path) -> Any:
        """What is left of the value at a path, or `NOTHING`."""
        self._values -= 1
        if self._values < 0 or self._characters < 0:
            self.unseen += 1
            return NOTHING
        kind = type(value)
        if kind is str:
            if len(value) > STRING_LIMIT or not value.isascii():
                value = self._within_limit(value, path)
            self._characters -= len(value)
            return value
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if value.bit_length() <= _INTEGER_BITS else self._remove("number_too_large", path)
        if kind is float:
            return _as_in_javascript(value) if math.isfinite(value) else self._remove("not_finite", path)
        if kind is not dict and kind is not list:
            return self._remove("not_json", path)
        if len(path) >= DEPTH_LIMIT:
            return self._remove("too_deep", path)
        kept = self._keep_members(value, path) if kind is dict else self._keep_items(value, path)
        return NOTHING if value and not kept else kept

    def _within_limit(self, text: str, path: Path) -> str:
        if len(text) <= STRING_LIMIT:
            return whole_characters(text)
        self._remove("string_too_long", path)
        return cut(whole_characters(text[: STRING_LIMIT + 2]), STRING_LIMIT)

    def _keep_items(self, items: list[Any], path: Path) -> list[Any]:
        if len(items) > ARRAY_LIMIT:
            self._remove("array_too_long", path, len(items) - ARRAY_LIMIT)
        kept = [self.keep(item, (*path, position)) for position, item in enumerate(items[:ARRAY_LIMIT])]
        return [item for item in kept if item is not NOTHING]

    def _keep_members(self, members: dict[Any, Any], path: Path) -> dict[str, Any]:
        if len(members) > OBJECT_LIMIT:
            self._remove("object_too_large", path, len(members) - OBJECT_LIMIT)
        kept: dict[str, Any] = {}
        for position, (key, value) in enumerate(islice(members.items(), OBJECT_LIMIT)):
            if type(key) is not str:
                self._remove("key_not_text", path)
                continue
            there = (*path, key_shown(key, position))
            if len(key) > KEY_LIMIT:
                self._remove("key_too_long", there)
            elif key in _PROTOTYPE_KEYS:
                self._remove("key_of_prototype", there)
            elif (item := self.keep(value, there)) is not NOTHING:
                self._characters -= len(key)
                kept[whole_characters(key)] = item
        return kept

    def _remove(self, reason: str, path: Path, count: int = 1) -> Any:
        if len(self.removals) < REMOVALS_LIMIT:
            self.removals.append(Removal(reason, pointer(path), count))
        else:
            last = self.removals[-1]
            total = count + (last.count if last.reason == "more" else 0)
            self.removals[REMOVALS_LIMIT:] = [Removal("more", "", total)]
        return NOTHING


def _as_in_javascript(value: float) -> int | float:
    """The number as JavaScript writes it: 1.0 is 1, and -0 is 0."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _continues(char: str) -> bool:
    """Whether a character is drawn as part of the one before it."""
    return char == _JOINER or unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"
