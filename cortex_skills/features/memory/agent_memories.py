"""The memories of one agent, searched through an index that follows the graph.

Rules kept here:
- the index only proposes memories: each one is read from the graph before it is returned, so a deleted memory is never
  recalled;
- the index is that of all agents of a namespace, in which an agent finds its own only (`owned_documents.py`). In memory
  are the times of an agent's memories, with their places in the index, and what changed since its last commit;
- a memory near the best ones in time is ranked too if it matches, however many match better (`ranking`);
- with an embedder, the vectors of the memories of an agent are in memory, made at its first recall.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.features.finder.embedders import Embedder, Vectors
from cortex_skills.features.finder.index_follower import IndexView
from cortex_skills.features.finder.meaning_index import MeaningIndex, MeaningProblem
from cortex_skills.features.finder.owned_documents import OwnedDocuments, OwnedText
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.text_index import MIN_SIMILARITY
from cortex_skills.features.finder.word_stems import asked_stems
from cortex_skills.features.memory.memory_follower import MemorySource, owner_of
from cortex_skills.features.memory.memory_triples import MemoryReader
from cortex_skills.features.memory.model import Memory, MemoryQuery, Recalled, Scored
from cortex_skills.features.memory.ranking import LENT, NEAR_S, Candidate, rank
from cortex_skills.features.memory.time_order import TimeOrder

POOL = 200  # the candidates with the best words, and with the best meaning; those near the best in time are added
NEAR = 20  # candidates of either kind, beside which others are looked for
INDEX_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class _Matching:
    """What matches a query: the candidates by their numbers, and why meaning was not used."""

    asked: QueryWords
    candidates: tuple[Candidate, ...]
    problem: MeaningProblem | None


class AgentMemories:
    """The memories of one agent. Safe to use from several threads.

    Args:
        graph: the memories of the agent.
        source: the index that has them.
        clock: returns the time, in UTC.
        embedder: finds them by meaning too; None for words alone.
    """

    def __init__(
        self,
        graph: AgentGraph,
        source: MemorySource,
        clock: Callable[[], datetime],
        embedder: Embedder | None = None,
    ) -> None:
        self._reader = MemoryReader(graph)
        self._source = source
        self._clock = clock
        self._lock = threading.Lock()
        self._own = _OwnTexts(owner_of(graph.agent))
        self._meaning = None if embedder is None else _Meaning(embedder, self._reader)

    def __len__(self) -> int:
        """How many memories were there at the last recall."""
        return len(self._own)

    def recall(self, query: MemoryQuery, timeout_s: float = INDEX_TIMEOUT_S) -> Recalled:
        """The memories that match a query best.

        Args:
            query: the query.
            timeout_s: how long to wait for the index, in seconds.

        Raises:
            CortexError: `graph_busy`, when the index is not ready in time; it is still being built.
        """
        with self._lock:
            self._own.follow(self._source.view(timeout_s))
            if self._meaning is not None:
                self._meaning.follow(self._own)
            matching = self._matching(query.query, query.min_importance)
            words = matching.asked.words
            if not words and self._meaning is None:
                return Recalled((), (), 0)
            found, gone = self._read(rank(matching.candidates, matching.asked, self._clock().timestamp()), query)
            others = 0
            if not found and query.min_importance > 0:
                others = len(self._matching(query.query, 0.0).candidates)
        considered = min(len(matching.candidates) - gone, POOL)
        return Recalled(tuple(found), words, considered, min(others, POOL), matching.problem)

    def _matching(self, query: str, min_importance: float) -> _Matching:
        """The best matches, and those near them in time that match too."""
        own, meaning = self._own, self._meaning
        asked = own.asked(query)
        by_words = own.search(asked, min_importance, POOL)
        similar, reason = ({}, None) if meaning is None else meaning.search(query, min_importance)
        texts = own.texts(dict.fromkeys((*by_words, *similar)))
        best = dict.fromkeys((*by_words[:NEAR], *list(similar)[:NEAR]))
        near = own.near((number, texts[number]) for number in best)
        texts |= own.texts([number for number in dict.fromkeys(near) if number not in texts])
        if meaning is not None:
            similar |= meaning.similarities(number for number in texts if number not in similar)
        candidates = []
        for number, text in texts.items():
            mask, similarity = text.mask(asked.words), similar.get(number)
            if text.weight < min_importance or not (mask or (similarity or -1.0) > MIN_SIMILARITY):
                continue
            place = own.place(text.time, number)
            candidates.append(Candidate(text.id, mask, text.weight, text.time, place, similarity))
        return _Matching(asked, tuple(candidates), reason)

    def _read(
        self, ranked: Iterable[tuple[str, Scored]], query: MemoryQuery
    ) -> tuple[list[tuple[Memory, Scored]], int]:
        """The first ranked memories as the graph has them now, and how many are gone."""
        found: list[tuple[Memory, Scored]] = []
        gone = 0
        for identifier, scored in ranked:
            if len(found) == query.limit:
                break
            memory = self._reader.one(identifier)
            if memory is None:
                gone += 1
            elif memory.importance >= query.min_importance:
                found.append((memory, scored))
        return found, gone


class _OwnTexts:
    """The texts of one owner: those in the documents by their places, and later ones by negative numbers."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._view = IndexView(None)
        self._documents: OwnedDocuments | None = None
        self._order = TimeOrder()
        self._seen: dict[str, OwnedText | None] = {}
        self._later: dict[int, OwnedText] = {}
        self._numbers: dict[str, int] = {}  # of later ones, by their keys
        self._replaced: dict[int, OwnedText] = {}  # in the documents, by their places
        self._next = -1

    def __len__(self) -> int:
        return len(self._order)

    def follow(self, view: IndexView) -> None:
        """Have the texts of a view."""
        if self._documents is not view.documents or view.generation != self._view.generation:
            self._documents = view.documents
            self._order = TimeOrder()
            self._order.add(self._documents.times(self._owner) if self._documents is not None else [])
            for each in (self._seen, self._later, self._numbers, self._replaced):
                each.clear()
        if view.changed is not self._view.changed or not self._seen:
            self._apply(view.changed)
        self._view = view

    def _apply(self, changed: Mapping[str, OwnedText | None]) -> None:
        start = f"{self._owner}:"
        for key, text in changed.items():
            if not key.startswith(start) or (key in self._seen and self._seen[key] is text):
                continue
            number = self._numbers.pop(key, None)
            if number is not None:
                self._order.discard([(self._later.pop(number).time, number)])
            elif key not in self._seen and self._documents is not None:
                place = self._documents.place_of(key)
                if place is not None:
                    self._replaced[place] = self._documents.text(place)
                    self._order.discard([(self._replaced[place].time, place)])
            self._seen[key] = text
            if text is not None:
                self._numbers[key], self._later[self._next] = self._next, text
                self._order.add([(text.time, self._next)])
                self._next -= 1

    def asked(self, query: str) -> QueryWords:
        """The words of a query, with their weights among the texts."""
        words = asked_stems(query)
        having = [0] * len(words) if self._documents is None else self._documents.having(self._owner, words)
        for sign, texts in ((1, self._later.values()), (-1, self._replaced.values())):
            for text in texts:
                mask = text.mask(words)
                having = [count + sign * (mask >> place & 1) for place, count in enumerate(having)]
        return QueryWords.of(words, having, len(self))

    def search(self, asked: QueryWords, min_weight: float, limit: int) -> list[int]:
        """The numbers of the texts with the best words."""
        found = [
            (number, asked.coverage(mask))
            for number, text in self._later.items()
            if text.weight >= min_weight and (mask := text.mask(asked.words))
        ]
        if self._documents is not None:
            hits = self._documents.search(self._owner, asked, min_weight, limit + len(self._replaced))
            found += [hit for hit in hits if hit[0] not in self._replaced]
        return [number for number, _ in sorted(found, key=lambda hit: -hit[1])[:limit]]

    def near(self, texts: Iterable[tuple[int, OwnedText]]) -> Iterator[int]:
        """The texts before and after some, at most 10 minutes apart."""
        for number, text in texts:
            for time, other in self._order.beside(self.place(text.time, number), reach=len(LENT)):
                if abs(time - text.time) <= NEAR_S:
                    yield other

    def texts(self, numbers: Collection[int]) -> dict[int, OwnedText]:
        """What is indexed of some texts, in their order."""
        places = [number for number in numbers if number >= 0]
        read = self._documents.texts(places) if places and self._documents is not None else []
        of_places = dict(zip(places, read, strict=True))
        return {number: self._later[number] if number < 0 else of_places[number] for number in numbers}

    def numbers(self) -> list[int]:
        """All of them."""
        return self._order.numbers()

    def place(self, time: float, number: int) -> int:
        """The place of a text in the order of the times."""
        return self._order.place(time, number)

    @property
    def state(self) -> tuple[int, int]:
        """Another one after each change."""
        return self._view.generation, self._next


