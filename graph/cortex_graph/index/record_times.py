"""The times at which the records of a namespace were made, in a form that is read from the latest one on.

Rules kept here:
- the index graph has a tree of times: months, hours, minutes, tenths of a second, and the times themselves, each as
  `{base}NS/time/START rdf:value TIME`. Only a few hundred of them are read for a page, however many there are;
- a time is written in the transaction of its record, and its parents with the first time below them that this process
  writes. So there is never a record without its time. A time without a record is not removed, and costs a look-up;
- the mark `times` says that the times of all records are there. It is written with the first record of a namespace. In
  a store of an earlier version the times are written once, in the background (`TimesBuild`); interrupted, that starts
  over with the next listing;
- a time that is no instant (`records.instant`) is not listed, and is not written here;
- a server sorts its records itself (`keeps_order`), and has no such tree.
"""

from __future__ import annotations

import logging
import threading
import time as clock
from collections.abc import Iterable, Iterator
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.assertion_records.records import instant
from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import GraphBusy, GraphError
from cortex_graph.index.index_build import mark
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import DATE_TIME, GENERATED_AT, VALUE
from cortex_graph.store import GraphStore, Pattern

log = logging.getLogger(__name__)

# Characters of `2026-01-31T12:34:56.789012` that name the month, the hour, the minute and the tenth of a second.
_MARK = "times"
_WIDTHS = (7, 13, 16, 21)
_WHOLE = "0001-01-01T00:00:00.000000"
_CHUNK = 5_000  # quads that are written at once
_PAUSE_S = 0.001  # between two chunks, for other threads
_AGAIN_S = 60.0  # after a build that failed


class RecordTimes:
    """The times of the records of one namespace. Safe to use from several threads."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._root = f"{names.graph.value}/time"
        self._mark = mark(names, _MARK)
        self._is_begun = False
        self._last: tuple[str, str] = ("", "")  # the last time that was written here, and its tenth of a second
        self._next = ("", "")  # the same of the last call of `quads`
        self._starting = threading.Lock()
        self._build: TimesBuild | None = None

    def is_complete(self) -> bool:
        """Return whether the times of all records are there."""
        return self._store.keeps_order and self._store.contains(self._mark)

    def quads(self, time: Literal) -> list[Quad]:
        """Return the quads to write with a record of this time; `written` is called when that is done.

        The first one is the time itself: where it is, the others are.
        """
        if not self._store.keeps_order or time.value == self._last[0]:
            return []
        moment = instant(time)
        if moment is None:
            return []
        text = _text(moment)
        self._next = (time.value, text[: _WIDTHS[-1]])
        return [*self._path(time, text, self._last[1]), *self._begun()]

    def written(self, time: Literal) -> None:
        """Remember that `quads` of this time were written."""
        after = self._next  # another thread may be between its two calls: then nothing is remembered
        if after[0] == time.value:
            self._last, self._is_begun = after, True

    def paths(self, times: Iterable[Literal]) -> Iterator[Quad]:
        """Yield the quads to write before records of these times; fewer if equal times follow each other."""
        if not self._store.keeps_order:
            return
        known = ""
        last = None
        for time in times:
            if time == last or (moment := instant(time)) is None:
                continue
            if last is None:
                yield from self._begun()
            last, text = time, _text(moment)
            yield from self._path(time, text, known)
            known = text[: _WIDTHS[-1]]

    def missing(self) -> int:
        """Return how many quads of the tree of all records are missing; 0 before it is complete."""
        if not self.is_complete():
            return 0
        starts = tuple(f"{self._names.graph.value}/{kind}/" for kind in ("triple", "withdrawn"))
        made = self._store.quads(Pattern(self._names.provenance_graph, None, GENERATED_AT))
        of_records = (
            quad for quad in made if isinstance(quad.subject, NamedNode) and quad.subject.value.startswith(starts)
        )
        times = (quad.object for quad in of_records)
        return sum(not self._store.contains(quad) for quad in self.paths(t for t in times if isinstance(t, Literal)))

    def latest_first(self, until: datetime | None = None) -> Iterator[Literal]:
        """Yield the different times, the latest first.

        Args:
            until: the latest one, with its time zone.
        """
        yield from self._below("", 0, until, is_last_first=True)

    def span(self) -> tuple[str, str]:
        """Return the times of the earliest and the latest record; empty if there is none, or not all are there."""
        if not self.is_complete():
            return "", ""
        ends = (self._below("", 0, None, is_last_first=is_last) for is_last in (False, True))
        first, last = (next((time for time in each if self._has_record(time)), None) for each in ends)
        return ("", "") if first is None or last is None else (first.value, last.value)

    def _has_record(self, time: Literal) -> bool:
        return self._store.count(Pattern(self._names.provenance_graph, None, GENERATED_AT, time), 1) > 0

    def complete(self) -> None:
        """Write the times of all records in the background, if they are not there yet."""
        with self._starting:
            if self._build is not None and not self._build.may_repeat:
                return
            if not self.is_complete():
                self._build = TimesBuild(self._store, self._names, self)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the times of all records, up to so many seconds; returns whether they are there."""
        if self._build is not None:
            self._build.thread.join(timeout_s)
        return self.is_complete()

    def _begun(self) -> list[Quad]:
        """Return the mark before the first record of a namespace, and nothing before a later one."""
        if self._is_begun or self.is_complete():
            return []
        has_records = self._store.count(Pattern(self._names.provenance_graph, None, GENERATED_AT), 1)
        return [] if has_records else [self._mark]

    def _path(self, time: Literal, text: str, known: str) -> Iterator[Quad]:
        """Yield the quad of a time, and those of its parents that are not of the tenth of a second that is known."""
        graph = self._names.index_graph
        yield Quad(self._node(text[: _WIDTHS[-1]]), VALUE, time, graph)
        for level in reversed(range(len(_WIDTHS))):
            start = text[: _WIDTHS[level]]
            if known.startswith(start):
                break
            parent = text[: _WIDTHS[level - 1]] if level else ""
            child = datetime.fromisoformat(start + _WHOLE[len(start) :] + "+00:00")
            yield Quad(self._node(parent), VALUE, Literal(date_time(child), datatype=DATE_TIME), graph)

    def _below(self, start: str, level: int, until: datetime | None, *, is_last_first: bool) -> Iterator[Literal]:
        found = self._store.quads(Pattern(self._names.index_graph, self._node(start), VALUE))
        terms = (each.object for each in found)
        times = ((moment, term.value) for term in terms if isinstance(term, Literal) and (moment := instant(term)))
        for moment, text in sorted(times, reverse=is_last_first):
            if until is not None and moment > until:
                continue
            if level == len(_WIDTHS):
                yield Literal(text, datatype=DATE_TIME)
            else:
                yield from self._below(_text(moment)[: _WIDTHS[level]], level + 1, until, is_last_first=is_last_first)

    def _node(self, start: str) -> NamedNode:
        return NamedNode(f"{self._root}/{start}" if start else self._root)


