"""`TextMeanings`: the meanings of the texts of an owner, by their ids.

Rules kept here:
- the vectors are in memory, made at the first search; later what changed has new ones;
- an embedder that fails takes the meaning from a search, never the words (`meaning_index.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from cortex_skills.features.finder.embedders import Embedder, Vectors
from cortex_skills.features.finder.meaning_index import MeaningIndex, MeaningProblem
from cortex_skills.features.finder.owned_documents import OwnedText
from cortex_skills.features.finder.owned_texts import OwnedTexts

MIN_SIMILARITY = 0.3


@dataclass(frozen=True, slots=True)
class _Known:
    """A text with a vector: its number, and what it was made of."""

    number: int
    stems: int  # a hash
    weight: float


class TextMeanings:
    """The meanings of texts. Not safe for concurrent use.

    Args:
        embedder: makes the vectors.
        read: returns the words of some texts, each with its id.
    """

    def __init__(self, embedder: Embedder, read: Callable[[Collection[OwnedText]], Iterable[tuple[str, str]]]) -> None:
        self._index = MeaningIndex(embedder)
        self._read = read
        self._known: dict[str, _Known] = {}
        self._ids: dict[int, str] = {}
        self._next = 0
        self._vector: Vectors | None = None
        self._state: tuple[int, int] | None = None

    def follow(self, texts: OwnedTexts) -> None:
        """Have a vector of each text, and of no other."""
        if texts.state == self._state:
            return
        new: dict[str, OwnedText] = {}
        if self._state is None or texts.state[0] != self._state[0]:
            there = set()
            for text in texts.every():
                there.add(text.id)
                self._note(text, new)
            gone: Iterable[str] = self._known.keys() - there
        else:
            for changed in texts.changed.values():
                if changed is not None:
                    self._note(changed, new)
            gone = {key.rpartition(":")[2] for key, text in texts.changed.items() if text is None}
        for identifier in gone:
            self._discard(identifier)
        for identifier, words in self._read(new.values()) if new else ():
            self._add(new[identifier], words)
        self._state = texts.state

    def _note(self, text: OwnedText, new: dict[str, OwnedText]) -> None:
        known = self._known.get(text.id)
        if known is None or (known.stems, known.weight) != (hash(text.stems), text.weight):
            new[text.id] = text

    def _add(self, text: OwnedText, words: str) -> None:
        self._discard(text.id)
        self._known[text.id], self._ids[self._next] = _Known(self._next, hash(text.stems), text.weight), text.id
        self._index.add(self._next, words, text.weight)
        self._next += 1

    def _discard(self, identifier: str) -> None:
        known = self._known.pop(identifier, None)
        if known is not None:
            del self._ids[known.number]
            self._index.discard(known.number)

    def search(
        self, query: str, min_weight: float, limit: int, min_similarity: float = MIN_SIMILARITY
    ) -> tuple[dict[str, float], MeaningProblem | None]:
        """The ids of the texts with the most similar meanings, best first, and why meaning was not used."""
        self._vector, reason = self._index.vector_of(query)
        found = self._index.search(self._vector, min_weight, limit, min_similarity)
        problem = self._index.problem(reason, whole=self._vector is None)
        return {self._ids[number]: value for number, value in found.items()}, problem

    def similarities(self, identifiers: Iterable[str]) -> dict[str, float]:
        """The similarity of each of some texts to the last query."""
        numbers = [self._known[each].number for each in identifiers if each in self._known]
        found = self._index.similarities(self._vector, numbers)
        return {self._ids[number]: value for number, value in found.items()}