class _Meaning:
    """The meanings of the texts of an owner, by their ids, as numbers that do not change."""

    def __init__(self, embedder: Embedder, reader: MemoryReader) -> None:
        self._index = MeaningIndex(embedder)
        self._reader = reader
        self._numbers: dict[int, int] = {}  # of texts, by the numbers of their vectors
        self._vectors: dict[int, int] = {}  # the reverse
        self._vector: Vectors | None = None
        self._state: object = None

    def follow(self, own: _OwnTexts) -> None:
        """Have a vector of each text, and of no other."""
        state = (own.state, len(own))
        if state == self._state:
            return
        texts = own.texts(own.numbers())
        found = {_vector_number(text.id): (number, text.id) for number, text in texts.items()}
        for gone in self._numbers.keys() - found.keys():
            self._index.discard(gone)
        new = {found[each][1] for each in found.keys() - self._numbers.keys()}
        for memory in self._reader.many(new):
            self._index.add(_vector_number(memory.id), " ".join((memory.text, *memory.tags)), memory.importance)
        self._numbers = {vector: number for vector, (number, _) in found.items()}
        self._vectors = {number: vector for vector, number in self._numbers.items()}
        self._state = state

    def search(self, query: str, min_weight: float) -> tuple[dict[int, float], MeaningProblem | None]:
        """The numbers of the texts with the most similar meanings, and why meaning was not used."""
        self._vector, reason = self._index.vector_of(query)
        found = self._index.search(self._vector, min_weight, POOL, MIN_SIMILARITY)
        similar = {self._numbers[each]: value for each, value in found.items() if each in self._numbers}
        return similar, self._index.problem(reason, whole=self._vector is None)

    def similarities(self, numbers: Iterable[int]) -> dict[int, float]:
        """The similarity of each of some texts to the last query."""
        vectors = [self._vectors[number] for number in numbers if number in self._vectors]
        found = self._index.similarities(self._vector, vectors)
        return {self._numbers[each]: value for each, value in found.items()}


def _vector_number(identifier: str) -> int:
    return int(identifier[:15], 16)
