"""Reads a graph through once and indexes its triples, in a thread of its own.

Rules kept here:
- who needs the index waits for it `PATIENCE_S` at most; the work goes on behind, until the process or the store ends;
- one such work at a time, in whatever process: it holds the store's maintenance lock. Between two pieces it makes way:
  an import does not wait for it, but ends it;
- entries are written some thousands at a time, then a mark that says how far it got: what was cut short goes on from
  there;
- a graph is read in one stream where the store keeps its order, and the mark names the last triple. Elsewhere it is
  read in pages, which take longer the further they are, and the mark is their cursor;
- first comes the mark `active`, then the reading: what is written meanwhile is read here, or indexed by its writer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.errors import GraphBusy, GraphError, InvalidArguments
from cortex_graph.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.store import GraphStore, Pattern

if TYPE_CHECKING:
    from cortex_graph.index import TripleIndex

Chunks = Generator[tuple[list[Quad], str | None], None, None]

PATIENCE_S = 1.0
CHUNK = 5_000  # entries written at once
_PAUSE_S = 0.01  # for somebody who waits for the lock

_MARK = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdf']}value")
_AFTER = "after "


def mark(names: Names, word: str) -> Quad:
    """What the index says of itself."""
    return Quad(names.index_graph, _MARK, Literal(word), names.index_graph)


def reached_marks(store: GraphStore, names: Names) -> list[Quad]:
    """The marks of how far the index is; more than one when a process was killed as it replaced one."""
    marks = store.quads(Pattern(names.index_graph, names.index_graph, _MARK))
    return [each for each in marks if isinstance(each.object, Literal) and each.object.value.startswith(_AFTER)]


class Build:
    """One such work, from its start.

    Args:
        store: where the graph is.
        names: of its namespace.
        index: what it completes.

    Raises:
        GraphBusy: the graph is being imported, or indexed by another process.

    """

    def __init__(self, store: GraphStore, names: Names, index: TripleIndex) -> None:
        self._store = store
        self._names = names
        self._index = index
        self._written = 0
        self._error: GraphError | None = None
        self._lock = store.maintenance  # a store that was closed meanwhile does not hand it out any more
        if not self._lock.acquire(blocking=False):
            raise GraphBusy(
                f"the graph of {names.namespace} is being imported or indexed",
                hint="try again in a while",
            )
        self._holds = True
        # Not a daemon: Python would end such a thread in the midst of foreign code. It looks for the end by itself.
        self._thread = threading.Thread(target=self._run, name="cortex-graph-index")
        try:
            self._thread.start()
        except BaseException:
            self._lock.release()
            raise

    @property
    def is_running(self) -> bool:
        """Whether it goes on, in this process: a fork leaves it behind."""
        return self._thread.is_alive()

    def wait(self, timeout_s: float | None) -> None:
        """Return when it is done.

        Args:
            timeout_s: how long to wait, in seconds; None for as long as it takes.

        Raises:
            GraphBusy: it is not done yet.
            GraphError: it failed.

        """
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise GraphBusy(
                f"the triples of {self._names.namespace} are being indexed for the first time; "
                f"{self._written:,} are done",
                hint="try again in a while",
                details={"indexed": self._written},
            )
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._complete()
        except GraphError as error:
            self._error = error.with_traceback(None)  # which would keep a stream of quads alive, in another thread
        finally:
            if self._holds:
                self._lock.release()

    def _complete(self) -> None:
        store, names = self._store, self._names
        store.insert([[mark(names, "active")]])
        with closing(self._streamed() if store.keeps_order else self._paged()) as chunks:
            for chunk, place in chunks:
                ids = [self._index.hash_of(quad) for quad in chunk]
                store.apply(
                    insert=[
                        self._index.entry(triple_id, quad)
                        for triple_id, quad in zip(ids, chunk, strict=True)
                        if isinstance(quad.subject, NamedNode)
                    ]
                )
                passed = reached_marks(store, names)
                reached = mark(names, _AFTER + (place or ids[-1]))
                store.apply(insert=[reached], remove=[each for each in passed if each != reached])
                self._written += len(chunk)
                self._go_on()
                self._make_way(reached)
        store.apply(insert=[mark(names, "complete")], remove=reached_marks(store, names))

    def _streamed(self) -> Chunks:
        """The quads from where an earlier work got to, or all; the place of each chunk is that of its last quad."""
        everything = Pattern(self._names.graph)
        last = self._last()
        if last is not None:
            with closing(_quads(self._store, everything)) as quads:
                while chunk := list(islice(quads, CHUNK)):
                    self._go_on()
                    self._written += len(chunk)
                    if last in chunk:
                        yield from _chunks(chain(chunk[chunk.index(last) + 1 :], quads))
                        return
        self._start_over()
        with closing(_quads(self._store, everything)) as quads:
            yield from _chunks(quads)

    def _paged(self) -> Chunks:
        """The same, where a stream might end early or come in another order."""
        everything = Pattern(self._names.graph)
        cursor = next(iter(self._reached()), None)
        try:
            page = self._store.match(everything, CHUNK, cursor)
        except InvalidArguments:  # a cursor of another kind of store: this one is a copy
            self._start_over()
            page = self._store.match(everything, CHUNK)
        while page.cursor is not None:
            yield page.quads, page.cursor
            page = self._store.match(everything, CHUNK, page.cursor)
        if page.quads:
            yield page.quads, None

    def _start_over(self) -> None:
        self._written = 0
        self._store.apply(remove=reached_marks(self._store, self._names))

    def _last(self) -> Quad | None:
        """The triple that an earlier work got to, if it is still there to go on from."""
        return next(filter(None, map(self._index.indexed, self._reached())), None)

    def _reached(self) -> list[str]:
        marks = reached_marks(self._store, self._names)
        return [each.object.value.removeprefix(_AFTER) for each in marks if isinstance(each.object, Literal)]

    def _make_way(self, reached: Quad) -> None:
        """Leave the lock to somebody who waits for it; raises when somebody took it, or has had it meanwhile."""
        self._holds = False
        self._lock.release()
        time.sleep(_PAUSE_S)
        self._holds = self._lock.acquire(blocking=False)
        if not self._holds or not self._store.contains(reached):
            raise GraphBusy(
                f"the graph of {self._names.namespace} is being imported or indexed by another",
                hint="try again in a while",
            )

    def _go_on(self) -> None:
        """Raises when the store was closed, or when the process waits for this thread alone."""
        if not threading.main_thread().is_alive():
            raise GraphBusy("the process ends", hint="start it again: the index goes on where it was")
        self._store.contains(mark(self._names, "active"))


def _quads(store: GraphStore, pattern: Pattern) -> Generator[Quad, None, None]:
    """A stream that can be closed, whatever the store's own is."""
    yield from store.quads(pattern)


def _chunks(quads: Iterable[Quad]) -> Chunks:
    rest = iter(quads)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk, None
