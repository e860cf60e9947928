"""The memories of one agent, searched through an index that follows the graph.

Rules kept here:
- the index only proposes memories: each one is read from the graph before it is returned, so a deleted memory is never
  recalled;
- memories that other processes write are found by their minute: after a change of the graph, the minutes since the last
  update are read again (and one before, for clock differences). All memories are read for the first index, after a long
  pause, and once an hour, which also finds imported memories;
- the words of all agents of a namespace are in one index, in which an agent finds its own only (`SharedWords`);
- the first index of many memories is built in the background (`IndexUpdates`);
- a memory near the best ones in time is ranked too if it matches, however many match better (`ranking`);
- at most `MAX_INDEXED` memories are indexed; a warning states how many are not.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain

from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.store import Revisioned
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.index_updates import IndexUpdates
from cortex_skills.features.finder.text_index import FoundTexts, TextIndex
from cortex_skills.features.finder.word_index import SharedWords
from cortex_skills.features.memory.memory_triples import MemoryReader, minute_of
from cortex_skills.features.memory.model import Memory, MemoryQuery, Recalled, Scored
from cortex_skills.features.memory.ranking import LENT, NEAR_S, Candidate, rank
from cortex_skills.features.memory.time_order import TimeOrder

log = logging.getLogger(__name__)

MAX_INDEXED = 200_000
POOL = 200  # the candidates with the best words, and with the best meaning; those near the best in time are added
INDEX_TIMEOUT_S = 10.0
_ROUNDS = 3
_MINUTE = timedelta(minutes=1)
_LONG_PAUSE = timedelta(hours=6)
_FULL_UPDATE = timedelta(hours=1)


class AgentMemories:
    """The memories of one agent. Safe to use from several threads.

    Args:
        graph: the memories of the agent.
        clock: returns the time, in UTC.
        embedder: finds them by meaning too; None for words alone.
        shared: the words of the memories of all agents; without it, only those of this one.
    """

    def __init__(
        self,
        graph: AgentGraph,
        clock: Callable[[], datetime],
        embedder: Embedder | None = None,
        shared: SharedWords | None = None,
    ) -> None:
        self._graph = graph
        self._store = graph.store if isinstance(graph.store, Revisioned) else None
        self._reader = MemoryReader(graph)
        self._clock = clock
        self._updates = IndexUpdates(self._refresh, "memories")
        self._index = TextIndex(embedder, shared)
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._importances = array("d")
        self._times = array("d")
        self._order = TimeOrder()
        self._revision: str | None = None
        self._updated: datetime | None = None
        self._updated_fully: datetime | None = None

    def __len__(self) -> int:
        """How many memories are indexed."""
        return len(self._numbers)

    def recall(self, query: MemoryQuery, timeout_s: float = INDEX_TIMEOUT_S) -> Recalled:
        """The memories that match a query best.

        Args:
            query: the query.
            timeout_s: how long to wait for the index, in seconds.

        Raises:
            CortexError: `graph_busy`, when the index is not ready in time; it is still being built.
        """
        with self._updates.current(timeout_s):
            for last in (False,) * (_ROUNDS - 1) + (True,):
                matching = self._matching(query.query, query.min_importance)
                words = matching.asked.words
                if not words and self._index.embedder is None:
                    return Recalled((), (), 0)
                ranked = rank(self._candidates(matching), matching.asked, self._clock().timestamp())
                found, gone = self._read(ranked, query)
                self._forget(gone)
                if last or not gone or len(found) == query.limit:
                    break
            others = () if found or query.min_importance <= 0 else self._matching(query.query, 0.0).hits
            considered = min(len(matching.hits) - len(gone), POOL)
            return Recalled(tuple(found), words, considered, min(len(others), POOL), matching.problem)

    def _matching(self, query: str, min_importance: float) -> FoundTexts:
        """The best matches, and those near them in time that match too."""

        def near(best: Collection[int]) -> Iterator[int]:
            for number in best:
                time = self._times[number]
                for other in self._order.beside(self._order.place(time, number), reach=len(LENT)):
                    if self._importances[other] >= min_importance and abs(self._times[other] - time) <= NEAR_S:
                        yield other

        return self._index.search(query, min_importance, POOL, near=near)

    def _candidates(self, found: FoundTexts) -> Iterator[Candidate]:
        for hit in found.hits:
            number, time = hit.number, self._times[hit.number]
            place = self._order.place(time, number)
            yield Candidate(self._ids[number], hit.mask, self._importances[number], time, place, hit.similarity)

    def _read(
        self, ranked: Iterable[tuple[str, Scored]], query: MemoryQuery
    ) -> tuple[list[tuple[Memory, Scored]], list[str]]:
        """The first ranked memories as the graph has them now, and the ids of deleted ones."""
        found: list[tuple[Memory, Scored]] = []
        gone: list[str] = []
        for identifier, scored in ranked:
            if len(found) == query.limit:
                break
            memory = self._reader.one(identifier)
            if memory is None:
                gone.append(identifier)
            elif memory.importance >= query.min_importance:
                found.append((memory, scored))
        return found, gone

    def _refresh(self) -> None:
        """Index the new memories of the graph."""
        now = self._clock()
        revision = None if self._store is None else self._store.revision([self._graph.names.graph])
        if revision is not None and revision == self._revision:
            return
        if self._updated is None or self._updated_fully is None or _is_due(self._updated, self._updated_fully, now):
            everything = self._reader.identifiers()
            self._forget(self._numbers.keys() - everything)
            new = everything.difference(self._numbers)
            self._updated_fully = now
        else:
            minutes = _minutes(self._updated - _MINUTE, now + _MINUTE)
            found = chain.from_iterable(map(self._reader.identifiers_at, minutes))
            new = {identifier for identifier in found if identifier not in self._numbers}
        room = MAX_INDEXED - len(self._numbers)
        if len(new) > room:
            log.warning("%d memories are not searched: there are more than %d", len(new) - room, MAX_INDEXED)
            new = set(sorted(new)[:room])
        self._add(self._reader.many(new))
        self._updated, self._revision = now, revision

    def _add(self, memories: Iterable[Memory]) -> None:
        first = len(self._ids)

        def entries() -> Iterable[tuple[int, str, float]]:
            for memory in memories:
                number = len(self._ids)
                self._numbers[memory.id] = number
                self._ids.append(memory.id)
                self._importances.append(memory.importance)
                self._times.append(memory.time.timestamp())
                yield number, " ".join((memory.text, *memory.tags)), memory.importance

        try:
            self._index.change(add=entries())
        except BaseException:  # the graph could not be read to the end: the next recall begins again
            self._index.change(discard=range(first, len(self._ids)))
            for identifier in self._ids[first:]:
                del self._numbers[identifier]
            raise
        self._order.add([(self._times[number], number) for number in range(first, len(self._ids))])

    def _forget(self, identifiers: Iterable[str]) -> None:
        numbers = [self._numbers.pop(identifier) for identifier in list(identifiers)]
        if numbers:
            self._order.discard([(self._times[number], number) for number in numbers])
            self._index.change(discard=numbers)


def _is_due(updated: datetime, updated_fully: datetime, now: datetime) -> bool:
    """Whether all memories must be read again; also when the clock was set back."""
    return not timedelta() <= now - updated <= _LONG_PAUSE or now - updated_fully > _FULL_UPDATE


def _minutes(first: datetime, last: datetime) -> list[str]:
    count = int((last - first) / _MINUTE) + 1
    return [minute_of(first + number * _MINUTE) for number in range(count)]
