# ruff: noqa: D102 - the operations are those of `GraphStore`
"""The embedded store: Oxigraph, in memory or in a folder (RocksDB).

Rules kept here:
- every operation passes the name of its graph to Oxigraph, so no result contains quads of another graph;
- "check, then write" is done under one lock, so that of two threads that create the same quad one has created it;
- a page is found by its offset and verified by the mark of the quad before it. When that quad has moved, it is searched
  nearby; when it is gone, the pages start over: a quad may be returned twice, none is left out;
- a SPARQL query runs in a process of its own, on a snapshot, so that it can be killed (`sparql/evaluation.py`);
- one process can open a folder; another one gets `StoreLocked`. A folder with other files is refused and not changed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, wraps
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from pyoxigraph import (
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Store,
    Variable,
    serialize,
)

from cortex_graph.cancellation import Cancellation
from cortex_graph.checks.engine_errors import explained
from cortex_graph.exceptions import GraphCorrupt, GraphError, GraphUnavailable
from cortex_graph.sparql.evaluation import QueryEvaluator
from cortex_graph.sparql.recent_changes import Change
from cortex_graph.sparql.snapshots import Revisions
from cortex_graph.store import PAGE_BYTES, Changes, Dataset, Page, Pattern, QueryAnswer, Triple, triple_of
from cortex_graph.store_access.cursors import Position, mark_of, read_cursor, write_cursor
from cortex_graph.stores.change_counter import ChangeCounter
from cortex_graph.stores.change_log import (
    Touched,
    note,
    subjects_of_file,
    subjects_of_quads,
    touched_by,
)
from cortex_graph.stores.change_reader import ChangeReader, ChangesInMemory
from cortex_graph.stores.engine_folder import open_folder, remove_leftovers
from cortex_graph.stores.long_numbers import LongNumbers
from cortex_graph.workers.processes import ProcessPool

_NEARBY = 10_000  # how far from its old offset the last quad of a page is searched
_WORTH_A_QUERY = 25  # triples on a disk, from which a query is faster: parsing it takes 50 µs
_BLOCK = 32  # rows that are read at once
_COUNTS = 1000  # cached counts of patterns, each with the last write to its graph
_SHORT = 4096  # characters of the terms of such a pattern
_SETTLED_AFTER = 20_000  # quads; reading them again takes 0.4 s

_Block = tuple[list[Triple], list[bytes]]  # triples, and the line of each

Operation = TypeVar("Operation", bound=Callable[..., Any])


def _reported(operation: Operation) -> Operation:
    """Convert the exceptions of Oxigraph to `GraphUnavailable`."""

    @wraps(operation)
    def reporting(self: OxigraphStore, *args: Any, **kwargs: Any) -> Any:
        try:
            return operation(self, *args, **kwargs)
        except (OSError, RuntimeError, MemoryError) as error:
            raise self._explained(error) from error

    return cast(Operation, reporting)


def _give_back() -> None:
    """Give freed memory to the system: glibc keeps what a flush frees, so that a process grows with each flush."""
    if sys.platform == "linux":
        from ctypes import CDLL

        with suppress(AttributeError):  # another C library
            CDLL(None).malloc_trim(0)


class OxigraphStore:
    """A store in this process.

    Args:
        folder: its folder, which is made if it is missing; None for a store in memory.
        workers: the processes for its queries, which stay when it is closed; None for processes of its own.

    Raises:
        StoreLocked: the folder is open already, here or in another process.
        GraphUnavailable: the folder cannot be used.
    """

    bulk_is_atomic = True
    keeps_order = True
    damage: GraphCorrupt | None = None  # what a store that can only be read has lost

    def __init__(self, folder: Path | None = None, workers: ProcessPool | None = None) -> None:
        self.maintenance = threading.Lock()
        self._folder = folder
        self._where = "the store in memory" if folder is None else f"the store in {folder}"
        self._writing = threading.Lock()
        self._bulk = threading.Lock()
        self._unsettled = 0
        self._revisions = Revisions()
        self._changes: ChangeCounter | None = None
        self._log: ChangesInMemory | ChangeReader = ChangesInMemory() if folder is None else ChangeReader(folder)
        self._store: Store = Store()
        is_new = folder is None or not (folder / "CURRENT").exists()
        if folder is not None:
            self._store, self._changes = open_folder(folder)
        self._numbers = LongNumbers(folder, is_new=is_new)
        self._evaluation = QueryEvaluator(self._revisions, folder, self._copy, workers, lambda: self._numbers)
        self._counted = lru_cache(_COUNTS)(self._count)

    @classmethod
    def read_only(cls, folder: Path, workers: ProcessPool | None = None) -> OxigraphStore:
        """Open the store of a folder to which no process writes, such as a snapshot; the folder is not changed."""
        opened = cls(workers=workers)
        opened._where, opened._folder = f"the snapshot in {folder}", folder
        opened._numbers = LongNumbers(folder, is_new=False, is_writable=False)
        try:
            opened._store = Store.read_only(str(folder))
        except (OSError, RuntimeError, ValueError) as error:
            raise opened._explained(error) from error
        opened._evaluation.use(folder)
        return opened

    @_reported
    def contains(self, quad: Quad) -> bool:
        return quad in self._store

    @_reported
    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        store = self._store
        with self._writing:
            if len(groups) == 1:
                (group,) = groups
                if group[0] in store:
                    return [False]
                self._extend(group, 1)
                return [True]
            new: dict[Quad, Sequence[Quad]] = {}
            written = []
            for group in groups:
                written.append(group[0] not in new and group[0] not in store)
                new.setdefault(group[0], group if written[-1] else ())
            self._extend([quad for group in new.values() for quad in group], sum(written))
            return written

    @_reported
    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        about = list(about)
        touched = touched_by([quad])
        for graph, subject in about:
            note(touched, graph.value, subject.value)
        described = [f"DELETE WHERE {{ GRAPH {graph} {{ {subject} ?p ?o }} }}" for graph, subject in about]
        graphs = [*_graphs([quad]), *(graph for graph, _ in about)]
        with self._writing:
            if quad not in self._store:
                return False
            self._update(graphs, touched, [_data("DELETE", [quad]), *described], 1 + len(about))
            return True

    @_reported
    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        with self._writing:
            self._apply(list(insert), list(remove))

    def revision(self, graphs: Iterable[NamedNode]) -> str:
        return self._revisions.name(graphs)

    def changes_since(self, position: str) -> Changes:
        return self._log.since(position)

    @_reported
    def apply_at(self, revision: str, graphs: Iterable[NamedNode], insert: list[Quad], remove: list[Quad]) -> bool:
        with self._writing:
            if self._revisions.name(graphs) != revision:
                return False
            if insert or remove:
                self._apply(insert, remove)
            return True

    @_reported
    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        if cursor is None:
            offset, blocks = 0, self._slice(pattern, 0, limit + 1)
        else:
            offset, blocks = self._after(pattern, read_cursor(pattern, cursor), limit + 1)
        found: list[Triple] = []
        lines: list[bytes] = []
        room = PAGE_BYTES
        for triples, of_triples in blocks:
            fit = limit - len(found)
            if (size := sum(map(len, of_triples))) > room:
                fit = min(fit, _fitting(of_triples, room) or (not found))
            room -= size
            found += triples[:fit]
            lines += of_triples[:fit]
            if fit < len(triples):
                following = write_cursor(pattern, Position(offset + len(found), mark_of(lines[-1])))
                return Page(pattern.graph, found, lines, following)
        return Page(pattern.graph, found, lines, None)

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        try:
            # Held here: if a collection in another thread closes this generator, the iterator of the engine, which may
            # not be dropped there, would else clear the exception that closes it, and CPython 3.11 crashes.
            found = self._iterate(pattern)
            yield from found
        except (OSError, RuntimeError) as error:
            raise self._explained(error) from error

    @_reported
    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """See `GraphStore`. Cached until the graph is written to."""
        counted = self._counted if _is_short(pattern) else self._count
        return counted(pattern, ceiling, self._revisions.of((pattern.graph,)))

    @_reported
    def graph_names(self) -> list[NamedNode]:
        graphs = self._select("SELECT ?g { GRAPH ?g {} FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }")
        return [graph for row in graphs if isinstance(graph := row["g"], NamedNode)]

    @_reported
    def as_stored(self, literal: Literal) -> Literal:
        (row,) = self._select("SELECT ?literal {}", substitutions={Variable("literal"): literal})
        stored: Literal = row["literal"]
        return stored

    @_reported
    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        touched, quads = subjects_of_quads(quads)
        with self._bulk_files(touched):
            self._change(None, self._store.bulk_extend, self._numbers.checked(quads))

    @_reported
    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        self._numbers.check_file(path)
        with self._bulk_files(subjects_of_file(path, graph)):
            self._change([graph], self._store.bulk_load, path=path, format=RdfFormat.N_TRIPLES, to_graph=graph)

    @_reported
    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
        cancel: Cancellation | None = None,
    ) -> QueryAnswer:
        return self._evaluation.query(text, dataset, results, graphs, timeout_s, cancel)

    @_reported
    def snapshot(self, folder: Path) -> bool:
        if self._folder is None:
            return False
        self._store.backup(folder)
        return True

    @_reported
    def flush(self) -> None:
        with self._writing:
            if self._changes is None:
                self._store.flush()
            else:
                self._changes.flush()

    def close(self) -> None:
        self._evaluation.close()
        with self._writing:
            changes, self._changes = self._changes, None
            if changes is not None:
                changes.close()
        self._store = _Closed(self._where)  # type: ignore[assignment]
        self._counted.cache_clear()

    def _apply(self, insert: list[Quad], remove: list[Quad]) -> None:
        self._numbers.check(insert)
        operations = [_data("DELETE", remove), _data("INSERT", insert)]
        quads = [*insert, *remove]
        self._update(_graphs(quads), touched_by(quads), operations, len(quads))

    def _extend(self, quads: Sequence[Quad], changes: int) -> None:
        """Write quads in one transaction, with the number of the change."""
        self._numbers.check(quads)
        touched = touched_by(quads)
        if self._changes is None:
            self._change(_graphs(quads), self._store.extend, quads, known=quads)
            self._wrote(touched)
            return
        self._change(_graphs(quads), self._store.extend, [*quads, self._changes.next(touched, changes)], known=quads)
        self._changes.answered(changes)
        self._settle(len(quads))

    def _update(self, graphs: Collection[NamedNode], touched: Touched, operations: list[str], quads: int) -> None:
        """Execute SPARQL operations in one transaction, with the number of the change."""
        change = "; ".join(operations)
        if self._changes is None:
            self._change(graphs, self._store.update, change, known=change)
            self._wrote(touched)
            return
        numbered = f"{change}; INSERT DATA {{ {self._changes.next(touched).triple} }}"
        self._change(graphs, self._store.update, numbered, known=change)
        self._changes.answered()
        self._settle(quads)

    def _wrote(self, touched: Touched | None) -> None:
        if isinstance(self._log, ChangesInMemory):
            self._log.wrote(touched)

    def _change(
        self,
        graphs: Collection[NamedNode] | None,
        change: Callable[..., object],
        *args: Any,
        known: Change | None = None,
        **how: Any,
    ) -> None:
        """Write to some graphs, to any when None; their snapshots are stale from here on, even if it fails.

        `known` is what a copy lacks from here on; None when it is not known.
        """
        is_done = False
        try:
            change(*args, **how)
            is_done = True
        finally:
            self._revisions.wrote(graphs, known if is_done else None)

    def _settle(self, quads: int) -> None:
        """Flush after so many quads, so that the store opens quickly after a kill.

        RocksDB's log grows to gigabytes otherwise, and is read at about thirty megabytes a second.
        """
        self._unsettled += quads
        if self._changes is not None and self._unsettled >= _SETTLED_AFTER:
            self._unsettled = 0
            with suppress(OSError, RuntimeError):  # the write itself is done; the next write reports the error
                self._changes.flush()
                _give_back()

    def _copy(self, path: Path, graphs: frozenset[NamedNode]) -> None:
        """Copy the store to a folder; copy these graphs of a store in memory to a file of N-Quads."""
        if self._folder is not None:
            self._store.backup(path)
            return
        with self._writing, path.open("wb") as file:
            for graph in graphs:
                serialize(self._iterate(Pattern(graph)), file, RdfFormat.N_QUADS)

    @contextmanager
    def _bulk_files(self, touched: Touched | None) -> Iterator[None]:
        """Run one bulk operation at a time: after a failure its files, which may fill the disk, are removed.

        Args:
            touched: the subjects that it writes to.

        """
        with self._bulk:
            with self._writing:
                if self._changes is not None:
                    self._changes.begin_bulk()
            try:
                yield
            except BaseException:
                if self._folder is not None:
                    remove_leftovers(self._folder)
                raise
            finally:
                self._count_bulk(touched)

    def _count_bulk(self, touched: Touched | None) -> None:
        """Give a bulk operation its number."""
        with self._writing:
            if self._changes is None:
                self._wrote(touched)
                return
            with suppress(OSError, RuntimeError):  # of a full disk: the log of changes has a gap then
                self._store.add(self._changes.next(touched))
                self._changes.answered()
                self._changes.end_bulk()

    def _count(self, pattern: Pattern, ceiling: int | None, _revision: int) -> int:
        # Not COUNT: at a damaged block the engine's aggregates collect the same error without end.
        limit = "" if ceiling is None else f"LIMIT {ceiling}"
        return sum(1 for _ in self._select(f"SELECT ?unbound {_where(pattern)} {limit}"))

    def _iterate(self, pattern: Pattern) -> Iterator[Quad]:
        return self._store.quads_for_pattern(pattern.subject, pattern.predicate, pattern.object_, pattern.graph)

    def _select(self, query: str, **options: Any) -> QuerySolutions:
        return cast(QuerySolutions, self._store.query(query, **options))

    def _slice(self, pattern: Pattern, offset: int, length: int) -> Iterator[_Block]:
        """Yield triples and their lines, a few at a time: together they may exceed the memory."""
        subject, predicate, object_ = pattern.subject, pattern.predicate, pattern.object_
        of_many = subject is None and predicate is not None and object_ is None
        triples: Iterator[Any]
        if not offset and not (of_many and length > _WORTH_A_QUERY and self._folder is not None):
            triples = map(triple_of, islice(self._iterate(pattern), length))
        else:
            # A query skips ten times faster, and reads no bound terms. The order is the same.
            window = f"{_where(pattern)} {f'OFFSET {offset} ' if offset else ''}LIMIT {length}"
            if of_many:
                triples = ((s, predicate, o) for s, o in self._select(f"SELECT ?s ?o {window}"))
            else:
                rows = self._select(f"SELECT ?s ?p ?o {window}")
                triples = ((subject or row[0], predicate or row[1], object_ or row[2]) for row in rows)
        shared, graph = str(predicate), str(pattern.graph)
        while block := list(islice(triples, _BLOCK)):
            if predicate is None:
                yield block, [f"{s!s} {p!s} {o!s} {graph}".encode() for s, p, o in block]
            else:
                yield block, [f"{s!s} {shared} {o!s} {graph}".encode() for s, _, o in block]

    def _after(self, pattern: Pattern, last: Position, length: int) -> tuple[int, Iterator[_Block]]:
        """Return the offset after the last triple that was read, and the triples from there."""
        blocks = self._slice(pattern, last.offset - 1, length + 1)
        triples, lines = next(blocks, ([], []))
        if lines and mark_of(lines[0]) == last.mark:
            return last.offset, chain([(triples[1:], lines[1:])], blocks)
        start = max(0, last.offset - _NEARBY)
        nearby = chain.from_iterable(lines for _, lines in self._slice(pattern, start, 2 * _NEARBY))
        for place, line in enumerate(nearby, start):
            if mark_of(line) == last.mark:
                return place + 1, self._slice(pattern, place + 1, length)
        return 0, self._slice(pattern, 0, length)

    def _explained(self, error: Exception) -> GraphError:
        return explained(error, f"{self._where} failed", self._folder)


class _Closed:
    """Replaces a closed store."""

    def __init__(self, where: str) -> None:
        self._where = where

    def _refuse(self) -> NoReturn:
        raise GraphUnavailable(f"{self._where} is closed", hint="open it again")

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse()

    def __contains__(self, quad: object) -> bool:
        self._refuse()


def _fitting(lines: Iterable[bytes], room: int) -> int:
    """Return how many of the lines fit into so many bytes."""
    return sum(end <= room for end in accumulate(map(len, lines)))


def _graphs(quads: Sequence[Quad]) -> set[NamedNode]:
    return {quad.graph_name for quad in quads}  # type: ignore[misc]  # all graphs have names


def _is_short(pattern: Pattern) -> bool:
    terms = (pattern.subject, pattern.predicate, pattern.object_)
    return sum([len(term.value) for term in terms if term is not None]) <= _SHORT


def _where(pattern: Pattern) -> str:
    subject, predicate, object_ = pattern.subject or "?s", pattern.predicate or "?p", pattern.object_ or "?o"
    return f"{{ GRAPH {pattern.graph} {{ {subject} {predicate} {object_} }} }}"


def _data(verb: str, quads: Iterable[Quad]) -> str:
    return f"{verb} DATA {{ {' '.join(f'GRAPH {q.graph_name} {{ {q.triple} }}' for q in quads)} }}"
