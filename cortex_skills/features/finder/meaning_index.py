"""An index of texts by their meaning: vectors of an embedder, which may fail.

Rules kept here:
- an embedder that fails takes the meaning from a search, never the words; the result states the problem. What could
  not be embedded is tried again at a later search;
- vectors that have another dimension than the first one are a failure of the embedder.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex_skills.features.finder.embedders import Embedder, EmbedderError, Vectors

if TYPE_CHECKING:
    from cortex_skills.features.finder.vector_index import VectorIndex

log = logging.getLogger(__name__)

QUERY_TIMEOUT_S = 3.0
BATCH_TIMEOUT_S = 20.0
_BATCH = 512


@dataclass(frozen=True, slots=True)
class MeaningProblem:
    """Why meaning was not used in a search, although there is an embedder. Its text is for people.

    Attributes:
        effect: what it means for the result.
        reason: the message of the embedder. It may quote a server, so it is not for models.
    """

    effect: str
    reason: str

    def __str__(self) -> str:
        return f"{self.effect}: {self.reason}"

    @property
    def for_model(self) -> str:
        """The problem without words of a server."""
        return f"{self.effect}: the embedder failed"


class MeaningIndex:
    """Finds numbers by the meanings of the texts that were added with them. Not safe for concurrent use.

    Args:
        embedder: makes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: VectorIndex | None = None
        self._pending: dict[int, tuple[str, float]] = {}  # not embedded yet

    def add(self, number: int, text: str, weight: float) -> None:
        """Add a number with a text and a weight; it is embedded with others."""
        self._pending[number] = (text, weight)

    def discard(self, number: int) -> None:
        """Remove a number."""
        self._pending.pop(number, None)
        if self._vectors is not None:
            self._vectors.discard(number)

    def vector_of(self, query: str) -> tuple[Vectors | None, str]:
        """The vector of a query, and what is wrong with the vectors; None if they cannot be used."""
        problem = self.embed_pending()
        if problem and self._vectors is None:
            return None, problem
        try:
            vector = self._embedder.embed([query], QUERY_TIMEOUT_S)[0]
        except EmbedderError as error:
            log.warning("a query is answered by words alone: %s", error)
            return None, str(error)
        if self._vectors is not None and len(vector) != self._vectors.dimension:
            return None, f"the embedder answers with {len(vector)} dimensions, and had {self._vectors.dimension} before"
        return vector, problem

    def search(self, vector: Vectors | None, min_weight: float, limit: int, min_similarity: float) -> dict[int, float]:
        """The numbers whose texts are most similar, with their similarities, best first."""
        if vector is None or self._vectors is None:
            return {}
        found = self._vectors.search(vector, min_weight, limit)
        return {number: value for number, value in found if value > min_similarity}

    def similarities(self, vector: Vectors | None, numbers: Collection[int]) -> dict[int, float]:
        """The similarity of each of some numbers that have a vector."""
        if vector is None or self._vectors is None:
            return {}
        return self._vectors.similarities(vector, list(numbers))

    def problem(self, reason: str, *, whole: bool) -> MeaningProblem | None:
        """Why meaning was not used, or not for all texts."""
        if not reason:
            return None
        some = f"{len(self._pending)} texts have no vector yet, and are found by words alone"
        return MeaningProblem("found by words alone" if whole else some, reason)

    def embed_pending(self) -> str:
        """Embed the texts that have no vector yet; returns the problem that stopped it, or nothing."""
        if not self._pending:
            return ""
        from cortex_skills.features.finder.vector_index import VectorIndex

        while self._pending:
            batch = list(self._pending.items())[:_BATCH]
            try:
                rows = self._embedder.embed([text for _, (text, _) in batch], BATCH_TIMEOUT_S)
            except EmbedderError as error:
                log.warning("%d texts are found by their words only: %s", len(self._pending), error)
                return str(error)
            if self._vectors is None:
                self._vectors = VectorIndex(rows.shape[1])
            if rows.shape[1] != self._vectors.dimension:
                return f"the embedder answers with {rows.shape[1]} dimensions, and had {self._vectors.dimension} before"
            for (number, (_, weight)), row in zip(batch, rows, strict=True):
                self._vectors.discard(number)
                self._vectors.add(number, row, weight)
                del self._pending[number]
        return ""
