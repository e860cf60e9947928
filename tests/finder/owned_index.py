"""An index of texts by numbers, in memory: what memories and skills are found with, without a graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.meaning_index import MeaningProblem
from cortex_skills.features.finder.owned_documents import OwnedText
from cortex_skills.features.finder.owned_texts import OwnedTexts
from cortex_skills.features.finder.polled_index import PolledIndex
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.text_meanings import MIN_SIMILARITY, TextMeanings
from cortex_skills.features.finder.word_stems import stems_of


class Hit(NamedTuple):
    number: int
    mask: int
    similarity: float | None


class Found(NamedTuple):
    asked: QueryWords
    hits: list[Hit]
    problem: MeaningProblem | None


class OwnedIndex(PolledIndex):
    """Texts by numbers; those of another owner are there too."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        super().__init__("texts")
        self._given: dict[str, OwnedText | None] = {}
        self._words: dict[str, str] = {}
        self._texts = OwnedTexts("a")
        self._meanings = None if embedder is None else TextMeanings(embedder, self._read)

    def _read(self, texts: Iterable[OwnedText]) -> list[tuple[str, str]]:
        return [(text.id, self._words[text.id]) for text in texts]

    def changes(self) -> dict[str, OwnedText | None]:
        given, self._given = self._given, {}
        return given

    def change(self, add: Iterable[tuple[int, str, float]] = (), discard: Iterable[int] = ()) -> None:
        self._given |= {f"a:{number}": None for number in discard}
        for number, text, weight in add:
            self._words[str(number)] = text
            for owner in "ab":
                self._given[f"{owner}:{number}"] = OwnedText(f"{owner}:{number}", " ".join(stems_of(text)), weight)
        if self._meanings is not None:
            self._meanings.follow(self.followed())
            self._meanings._index.embed_pending()

    def followed(self) -> OwnedTexts:
        self._texts.follow(self.view(60.0))
        return self._texts

    def asked(self, query: str) -> QueryWords:
        return self.followed().asked(query)

    def search(
        self, query: str | QueryWords, min_weight: float, limit: int, min_similarity: float = MIN_SIMILARITY
    ) -> Found:
        texts = self.followed()
        asked = texts.asked(query) if isinstance(query, str) else query
        numbers, similar, problem = texts.search(asked, min_weight, limit), {}, None
        if self._meanings is not None and isinstance(query, str):
            self._meanings.follow(texts)
            similar, problem = self._meanings.search(query, min_weight, limit, min_similarity)
            numbers = list(dict.fromkeys((*numbers, *texts.numbers_of(similar))))
        found = texts.texts(numbers).values()
        if self._meanings is not None:
            similar |= self._meanings.similarities(text.id for text in found if text.id not in similar)
        hits = [Hit(int(text.id), text.mask(asked.words), similar.get(text.id)) for text in found]
        return Found(asked, [hit for hit in hits if hit.mask or (hit.similarity or 0) > min_similarity], problem)

    def numbers(self, query: str | QueryWords, min_weight: float, limit: int) -> list[int]:
        """The numbers of the texts that are found."""
        return [hit.number for hit in self.search(query, min_weight, limit).hits]