def forget_times(store: GraphStore, index: NamedNode) -> None:
    """Remove the mark of an index graph; of another graph nothing."""
    complete = Quad(index, VALUE, Literal(_MARK), index)
    if store.contains(complete):
        store.apply(remove=[complete])


class TimesBuild:
    """Writes the times of the records of a namespace, in a thread, from its creation."""

    def __init__(self, store: GraphStore, names: Names, times: RecordTimes) -> None:
        self._store = store
        self._names = names
        self._times = times
        self._ended_at: float | None = None
        # Not a daemon: Python would end it inside foreign code. It looks for the end of the process itself.
        self.thread = threading.Thread(target=self._run, name="cortex-graph-times")
        self.thread.start()

    @property
    def may_repeat(self) -> bool:
        """Whether it has ended long enough ago to begin again."""
        return self._ended_at is not None and clock.monotonic() - self._ended_at > _AGAIN_S

    def _run(self) -> None:
        namespace = self._names.namespace
        log.info("the times of the records of %s are being indexed, once", namespace)
        try:
            written = self._write()
            log.info("the times of the records of %s are indexed: %d statements", namespace, written)
        except GraphError as error:
            log.warning("the times of the records of %s are not indexed: %s", namespace, error)
        finally:
            self._ended_at = clock.monotonic()

    def _write(self) -> int:
        """Write all times, then the mark."""
        made = self._store.quads(Pattern(self._names.provenance_graph, None, GENERATED_AT))
        literals = (quad.object for quad in made)
        chunk: list[Quad] = []
        written = 0
        for quad in self._times.paths(each for each in literals if isinstance(each, Literal)):
            chunk.append(quad)
            if len(chunk) == _CHUNK:
                written += self._apply(chunk)
        written += self._apply(chunk)
        self._store.insert([[mark(self._names, _MARK)]])
        return written

    def _apply(self, chunk: list[Quad]) -> int:
        """Write a chunk, and empty it. Raises when the process only waits for this thread."""
        if not threading.main_thread().is_alive():
            raise GraphBusy("the process ends", hint="the next one starts over")
        written = sum(self._store.insert([[quad] for quad in chunk]))  # faster than `apply`
        chunk.clear()
        clock.sleep(_PAUSE_S)
        return written


def _text(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds")
