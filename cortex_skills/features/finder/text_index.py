"""An index of texts: by their words, and by their meaning where there is an embedder.

Rules kept here:
- a search returns the texts with words of the query and those whose vectors are similar to it, each once;
- an embedder that fails takes the meaning from a search, never the words (`meaning_index.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.meaning_index import MeaningIndex, MeaningProblem
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.word_index import WordIndex
from cortex_skills.features.finder.word_stems import stems_of

MIN_SIMILARITY = 0.3


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
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._words = WordIndex()
        self._meaning = None if embedder is None else MeaningIndex(embedder)

    def change(self, add: Iterable[tuple[int, str, float]] = (), discard: Iterable[int] = ()) -> None:
        """Add numbers, each with a text and a weight, and discard others."""
        gone, meaning = list(discard), self._meaning
        if meaning is not None:
            for number in gone:
                meaning.discard(number)
        self._words.change(self._noted(add), gone)
        if meaning is not None:
            meaning.embed_pending()

    def words_of(self, text: str) -> list[str]:
        """The indexed forms of all words of a text, each once."""
        return list(dict.fromkeys(stems_of(text)))

    def asked(self, query: str) -> QueryWords:
        """The words of a query that are searched for (`WordIndex.asked`)."""
        return self._words.asked(query)

    def search(self, query: str, min_weight: float, limit: int, min_similarity: float = MIN_SIMILARITY) -> FoundTexts:
        """The texts with words of a query, and those of a similar meaning.

        Args:
            query: the query.
            min_weight: the least weight of a text.
            limit: the maximum number of either.
            min_similarity: what a text without a word of the query needs more of.
        """
        asked, meaning = self.asked(query), self._meaning
        by_words = [number for number, _ in self._words.search(asked, min_weight, limit)]
        vector, reason = (None, "") if meaning is None else meaning.vector_of(query)
        similar = {} if meaning is None else meaning.search(vector, min_weight, limit, min_similarity)
        numbers = list(dict.fromkeys((*by_words, *similar)))
        masks = self._words.masks(asked.words, numbers)
        if meaning is not None:
            similar |= meaning.similarities(vector, [number for number in numbers if number not in similar])
        hits = tuple(
            TextHit(number, masks.get(number, 0), similar.get(number))
            for number in numbers
            if number in masks or similar.get(number, -1.0) > min_similarity
        )
        return FoundTexts(asked, hits, None if meaning is None else meaning.problem(reason, whole=vector is None))

    def _noted(self, add: Iterable[tuple[int, str, float]]) -> Iterable[tuple[int, str, float]]:
        for number, text, weight in add:
            if self._meaning is not None:
                self._meaning.add(number, text, weight)
            yield number, text, weight
