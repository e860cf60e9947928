"""The memories of one agent, found by their words and kept as current as the graph.

Rules kept here:
- the index is a hint, the graph the truth: what is answered was read from the graph for that answer, so that a memory
  that is gone is never recalled, whoever deleted it and however;
- what others remember is found by its minute: when the graph was written to, the minutes since the last look are read
  again (and one before, for clocks). Everything is looked at when there is no index yet, after a long pause, and once
  an hour, which is when memories are found that came in by an import;
- the first look at many memories takes longer than a call may: it goes on behind, and who cannot wait is told to come
  again;
- at most `MAX_INDEXED` memories are searched; how many are not is told.
"""

from __future__ import annotations

import logging
import threading
import time
from array import array
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from cortex_graph import NamespacedGraph
from cortex_graph.store import Revisioned
from cortex_skills.errors import CortexError
from cortex_skills.memory.index import WordIndex
from cortex_skills.memory.model import Memory, Recalled, Scored, Wanted
from cortex_skills.memory.ranking import Candidate, rank
from cortex_skills.memory.reading import MemoryReader
from cortex_skills.memory.records import minute_of

log = logging.getLogger(__name__)

MAX_INDEXED = 200_000
POOL = 200  # the candidates with the best words, which are ranked by importance and recency too
PATIENCE_S = 10.0
_ROUNDS = 3
_MINUTE = timedelta(minutes=1)
_LONG_PAUSE = timedelta(hours=6)
_LOOK_AT_ALL = timedelta(hours=1)


class OwnedMemories:
    """One agent's memories. Safe to use from several threads.

    Args:
        graph: of the namespace.
        agent: whose memories.
        clock: the time, in UTC.

    """

    def __init__(self, graph: NamespacedGraph, agent: str, clock: Callable[[], datetime]) -> None:
        self._graph = graph
        self._store = graph.store if isinstance(graph.store, Revisioned) else None
        self._reader = MemoryReader(graph, agent)
        self._clock = clock
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._index = WordIndex()
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._importances = array("d")
        self._times = array("d")
        self._revision: str | None = None
        self._first_look: threading.Thread | None = None
        self._looked: datetime | None = None
        self._looked_at_all: datetime | None = None

    def recall(self, wanted: Wanted, patience_s: float = PATIENCE_S) -> Recalled:
        """The memories that answer a query best.

        Args:
            wanted: the query.
            patience_s: how long to wait for the index, in seconds.

        Raises:
            CortexError: `graph_busy`, when the index is not made by then; it goes on being made.

        """
        deadline = time.monotonic() + patience_s
        if not self._look_first(patience_s) or not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise CortexError("graph_busy", "the memories are being indexed", hint="try again in a while")
        try:
            self._refresh()
            words = self._index.words_of(wanted.query)
            if not words:
                return Recalled((), (), 0)
            for last in (False,) * (_ROUNDS - 1) + (True,):
                candidates = self._candidates(words, wanted.min_importance)
                found, gone = self._read(rank(candidates, self._clock().timestamp()), wanted)
                self._forget(gone)
                if last or not gone or len(found) == wanted.limit:
                    break
            return Recalled(tuple(found), tuple(words), len(candidates))
        finally:
            self._lock.release()

    def _look_first(self, patience_s: float) -> bool:
        """Wait for the first look, begun by whoever comes first; False when it takes longer."""
        if self._looked is not None:
            return True
        with self._starting:
            look = self._first_look
            if look is None or not look.is_alive():
                look = self._first_look = threading.Thread(target=self._look, name="memories", daemon=True)
                look.start()
        look.join(patience_s)
        return not look.is_alive()

    def _look(self) -> None:
        with self._lock:
            try:
                self._refresh()
            except Exception as error:  # whoever waits looks again, and gets it
                log.info("the memories could not be indexed: %s", error)

    def _candidates(self, words: list[str], min_importance: float) -> list[Candidate]:
        return [
            Candidate(self._ids[number], bm25, self._importances[number], self._times[number])
            for number, bm25 in self._index.search(words, min_importance, POOL)
        ]

    def _read(self, ranked: list[tuple[str, Scored]], wanted: Wanted) -> tuple[list[tuple[Memory, Scored]], list[str]]:
        """The first of the ranked memories as the graph has them now, and those that it has no more."""
        found: list[tuple[Memory, Scored]] = []
        gone: list[str] = []
        for identifier, scored in ranked:
            if len(found) == wanted.limit:
                break
            memory = self._reader.one(identifier)
            if memory is None:
                gone.append(identifier)
            elif memory.importance >= wanted.min_importance:
                found.append((memory, scored))
        return found, gone

    def _refresh(self) -> None:
        """Index what is new in the graph."""
        now = self._clock()
        revision = None if self._store is None else self._store.revision([self._graph.names.graph])
        if revision is not None and revision == self._revision:
            return
        if self._looked is None or self._looked_at_all is None or _is_past(self._looked, self._looked_at_all, now):
            everything = self._reader.identifiers()
            self._forget(self._numbers.keys() - everything)
            new = everything - self._numbers.keys()
            self._looked_at_all = now
        else:
            minutes = _minutes(self._looked - _MINUTE, now + _MINUTE)
            new = set().union(*map(self._reader.identifiers_at, minutes)) - self._numbers.keys()
        room = MAX_INDEXED - len(self._numbers)
        if len(new) > room:
            log.warning("%d memories are not searched: there are more than %d", len(new) - room, MAX_INDEXED)
            new = set(sorted(new)[:room])
        self._add(self._reader.several(new))
        self._looked, self._revision = now, revision

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


def _is_past(looked: datetime, looked_at_all: datetime, now: datetime) -> bool:
    """Whether it is time to look at everything; also when the clock was set back."""
    return not timedelta() <= now - looked <= _LONG_PAUSE or now - looked_at_all > _LOOK_AT_ALL


def _minutes(first: datetime, last: datetime) -> list[str]:
    count = int((last - first) / _MINUTE) + 1
    return [minute_of(first + number * _MINUTE) for number in range(count)]
