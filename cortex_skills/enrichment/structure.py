"""The first step: the shape of what a model may read.

Rules kept here:
- null, booleans, finite numbers, strings, arrays and objects; anything else is removed, and so are integers of more
  than 256 bits;
- a value inside n arrays and objects has depth n, the whole being 0; nothing deeper than `DEPTH_LIMIT` stays, so at
  most that many arrays and objects stand in one another;
- strings are cut at 512 characters, not between a letter and its marks; arrays at 50 members; objects at 128; a member
  whose name is longer than 128 characters, or leads to an object's prototype, is removed;
- what holds nothing after its members were removed is removed with them;
- bounded work on any Python value, also one that contains itself.
"""

from __future__ import annotations

import math
import unicodedata
from itertools import islice
from typing import Any

from cortex_skills.enrichment.steps import NOTHING, Cleaned, Removal, pointer
from cortex_skills.escaping import whole_characters

DEPTH_LIMIT = 4
STRING_LIMIT = 512
ARRAY_LIMIT = 50
OBJECT_LIMIT = 128
KEY_LIMIT = 128
REMOVALS_LIMIT = 100

# Far more than fits into what a model is shown; what lies beyond cannot be shown either.
VALUES_LIMIT = 4_096
CHARACTERS_LIMIT = 1 << 14

DID_NOT_FIT = "did_not_fit"

_PROTOTYPE_KEYS = frozenset({"__proto__", "constructor", "prototype"})
_INTEGER_BITS = 256
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32


def limit_structure(value: Any) -> Cleaned:
    """`value` within the limits of depth, lengths and types."""
    limiter = _Limiter()
    kept = limiter.keep(value)
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
        self._path: list[str | int] = []
        self._values = VALUES_LIMIT
        self._characters = CHARACTERS_LIMIT

    def keep(self, value: Any) -> Any:
        """What stays of `value`, or `NOTHING`."""
        self._values -= 1
        if self._values < 0 or self._characters < 0:
            self.unseen += 1
            return NOTHING
        kind = type(value)
        if kind is str:
            if len(value) > STRING_LIMIT or not value.isascii():
                value = self._within_limit(value)
            self._characters -= len(value)
            return value
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if value.bit_length() <= _INTEGER_BITS else self._remove("number_too_large")
        if kind is float:
            return self._keep_float(value)
        if kind is not dict and kind is not list:
            return self._remove("not_json")
        if len(self._path) >= DEPTH_LIMIT:
            return self._remove("too_deep")
        kept = self._keep_members(value) if kind is dict else self._keep_items(value)
        return NOTHING if value and not kept else kept

    def _keep_float(self, value: float) -> Any:
        if not math.isfinite(value):
            return self._remove("not_finite")
        # JavaScript has one kind of number: 1.0 is 1, and -0 is 0.
        return int(value) if value.is_integer() and abs(value) < 2**53 else value

    def _within_limit(self, text: str) -> str:
        if len(text) <= STRING_LIMIT:
            return whole_characters(text)
        self._remove("string_too_long")
        return cut(whole_characters(text[: STRING_LIMIT + 2]), STRING_LIMIT)

    def _keep_items(self, items: list[Any]) -> list[Any]:
        if len(items) > ARRAY_LIMIT:
            self._remove("array_too_long", len(items) - ARRAY_LIMIT)
        kept = []
        for place, value in enumerate(items[:ARRAY_LIMIT]):
            self._path.append(place)
            if (item := self.keep(value)) is not NOTHING:
                kept.append(item)
            self._path.pop()
        return kept

    def _keep_members(self, members: dict[Any, Any]) -> dict[str, Any]:
        if len(members) > OBJECT_LIMIT:
            self._remove("object_too_large", len(members) - OBJECT_LIMIT)
        kept: dict[str, Any] = {}
        for key, value in islice(members.items(), OBJECT_LIMIT):
            if type(key) is not str:
                self._remove("key_not_text")
                continue
            self._path.append(key)
            if len(key) > KEY_LIMIT:
                self._remove("key_too_long")
            elif key in _PROTOTYPE_KEYS:
                self._remove("key_of_prototype")
            elif (item := self.keep(value)) is not NOTHING:
                self._characters -= len(key)
                kept[whole_characters(key)] = item
            self._path.pop()
        return kept

    def _remove(self, reason: str, count: int = 1) -> Any:
        if len(self.removals) < REMOVALS_LIMIT:
            self.removals.append(Removal(reason, pointer(self._path), count))
        else:
            last = self.removals[-1]
            total = count + (last.count if last.reason == "more" else 0)
            self.removals[REMOVALS_LIMIT:] = [Removal("more", "", total)]
        return NOTHING


def _continues(char: str) -> bool:
    """True for a character that is drawn as part of the one before it."""
    return char == _JOINER or unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"
