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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.meaning_index import MeaningProblem
from cortex_skills.features.finder.owned_documents import OwnedDocuments, OwnedText
from cortex_skills.features.finder.owned_texts import OwnedTexts
from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.finder.text_meanings import MIN_SIMILARITY, TextMeanings
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
        self._own = _InOrder(owner_of(graph.agent))
        self._meaning = None if embedder is None else TextMeanings(embedder, self._texts)

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
        similar, reason = ({}, None) if meaning is None else meaning.search(query, min_importance, POOL)
        texts = own.texts(dict.fromkeys((*by_words, *own.numbers_of(similar))))
        nearest = set(islice(similar, NEAR))
        by_meaning = [number for number, text in texts.items() if text.id in nearest] if nearest else []
        best = [*by_words[:NEAR], *by_meaning]
        near = own.near((number, texts[number]) for number in dict.fromkeys(best))
        texts |= own.texts([number for number in dict.fromkeys(near) if number not in texts])
        if meaning is not None:
            similar |= meaning.similarities(text.id for text in texts.values() if text.id not in similar)
        candidates = []
        for number, text in texts.items():
            mask, similarity = text.mask(asked.words), similar.get(text.id) if similar else None
            if text.weight < min_importance or not (mask or (similarity or -1.0) > MIN_SIMILARITY):
                continue
            place = own.place(text.time, number)
            candidates.append(Candidate(text.id, mask, text.weight, text.time, place, similarity))
        return _Matching(asked, tuple(candidates), reason)

    def _texts(self, texts: Iterable[OwnedText]) -> Iterator[tuple[str, str]]:
        for memory in self._reader.many({text.id for text in texts}):
            yield memory.id, " ".join((memory.text, *memory.tags))

    def _read(
        self, ranked: Iterable[tuple[str, Scored]], query: MemoryQuery
    ) -> tuple[list[tuple[Memory, Scored]], int]:
        """The first ranked memories as the graph has them now, and how many are gone."""
        found: list[tuple[Memory, Scored]] = []
        gone = 0
        rest = iter(ranked)
        while batch := list(islice(rest, query.limit - len(found))):
            for memory, (_, scored) in zip(self._reader.each([each for each, _ in batch]), batch, strict=True):
                if memory is None:
                    gone += 1
                elif memory.importance >= query.min_importance:
                    found.append((memory, scored))
        return found, gone


class _InOrder(OwnedTexts):
    """The texts of one owner, in the order of their times."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self._order = TimeOrder()

    def _begin(self, documents: OwnedDocuments | None) -> None:
        self._order = TimeOrder()
        self._order.add([] if documents is None else documents.times(self._owner))
        self._count = len(self._order)

    def _added(self, text: OwnedText, number: int) -> None:
        super()._added(text, number)
        self._order.add([(text.time, number)])

    def _removed(self, text: OwnedText, number: int) -> None:
        super()._removed(text, number)
        self._order.discard([(text.time, number)])

    def near(self, texts: Iterable[tuple[int, OwnedText]]) -> Iterator[int]:
        """The texts before and after some, at most 10 minutes apart."""
        for number, text in texts:
            for time, other in self._order.beside(self.place(text.time, number), reach=len(LENT)):
                if abs(time - text.time) <= NEAR_S:
                    yield other

    def place(self, time: float, number: int) -> int:
        """The place of a text in the order of the times."""
        return self._order.place(time, number)
