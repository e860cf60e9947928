r"""Lines in one text, and which of them a pattern touches.

Rules kept here:
- patterns of RE2 look at bytes (UTF-8), so places are counted in bytes;
- linear: where lines end is worked out once, and only when something is found.

    >>> import re2
    >>> list(Joined(["é", "bc", "d", "e"]).found(re2.compile(r"c\nd")))
    [1, 2]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any


class Joined:
    """Lines in one text, in UTF-8, too."""

    def __init__(self, lines: list[str], between: str = "\n") -> None:
        self.lines = lines
        self.text = between.join(lines)
        self.encoded = self.text.encode()

    @cached_property
    def _ends(self) -> list[int]:
        """Where each line ends in the bytes, its line end included."""
        sizes = self.lines if self.text.isascii() else map(str.encode, self.lines)
        return list(accumulate(len(line) + 1 for line in sizes))

    def found(self, pattern: Any) -> Iterator[int]:
        """The numbers of the lines that the matches of a pattern touch."""
        if pattern.search(self.encoded):
            for match in pattern.finditer(self.encoded):
                first = bisect_right(self._ends, match.start())
                yield from range(first, bisect_left(self._ends, match.end(), first) + 1)
