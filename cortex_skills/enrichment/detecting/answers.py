"""What the reader tells of a document that it was asked about, as `reader/document.c` writes it.

Rules kept here:
- the layout is that of `reader/document.c`, little-endian as WebAssembly is; no text is decoded before it is asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

# Sizes; for rows as they are written, rows as they look, and views, three numbers each.
_HEAD = struct.Struct("<12I")
_NUMBER = struct.Struct("<I")
_PAIR = struct.Struct("<2I")
_PLACE = struct.Struct("<HHIII")


class Place(NamedTuple):
    """Where a pattern may stand.

    Attributes:
        pattern: its number.
        is_sure: whether it does.
        number: that of the text.
        start, size: the line, in bytes of all texts.

    """

    pattern: int
    is_sure: int
    number: int
    start: int
    size: int


class Told(NamedTuple):
    """What may stand in some texts by its form.

    Attributes:
        places: where which patterns may stand, but for those of the lesser signs.
        ends: where each text ends in all of them.
        texts: the texts, folded, in UTF-8, a line end between them; nothing when nobody needs them.

    """

    places: Sequence[Place]
    ends: Sequence[int]
    texts: bytes


_NOTHING = Told((), (), b"")


class Found(NamedTuple):
    """What was seen of a document.

    Attributes:
        says: for each part, the bits of `shapes` of what says an instruction by its words, or may.
        written, seen: the rows as they are written, with places in those alone that look otherwise, and as they look.
        hidden: the parts without the disguises that they show.
        owners: for each of `hidden`, the number of the part, and the disguise.

    """

    says: Sequence[int]
    written: Told
    seen: Told
    hidden: Told
    owners: list[tuple[int, int]]


def unpacked(told: bytes) -> Found:
    """What was told, of the bytes that the reader has written."""
    _, count, views, *sizes = _HEAD.unpack_from(told)
    left = _Left(told, _HEAD.size)
    says = left.numbers(count)
    if not any((views, *sizes)):
        return Found(says, _NOTHING, _NOTHING, _NOTHING, [])
    owners = list(_PAIR.iter_unpack(left.take(views * _PAIR.size)))
    places, ends, texts = (sizes[first::3] for first in range(3))
    of_patterns = [list(map(Place._make, _PLACE.iter_unpack(left.take(some * _PLACE.size)))) for some in places]
    of_ends = list(map(left.numbers, ends))
    of_texts = list(map(left.take, texts))
    written, seen, hidden = map(Told, of_patterns, of_ends, of_texts)
    return Found(says, written, seen, hidden, owners)


class _Left:
    """What is left to be read of bytes."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        return self._data[start : self._at]

    def numbers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}I", self.take(count * _NUMBER.size))
