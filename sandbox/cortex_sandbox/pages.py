"""What the system is told of the pages of a guest's memory.

Rules kept here:
- Linux alone is told, and only what makes a page come sooner or smaller, never what is in it;
- what a system does not know or does not want, it leaves: nothing depends on its answer.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterable, Mapping, Sequence

# A page that will be written to is copied from the image now: many in one go, in place of a fault for each.
_POPULATE_WRITE = 23  # since Linux 5.14; the standard library has no name for it
# To tell the system of one more range costs about as much as to copy so many pages that lie between; and some of those
# are written to in a way that leaves no trace, a count up and down again.
JOINED = 3

if sys.platform == "linux":
    # Kept by the interpreter's lock: it is a matter of microseconds, and to get the lock back can take far longer.
    _madvise = ctypes.PyDLL(None).madvise
    _madvise.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)

    def refuse_huge_pages(address: int, size: int) -> None:
        """Never back this memory by huge pages: a guest that needs a little shall not be given 2 MiB."""
        _madvise(address, size, mmap.MADV_NOHUGEPAGE)

    def bring(address: int, ranges: Iterable[tuple[int, int]]) -> None:
        """Have these pages ready to be written to.

        Args:
            address: where the memory lies.
            ranges: the pages in it, as (offset, size) in bytes, both multiples of the system's page.

        """
        for offset, size in ranges:
            _madvise(address + offset, size, _POPULATE_WRITE)

else:

    def refuse_huge_pages(address: int, size: int) -> None:
        """Other systems are told nothing."""

    def bring(address: int, ranges: Iterable[tuple[int, int]]) -> None:
        """Other systems are told nothing."""


def differing(before: bytes, after: bytes, *, joined: int = JOINED, page: int = mmap.PAGESIZE) -> list[tuple[int, int]]:
    """Which pages of two states of a memory differ, as `bring` takes them; near ones are joined.

    Args:
        before: whole pages.
        after: as much or more; what is beyond is not looked at.
        joined: over how many pages that do not differ.
        page: the size of one, in bytes.

    """
    ranges: list[tuple[int, int]] = []
    for at in range(0, len(before), page):
        if before[at : at + page] == after[at : at + page]:
            continue
        start = at
        if ranges and at - sum(ranges[-1]) <= joined * page:
            start, _ = ranges.pop()
        ranges.append((start, at + page - start))
    return ranges


def as_constants(ranges: Sequence[Sequence[int]]) -> dict[str, int]:
    """Ranges of pages as constants that a module can export; `from_constants` reads them."""
    constants = {"written": len(ranges)}
    for i, (offset, size) in enumerate(ranges):
        constants |= {f"written {i}": offset, f"written {i} bytes": size}
    return constants


def from_constants(constants: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
    """What `as_constants` was given."""
    return tuple((constants[f"written {i}"], constants[f"written {i} bytes"]) for i in range(constants["written"]))
