"""`TimeOrder`: numbers in the order of their times.

    >>> order = TimeOrder()
    >>> order.add([(5.0, 1), (3.0, 2), (5.0, 3)])
    >>> order.place(5.0, 3), list(order.beside(2, reach=1))
    (2, [(5.0, 1)])
    >>> order.discard([(5.0, 1)])
    >>> order.place(5.0, 3)
    1

Rules kept here:
- of equal times the lower number is first;
- one addition or removal among many costs no sorting.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator

_FEW = 100


class TimeOrder:
    """Numbers in the order of their times. Not safe for concurrent use."""

    def __init__(self) -> None:
        self._times = array("d")
        self._numbers = array("q")

    def add(self, pairs: Collection[tuple[float, int]]) -> None:
        """Add numbers with their times."""
        if len(pairs) > _FEW:
            self._replace([*zip(self._times, self._numbers, strict=True), *pairs])
            return
        for time, number in pairs:
            place = self.place(time, number)
            self._times.insert(place, time)
            self._numbers.insert(place, number)

    def discard(self, pairs: Collection[tuple[float, int]]) -> None:
        """Remove numbers, each with the time that it was added with."""
        if len(pairs) > _FEW:
            gone = set(pairs)
            self._replace([pair for pair in zip(self._times, self._numbers, strict=True) if pair not in gone])
            return
        for time, number in pairs:
            place = self.place(time, number)
            del self._times[place], self._numbers[place]

    def place(self, time: float, number: int) -> int:
        """The place of a number that was added with this time, from 0; or the one where it belongs."""
        first = bisect_left(self._times, time)
        return bisect_left(self._numbers, number, first, bisect_right(self._times, time, first))

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers(self) -> list[int]:
        """All numbers in their order."""
        return self._numbers.tolist()

    def beside(self, place: int, *, reach: int) -> Iterator[tuple[float, int]]:
        """The numbers that are at most so many places away, with their times."""
        for other in range(max(0, place - reach), min(len(self._numbers), place + reach + 1)):
            if other != place:
                yield self._times[other], self._numbers[other]

    def _replace(self, pairs: list[tuple[float, int]]) -> None:
        pairs.sort()
        self._times = array("d", [time for time, _ in pairs])
        self._numbers = array("q", [number for _, number in pairs])
