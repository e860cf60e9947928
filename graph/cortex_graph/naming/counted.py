"""`Count`: a number of things, and whether they were all counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Count:
    """A number of things; at least so many if `is_exact` is false.

    >>> Count.up_to(1_001, 1_000).text, Count(3).text
    ('1,000+', '3')
    """

    value: int
    is_exact: bool = True

    @classmethod
    def up_to(cls, counted: int, most: int) -> Count:
        """What was counted, if counting ends after `most`."""
        return cls(min(counted, most), counted <= most)

    def without(self, shown: int) -> Count:
        """How many are left after some of them."""
        return Count(max(0, self.value - shown), self.is_exact)

    def __bool__(self) -> bool:
        return self.value > 0

    @property
    def text(self) -> str:
        """The number, with a + if there may be more."""
        return f"{self.value:,}{'' if self.is_exact else '+'}"
