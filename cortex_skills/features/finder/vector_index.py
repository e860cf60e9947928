"""Vectors in memory, and the ones nearest to another.

Rules kept here:
- similarity is the cosine; all vectors have length 1, and are kept as 16-bit fixed-point numbers, which are converted
  faster than 16-bit floats and are as exact;
- few vectors are all compared. Of many, the signs of their numbers are compared first (one bit each, Hamming distance),
  and the nearest `SHORTLIST` then exactly, so that 100,000 take a few milliseconds;
- signs are those of the difference to the mean of the first `FEW` vectors: texts of one subject have vectors of one
  direction, whose own signs are nearly the same;
- what was added is found at once; the result does not depend on time or chance.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from cortex_skills.features.finder.embedders import Vectors

FEW = 2048
SHORTLIST = 1024
_FIRST = 64
_SCALE = 32_767


class VectorIndex:
    """Finds numbers by the vectors that were added with them. Not safe for concurrent use.

    Args:
        dimension: of each vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._rows: dict[int, int] = {}
        self._numbers = np.zeros(_FIRST, dtype=np.int64)
        self._weights = np.zeros(_FIRST, dtype=np.float32)
        self._vectors = np.zeros((_FIRST, dimension), dtype=np.int16)
        self._signs = np.zeros((-(-dimension // 64), _FIRST), dtype=np.uint64)
        self._mean: Vectors | None = None  # None while all are compared

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, number: int, vector: Vectors, weight: float) -> None:
        """Add a number that is not in the index."""
        row = len(self._rows)
        if row == len(self._numbers):
            self._grow()
        self._rows[number] = row
        self._numbers[row], self._weights[row] = number, weight
        self._vectors[row] = np.rint(np.clip(vector, -1, 1) * _SCALE)
        if self._mean is not None:
            self._signs[:, row] = _signs(vector - self._mean)
        elif row == FEW:
            self._begin_signs()

    def discard(self, number: int) -> None:
        """Remove a number; nothing happens when it is not in the index."""
        row = self._rows.pop(number, None)
        if row is None:
            return
        last = len(self._rows)
        if row != last:
            moved = int(self._numbers[last])
            self._numbers[row], self._weights[row], self._vectors[row] = moved, self._weights[last], self._vectors[last]
            self._signs[:, row] = self._signs[:, last]
            self._rows[moved] = row

    def similarities(self, vector: Vectors, numbers: list[int]) -> dict[int, float]:
        """The similarity of each of some numbers that are in the index."""
        rows = [(number, self._rows[number]) for number in numbers if number in self._rows]
        if not rows:
            return {}
        values = self._exact(vector, np.array([row for _, row in rows]))
        return {number: float(value) for (number, _), value in zip(rows, values, strict=True)}

    def search(self, vector: Vectors, min_weight: float, limit: int) -> list[tuple[int, float]]:
        """The numbers with at least a weight that are most similar, best first; equal ones in the order of numbers."""
        count = len(self._rows)
        if count > FEW and self._mean is not None:
            rows = self._shortlist(vector - self._mean, min_weight)
        else:
            rows = self._of_weight(min_weight)
        values = self._exact(vector, rows)
        order = np.lexsort((self._numbers[rows], -values))[:limit]
        return [(int(self._numbers[rows[place]]), float(values[place])) for place in order]

    def _begin_signs(self) -> None:
        vectors = self._vectors[: len(self._rows)].astype(np.float32) / np.float32(_SCALE)
        self._mean = np.asarray(vectors.mean(axis=0), dtype=np.float32)
        for row, vector in enumerate(vectors):
            self._signs[:, row] = _signs(vector - self._mean)

    def _of_weight(self, min_weight: float) -> NDArray[np.intp]:
        return np.flatnonzero(self._weights[: len(self._rows)] >= min_weight)

    def _shortlist(self, vector: Vectors, min_weight: float) -> NDArray[np.intp]:
        """The rows with at least a weight whose signs are nearest: `SHORTLIST` of them, and those that are as near.

        Args:
            vector: the difference to the mean.
            min_weight: the least weight.
        """
        count = len(self._rows)
        distances = np.zeros(count, dtype=np.uint16)
        for signs, of_query in zip(self._signs, _signs(vector), strict=True):
            distances += np.bitwise_count(signs[:count] ^ of_query)
        far = 64 * len(self._signs) + 1
        distances[self._weights[:count] < min_weight] = far
        # There are few distances: a search for the limit is faster than a partition of the rows.
        limit = bisect_left(range(far - 1), SHORTLIST, key=lambda most: int(np.count_nonzero(distances <= most)))
        return np.flatnonzero(distances <= limit)

    def _exact(self, vector: Vectors, rows: NDArray[np.intp]) -> Vectors:
        scaled = np.asarray(vector, dtype=np.float32) / np.float32(_SCALE)
        return np.asarray(self._vectors[rows].astype(np.float32) @ scaled, dtype=np.float32)

    def _grow(self) -> None:
        more = len(self._numbers)
        self._numbers = np.concatenate([self._numbers, np.zeros(more, dtype=np.int64)])
        self._weights = np.concatenate([self._weights, np.zeros(more, dtype=np.float32)])
        self._vectors = np.concatenate([self._vectors, np.zeros((more, self.dimension), dtype=np.int16)])
        self._signs = np.concatenate([self._signs, np.zeros((len(self._signs), more), dtype=np.uint64)], axis=1)


def _signs(vector: Vectors) -> NDArray[np.uint64]:
    """One bit for each number of a vector: whether it is positive."""
    packed = np.packbits(vector > 0)
    return np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)
