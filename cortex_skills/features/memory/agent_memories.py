"""The memories of one agent, searched through an index that follows the graph.

Rules kept here:
- the index only proposes memories: each one is read from the graph before it is returned, so a deleted memory is never
  recalled;
- memories that other processes write are found by their minute: after a change of the graph, the minutes since the last
  update are read again (and one before, for clock differences). All memories are read for the first index, after a long
  pause, and once an hour, which also finds imported memories;
- the first index of many memories is built in the background (`IndexUpdates`);
- at most `MAX_INDEXED` memories are indexed; a warning states how many are not.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from cortex_graph.agent_graph import AgentGraph
from cortex_graph.store import Revisioned
from cortex_skills.features.finder.embedders import Embedder
from cortex_skills.features.finder.index_updates import IndexUpdates
from cortex_skills.features.finder.text_index import MeaningProblem, TextIndex
from cortex_skills.features.memory.memory_triples import MemoryReader, minute_of
from cortex_skills.features.memory.model import Memory, MemoryQuery, Recalled, Scored
from cortex_skills.features.memory.ranking import Candidate, rank

log = logging.getLogger(__name__)

MAX_INDEXED = 200_000
POOL = 200  # the candidates with the best relevance, which are ranked by importance and recency too
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
    """

    def __init__(self, graph: AgentGraph, clock: Callable[[], datetime], embedder: Embedder | None = None) -> None:
        self._graph = graph
        self._store = graph.store if isinstance(graph.store, Revisioned) else None
        self._reader = MemoryReader(graph)
        self._clock = clock
        self._updates = IndexUpdates(self._refresh, "memories")
        self._index = TextIndex(embedder)
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._importances = array("d")
        self._times = array("d")
        self._revision: str | None = None
        self._updated: datetime | None = None
        self._updated_fully: datetime | None = None

    def recall(self, query: MemoryQuery, timeout_s: float = INDEX_TIMEOUT_S) -> Recalled:
        """The memories that match a query best.

        Args:
            query: the query.
            timeout_s: how long to wait for the index, in seconds.

        Raises:
            CortexError: `graph_busy`, when the index is not ready in time; it is still being built.
        """
        with self._updates.current(timeout_s):
            words = tuple(self._index.words_of(query.query))
            if not words and self._index.embedder is None:
                return Recalled((), (), 0)
            for last in (False,) * (_ROUNDS - 1) + (True,):
                candidates, problem = self._candidates(query.query, query.min_importance)
                found, gone = self._read(rank(candidates, self._clock().timestamp()), query)
                self._forget(gone)
                if last or not gone or len(found) == query.limit:
                    break
            others = [] if found or query.min_importance <= 0 else self._candidates(query.query, 0.0)[0]
            return Recalled(tuple(found), words, len(candidates) - len(gone), len(others), problem)

    def _candidates(self, query: str, min_importance: float) -> tuple[list[Candidate], MeaningProblem | None]:
        """The memories to rank, and why meaning was not used."""
        found = self._index.search(query, min_importance, POOL)
        return [
            Candidate(
                self._ids[hit.number], hit.bm25, self._importances[hit.number], self._times[hit.number], hit.similarity
            )
            for hit in found.hits
        ], found.problem

    def _read(
        self, ranked: list[tuple[str, Scored]], query: MemoryQuery
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
            new = everything - self._numbers.keys()
            self._updated_fully = now
        else:
            minutes = _minutes(self._updated - _MINUTE, now + _MINUTE)
            new = set().union(*map(self._reader.identifiers_at, minutes)) - self._numbers.keys()
        room = MAX_INDEXED - len(self._numbers)
        if len(new) > room:
            log.warning("%d memories are not searched: there are more than %d", len(new) - room, MAX_INDEXED)
            new = set(sorted(new)[:room])
        self._add(self._reader.many(new))
        self._updated, self._revision = now, revision

    def _add(self, memories: Iterable[Memory]) -> None:
        def entries() -> Iterable[tuple[int, str, float]]:
            for memory in memories:
                number = len(self._ids)
                self._numbers[memory.id] = number
                self._ids.append(memory.id)
                self._importances.append(memory.importance)
                self._times.append(memory.time.timestamp())
                yield number, " ".join((memory.text, *memory.tags)), memory.importance

        self._index.change(add=entries())

    def _forget(self, identifiers: Iterable[str]) -> None:
        numbers = [self._numbers.pop(identifier) for identifier in list(identifiers)]
        if numbers:
            self._index.change(discard=numbers)


def _is_due(updated: datetime, updated_fully: datetime, now: datetime) -> bool:
    """Whether all memories must be read again; also when the clock was set back."""
    return not timedelta() <= now - updated <= _LONG_PAUSE or now - updated_fully > _FULL_UPDATE


def _minutes(first: datetime, last: datetime) -> list[str]:
    count = int((last - first) / _MINUTE) + 1
    return [minute_of(first + number * _MINUTE) for number in range(count)]
