"""Reads a graph once and indexes its triples, in a background thread.

Rules kept here:
- a caller waits at most `MAX_WAIT_S` for the index; the work continues until the process or the store ends;
- one such work runs at a time, in all processes: it holds the maintenance lock of the store. Between two chunks it
  releases the lock: an import does not wait for it, but ends it;
- entries are written in chunks, each followed by a mark of the progress: interrupted work continues there;
- a graph is read in one stream where the store keeps its order, and the mark names the last triple. Otherwise it is
  read in pages, which take longer the further they are, and the mark is a cursor;
- the mark `active` is written first: a triple that is written later is read here, or indexed by its writer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable
from contextlib import closing
from itertools import chain, islice

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import GraphBusy, GraphError, InvalidArguments
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.recent_cache import hash_of

Chunks = Generator[tuple[list[Quad], str | None], None, None]

MAX_WAIT_S = 1.0
CHUNK = 5_000  # entries written at once
_PAUSE_S = 0.01  # so that a waiting thread or process can take the lock

_MARK = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdf']}value")
_AFTER = "after "


def mark(names: Names, word: str) -> Quad:
    """Return the quad that records a state of the index."""
    return Quad(names.index_graph, _MARK, Literal(word), names.index_graph)


def reached_marks(store: GraphStore, names: Names) -> list[Quad]:
    """Return the marks of the progress; several when a process was killed while it replaced one."""
    marks = store.quads(Pattern(names.index_graph, names.index_graph, _MARK))
    return [each for each in marks if isinstance(each.object, Literal) and each.object.value.startswith(_AFTER)]


def index_entry(names: Names, triple_id: str, quad: Quad) -> Quad:
    """Return the quad of the index graph that leads from an id to its triple."""
    return Quad(names.record(triple_id), quad.predicate, quad.subject, names.index_graph)


def indexed_triple(store: GraphStore, names: Names, triple_id: str) -> Quad | None:
    """Return the triple to which the index graph leads from an id."""
    for entry in store.quads(Pattern(names.index_graph, names.record(triple_id))):
        if isinstance(entry.object, NamedNode):
            return triple_among(store, Pattern(names.graph, entry.object, entry.predicate), triple_id)
    return None


def triple_among(store: GraphStore, pattern: Pattern, triple_id: str) -> Quad | None:
    """Return the triple of a pattern that has an id; reads all of them."""
    return next((quad for quad in store.quads(pattern) if hash_of(str(quad).encode()) == triple_id), None)


class IndexBuild:
    """Indexes one graph, from its creation. Raises `GraphBusy` while the graph is imported, or indexed elsewhere."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._written = 0
        self._error: GraphError | None = None
        self._lock = store.maintenance  # a closed store does not return it any more
        if not self._lock.acquire(blocking=False):
            raise GraphBusy(
                f"the graph of {names.namespace} is being imported or indexed",
                hint="try again in a while",
            )
        self._holds = True
        # Not a daemon: Python would end it inside foreign code. It checks for the end of the process itself.
        self._thread = threading.Thread(target=self._run, name="cortex-graph-index")
        try:
            self._thread.start()
        except BaseException:
            self._lock.release()
            raise

    @property
    def is_running(self) -> bool:
        """Whether it runs in this process; False in a fork."""
        return self._thread.is_alive()

    def wait(self, timeout_s: float | None) -> None:
        """Wait until it is done.

        Args:
            timeout_s: in seconds; None for no limit.

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
            self._error = error.with_traceback(None)  # a traceback would keep a stream of quads alive
        finally:
            if self._holds:
                self._lock.release()

    def _complete(self) -> None:
        store, names = self._store, self._names
        store.insert([[mark(names, "active")]])
        with closing(self._streamed() if store.keeps_order else self._paged()) as chunks:
            for chunk, place in chunks:
                ids = [hash_of(str(quad).encode()) for quad in chunk]
                store.apply(
                    insert=[
                        index_entry(names, triple_id, quad)
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
        """Yield the quads after the last indexed one, or all; the place of each chunk is that of its last quad."""
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
        """Yield the quads in pages, for stores whose streams can end early or change their order."""
        everything = Pattern(self._names.graph)
        cursor = next(iter(self._reached()), None)
        try:
            page = self._store.match(everything, CHUNK, cursor)
        except InvalidArguments:  # a cursor of another kind of store, of which this store is a copy
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
        """Return the last indexed triple, if it still exists."""
        return next(
            (quad for each in self._reached() if (quad := indexed_triple(self._store, self._names, each))), None
        )

    def _reached(self) -> list[str]:
        marks = reached_marks(self._store, self._names)
        return [each.object.value.removeprefix(_AFTER) for each in marks if isinstance(each.object, Literal)]

    def _make_way(self, reached: Quad) -> None:
        """Release the lock for a moment. Raises when another holder took it, or changed the index."""
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
        """Raise when the store was closed, or when the process only waits for this thread."""
        if not threading.main_thread().is_alive():
            raise GraphBusy("the process ends", hint="start it again: the index goes on where it was")
        self._store.contains(mark(self._names, "active"))


def _quads(store: GraphStore, pattern: Pattern) -> Generator[Quad, None, None]:
    """Yield the quads of a store; can be closed, unlike some iterators of stores."""
    yield from store.quads(pattern)


def _chunks(quads: Iterable[Quad]) -> Chunks:
    rest = iter(quads)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk, None
