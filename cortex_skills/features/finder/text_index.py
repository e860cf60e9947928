"""An index of texts: by their words, and by their meaning where there is an embedder.

Rules kept here:
- a search returns the texts with words of the query and those whose vectors are similar to it, each once;
- of the best ones a caller may name others that are near them: those with a word of the query, or similar to it, are
  returned too, however many have more words;
- an embedder that fails takes the meaning from a search, never the words; the result states the problem. What could
  not be embedded is tried again at a later search;
- vectors that have another dimension than the first one are a failure of the embedder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex_skills.features.finder.embedders import Embedder, EmbedderError, Vectors
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.word_index import SharedWords, WordIndex

if TYPE_CHECKING:
    from cortex_skills.features.finder.vector_index import VectorIndex

log = logging.getLogger(__name__)

MIN_SIMILARITY = 0.3
NEAR = 20  # hits of either kind, beside which others are looked for
QUERY_TIMEOUT_S = 3.0
BATCH_TIMEOUT_S = 20.0
_BATCH = 512


@dataclass(frozen=True, slots=True)
class TextHit:
    """A text that was found.

    Attributes:
        number: of the text.
        mask: the words of the query that it has (`QueryWords`).
        similarity: the cosine of the meanings, -1 to 1; None where they are not compared.
    """

    number: int
    mask: int
    similarity: float | None


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
        asked: the words of the query.
        hits: the texts, those with the best words first.
        problem: why meaning was not used, or not for all texts; None if it was, or if there is no embedder.
    """

    asked: QueryWords
    hits: tuple[TextHit, ...]
    problem: MeaningProblem | None = None


class TextIndex:
    """Finds numbers by the texts that were added with them. Not safe for concurrent use.

    Args:
        embedder: makes the vectors; None for words alone.
        shared: the words that it shares with other indexes; without it, it shares none.
    """

    def __init__(self, embedder: Embedder | None = None, shared: SharedWords | None = None) -> None:
        self.embedder = embedder
        self._words = WordIndex(shared)
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
        """The indexed forms of all words of a text (`WordIndex.words_of`)."""
        return self._words.words_of(text)

    def asked(self, query: str) -> QueryWords:
        """The words of a query that are searched for (`WordIndex.asked`)."""
        return self._words.asked(query)

    def search(
        self,
        query: str,
        min_weight: float,
        limit: int,
        min_similarity: float = MIN_SIMILARITY,
        near: Callable[[Collection[int]], Iterable[int]] = lambda _: (),
    ) -> FoundTexts:
        """The texts with words of a query, and those of a similar meaning.

        Args:
            query: the query.
            min_weight: the least weight of a text.
            limit: the maximum number of either.
            min_similarity: what a text without a word of the query needs more of.
            near: what may be returned beside the best `NEAR` of either.
        """
        asked = self.asked(query)
        by_words = [number for number, _ in self._words.search(asked, min_weight, limit)]
        vector, reason = self._vector_of(query)
        vectors = self._vectors
        similar: dict[int, float] = {}
        if vector is not None and vectors is not None:
            by_meaning = vectors.search(vector, min_weight, limit)
            similar = {number: value for number, value in by_meaning if value > min_similarity}
        beside = near({*by_words[:NEAR], *list(similar)[:NEAR]})
        numbers = list(dict.fromkeys((*by_words, *similar, *beside)))
        masks = self._words.masks(asked.words, numbers)
        if vector is not None and vectors is not None:
            similar |= vectors.similarities(vector, [number for number in numbers if number not in similar])
        hits = tuple(
            TextHit(number, masks.get(number, 0), similar.get(number))
            for number in numbers
            if number in masks or similar.get(number, -1.0) > min_similarity
        )
        return FoundTexts(asked, hits, self._problem(reason, whole=vector is None))

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
