"""The block that a model reads, at most 4096 characters with its tags, and what of a value there is room for in it.

Rules kept here:
- the block is whole and well-formed whatever it holds, and the JSON in it can be parsed;
- what does not fit is dropped by whole members, and `"truncated": true` says so; objects within an array are records,
  which stay whole or go; an array or a scalar that is truncated becomes `{"data": ..., "truncated": true}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cortex_skills.enrichment.steps import NOTHING, Cleaned
from cortex_skills.enrichment.structure import limit_structure
from cortex_skills.escaping import json_text

BLOCK_LIMIT = 4096

OPENING = '<skill-enrichment type="data">\n'
CLOSING = "\n</skill-enrichment>"

_ROOM = BLOCK_LIMIT - len(OPENING) - len(CLOSING)
_MARK = '"truncated":true'

# What writes a value as JSON.
Writer = Callable[[Any], str]


class Fitted(NamedTuple):
    """What there is room for.

    Attributes:
        value: in the shape in which it is shown, but for what says that it is truncated; `NOTHING` when no member fits.
        text: the value as it is written.
        is_truncated: whether members were dropped, here or before.
        dropped: how many were dropped here.

    """

    value: Any
    text: str
    is_truncated: bool
    dropped: int


def fit(value: Any, is_truncated: bool, write: Writer) -> Fitted:
    """What of `value` fits into a block.

    Args:
        value: JSON types only, bounded in depth.
        is_truncated: True when members were dropped already.
        write: writes it, and any part of it.

    """
    text = write(value)
    if not is_truncated and len(text) <= _ROOM:
        return Fitted(value, text, False, 0)
    # An array that is wrapped goes one level deeper, where its innermost members may lie too deep.
    wrapped = Cleaned(value, ()) if type(value) is dict else limit_structure({"data": value})
    dropped = sum(removal.count for removal in wrapped.removals)
    if wrapped.value is NOTHING:
        return Fitted(NOTHING, "", True, dropped)
    members = {key: item for key, item in wrapped.value.items() if key != "truncated"}
    if wrapped.value is not value or len(members) != len(value):
        text = write(members)
    shortener = _Shortener(write)
    kept, _ = shortener.shortened(members, len(text), _ROOM - len(_MARK) - len(","))
    return Fitted(kept, "" if kept is NOTHING else write(kept), True, dropped + shortener.dropped)


def block(text: str, is_truncated: bool) -> str:
    """The block that shows what was written of a value that fits; of an object, when it is truncated."""
    if is_truncated:
        members = text[1:-1]
        text = f"{{{members},{_MARK}}}" if members else f"{{{_MARK}}}"
    return f"{OPENING}{text}{CLOSING}"


class _Shortener:
    """What makes a value shorter, and how many members it has dropped."""

    def __init__(self, write: Writer) -> None:
        self.dropped = 0
        self._write = write

    def shortened(self, value: Any, size: int, room: int, in_array: bool = False) -> tuple[Any, int]:
        """What of `value` there is room for, `NOTHING` when there is for nothing; and the room that it takes.

        Args:
            value: JSON types only.
            size: of what is written of it, in characters.
            room: in characters.
            in_array: whether it stands in an array.

        """
        if size <= room:
            return value, size
        if type(value) is not list and (type(value) is not dict or in_array):
            self.dropped += 1
            return NOTHING, 0
        left, whole = room - len("[]"), size - len("[]")
        members = self._members(value)
        # The longest beginning that fits as it is, looked for from the end: only members behind it are written.
        start, sizes = len(members), list[int]()
        while start and whole > left:
            start -= 1
            _, head, item = members[start]
            comma = start > 0
            sizes.append(len(self._write(item)) if comma else whole - len(head))
            whole -= comma + len(head) + sizes[-1]
        kept = [(key, item) for key, _, item in members[:start]]
        left -= whole
        for (key, head, item), item_size in zip(members[start:], reversed(sizes), strict=True):
            there = left - (len(kept) > 0) - len(head)
            part, taken = self.shortened(item, item_size, there, in_array or type(value) is list)
            if part is not NOTHING:
                kept.append((key, part))
                left = there - taken
        if not kept:
            return NOTHING, 0
        return (dict(kept) if type(value) is dict else [part for _, part in kept]), room - left

    @staticmethod
    def _members(value: dict[str, Any] | list[Any]) -> list[tuple[str, str, Any]]:
        """The members with their names, and what is written before them."""
        if isinstance(value, dict):
            return [(key, f"{json_text(key)}:", item) for key, item in value.items()]
        return [("", "", item) for item in value]
