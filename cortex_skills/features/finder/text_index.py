"""An index of texts: by their words, and by their meaning where there is an embedder.

Rules kept here:
- a search returns the texts with words of the query and those whose vectors are similar to it, each once;
- an embedder that fails takes the meaning from a search, never the words; the result states the problem. What could
  not be embedded is tried again at a later search;
- vectors that have another dimension than the first one are a failure of the embedder.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex_skills.features.finder.embedders import Embedder, EmbedderError, Vectors
from cortex_skills.features.finder.word_index import WordIndex

if TYPE_CHECKING:
    from cortex_skills.features.finder.vector_index import VectorIndex

log = logging.getLogger(__name__)

MIN_SIMILARITY = 0.3
QUERY_TIMEOUT_S = 3.0
BATCH_TIMEOUT_S = 20.0
_BATCH = 512


@dataclass(frozen=True, slots=True)
class TextHit:
    """A text that was found.

    Attributes:
        number: of the text.
        bm25: the score of its words; 0 without a word of the query.
        similarity: the cosine of the meanings, -1 to 1; 0 without vectors.
    """

    number: int
    bm25: float
    similarity: float


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


@dataclass(frozen=True, slots=True)
class FoundTexts:
    """The result of a search.

    Attributes:
        words: the indexed forms of the words of the query.
        hits: the texts, those with the best words first.
        problem: why meaning was not used, or not for all texts; None if it was, or if there is no embedder.
    """

    words: tuple[str, ...]
    hits: tuple[TextHit, ...]
    problem: MeaningProblem | None = None


class TextIndex:
    """Finds numbers by the texts that were added with them. Not safe for concurrent use.

    Args:
        embedder: makes the vectors; None for words alone.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder
        self._words = WordIndex()
        self._vectors: VectorIndex | None = None
        self._pending: dict[int, tuple[str, float]] = {}  # not embedded yet

    def change(self, add: Iterable[tuple[int, str, float]] = (), discard: Iterable[int] = ()) -> None:
        """Add numbers, each with a text and a weight, and discard others."""
        gone = list(discard)
        for number in gone:
            self._pending.pop(number, None)
            if self._vectors is not None:
                self._vectors.discard(number)
        self._words.change(self._noted(add), gone)
        self._embed_pending()

    def words_of(self, text: str) -> list[str]:
        """The indexed forms of the words of a text (`WordIndex.words_of`)."""
        return self._words.words_of(text)

    def search(self, query: str, min_weight: float, limit: int, min_similarity: float = MIN_SIMILARITY) -> FoundTexts:
        """The texts with words of a query, and those of a similar meaning.

        Args:
            query: the query.
            min_weight: the least weight of a text.
            limit: the maximum number of either.
            min_similarity: what a text without a word of the query needs more of.
        """
        words = self._words.words_of(query)
        by_words = dict(self._words.search(words, min_weight, limit))
        vector, reason = self._vector_of(query)
        similar: dict[int, float] = {}
        if vector is not None and self._vectors is not None:
            near = self._vectors.search(vector, min_weight, limit)
            similar = {number: value for number, value in near if value > min_similarity}
            similar |= self._vectors.similarities(vector, [number for number in by_words if number not in similar])
        numbers = dict.fromkeys((*by_words, *similar))
        hits = tuple(TextHit(number, by_words.get(number, 0.0), similar.get(number, 0.0)) for number in numbers)
        return FoundTexts(tuple(words), hits, self._problem(reason, whole=vector is None))

    def _noted(self, add: Iterable[tuple[int, str, float]]) -> Iterable[tuple[int, str, float]]:
        for number, text, weight in add:
            if self.embedder is not None:
                self._pending[number] = (text, weight)
            yield number, text, weight

    def _problem(self, reason: str, *, whole: bool) -> MeaningProblem | None:
        if not reason:
            return None
        some = f"{len(self._pending)} texts have no vector yet, and are found by words alone"
        return MeaningProblem("found by words alone" if whole else some, reason)

    def _vector_of(self, query: str) -> tuple[Vectors | None, str]:
        """The vector of a query, and what is wrong with the vectors."""
        if self.embedder is None:
            return None, ""
        problem = self._embed_pending()
        if problem and self._vectors is None:
            return None, problem
        try:
            vector = self.embedder.embed([query], QUERY_TIMEOUT_S)[0]
        except EmbedderError as error:
            log.warning("a query is answered by words alone: %s", error)
            return None, str(error)
        if self._vectors is not None and len(vector) != self._vectors.dimension:
            return None, f"the embedder answers with {len(vector)} dimensions, and had {self._vectors.dimension} before"
        return vector, problem

    def _embed_pending(self) -> str:
        """Embed the texts that have no vector yet; returns the problem that stopped it, or nothing."""
        if self.embedder is None or not self._pending:
            return ""
        from cortex_skills.features.finder.vector_index import VectorIndex

        while self._pending:
            batch = list(self._pending.items())[:_BATCH]
            try:
                rows = self.embedder.embed([text for _, (text, _) in batch], BATCH_TIMEOUT_S)
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
