"""`QueryWords`: the words of a query, and their weights.

Rules kept here:
- the weight of a word is its rarity, the inverse document frequency of BM25; the weights of a query sum up to 1, with
  those of words that no text has;
- which words a text has is a number with one bit for each, the first word the lowest.

    >>> asked = QueryWords.of(("tea", "oslo"), (9, 1), 10)
    >>> round(asked.coverage(0b01), 2), round(asked.coverage(0b10), 2), asked.coverage(0b11)
    (0.07, 0.93, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The indexed forms of the words of a query, and their weights."""

    words: tuple[str, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, words: Sequence[str], having: Sequence[int], count: int) -> QueryWords:
        """The words with their weights.

        Args:
            words: the indexed forms.
            having: how many texts have each word.
            count: how many texts there are.
        """
        rarities = [rarity(each, count) for each in having]
        total = math.fsum(rarities)
        return cls(tuple(words), tuple(rarity / total for rarity in rarities))

    def coverage(self, mask: int) -> float:
        """The weight of the words of a mask, from 0 to 1."""
        if not mask:
            return 0.0
        if mask == (1 << len(self.weights)) - 1:
            return 1.0
        return math.fsum(weight for place, weight in enumerate(self.weights) if mask >> place & 1)


def rarity(having: int, count: int) -> float:
    """How rare a word is that so many of some texts have: the inverse document frequency of BM25."""
    return math.log(1 + (max(0, count - having) + 0.5) / (having + 0.5))
