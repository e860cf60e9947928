# ruff: noqa: D102 - the operations are those of `GraphStore`
"""A store as it was at a moment, for reading.

Rules kept here:
- it has the graphs of some namespaces and their provenance graphs as of the moment (`past_records.py`), and no others;
- a page costs the records of its triples, not the changes since; the triples that were withdrawn since follow those of
  today, in the order of their ids;
- a cursor is bound to the pattern and to the moment;
- SPARQL is evaluated over a copy that has the changes since undone (`past_copy.py`);
- nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.as_of.past_copy import copied
from cortex_graph.as_of.past_records import PastRecords
from cortex_graph.cancellation import Cancellation
from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import QueryLimit, invalid
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.store import PAGE_BYTES, Dataset, GraphStore, Page, Pattern, QueryAnswer, triple_of
from cortex_graph.store_access.cursors import foreign_cursor, unwrap_cursor, wrap_cursor

MAX_COUNTED = 100_000  # triples that are counted without a ceiling
_SCANNED = 2_000  # triples of today that are looked at for one page
_BATCH = 100
_ID = re.compile(r"[0-9a-f]{64}")
_PLACE = re.compile(r"t.*|w(?:[0-9a-f]{64})?|o\d{1,8}", re.ASCII)  # of today, restored, an offset


class PastStore:
    """A store as of a moment. To be used by one thread at a time.

    Args:
        store: of today.
        records: those of each namespace; all of one moment.
    """

    bulk_is_atomic = False
    keeps_order = True  # its records are read one by one, since a query copies them

    def __init__(self, store: GraphStore, records: Iterable[PastRecords]) -> None:
        self.base = store
        self.maintenance = Lock()
        self.records = tuple(records)
        self._data = {each.names.graph: each for each in self.records}
        self._indexes = {each.names.index_graph for each in self.records}
        self._provenance = {each.names.provenance_graph: each for each in self.records}
        first = self.records[0]
        self.moment = first.moment
        self._bound = f"{date_time(first.moment)} {first.undated}"

    def contains(self, quad: Quad) -> bool:
        pattern = Pattern(quad.graph_name, quad.subject, quad.predicate, quad.object)  # type: ignore[arg-type]
        return any(True for _ in self.quads(pattern))

    def find(self, graph: NamedNode, triple_id: str) -> Quad | None:
        """See `Identifying`."""
        if graph not in self._data or not _ID.fullmatch(triple_id):
            return None
        past = self._of(graph)
        if (restored := past.restored.get(triple_id)) is not None:
            return restored.quad
        quad = TripleIndex(self.base, past.names).find(triple_id)
        return quad if quad is not None and past.shows([str(quad).encode()])[0] else None

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        if pattern.graph in self._indexes:  # `find` needs none
            return Page.of(pattern.graph, [], None)
        kind, place = self._place(pattern, cursor)
        past = self._of(pattern.graph)
        if pattern.graph in self._provenance:
            return self._records_page(past, pattern, limit, kind, place)
        quads: list[Quad] = []
        room = PAGE_BYTES
        if kind == "t":
            scanned, following = 0, place or None
            while True:
                page = self.base.match(pattern, limit - len(quads), following)
                kept = zip(page.triples, page.lines, past.shows(page.lines), strict=True)
                for triple, line, is_shown in kept:
                    if is_shown:
                        quads.append(Quad(*triple, pattern.graph))
                        room -= len(line)
                scanned, following = scanned + len(page.triples), page.cursor
                if following is None:
                    break
                if len(quads) >= limit or scanned >= _SCANNED or room <= 0:
                    return Page.of(pattern.graph, quads, self._cursor(pattern, "t", following))
            place = ""
        for triple_id, quad in self._restored(past, pattern, place):
            room -= len(str(quad).encode())
            if len(quads) >= limit or (quads and room < 0):
                return Page.of(pattern.graph, quads, self._cursor(pattern, "w", place))
            quads.append(quad)
            place = triple_id
        return Page.of(pattern.graph, quads, None)

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        if pattern.graph in self._indexes:
            return
        past = self._of(pattern.graph)
        if pattern.graph in self._provenance:
            yield from self._record_quads(past, pattern)
            return
        today = iter(self.base.quads(pattern))
        while some := list(islice(today, _BATCH)):
            shown = past.shows([str(quad).encode() for quad in some])
            yield from (quad for quad, is_shown in zip(some, shown, strict=True) if is_shown)
        yield from (quad for _, quad in self._restored(past, pattern, ""))

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """See `GraphStore`; without a ceiling up to 100,000.

        Raises:
            QueryLimit: there are more.
        """
        counted = sum(1 for _ in islice(self.quads(pattern), MAX_COUNTED + 1 if ceiling is None else ceiling))
        if ceiling is None and counted > MAX_COUNTED:
            raise QueryLimit(
                f"more than {MAX_COUNTED:,} triples match, which are not counted as of a moment",
                hint="bind more of the pattern, or count with a query",
                details={"field": "asOf"},
            )
        return counted

    def graph_names(self) -> list[NamedNode]:
        return [graph for graph in (*self._data, *self._provenance) if self.count(Pattern(graph), 1)]

    def as_stored(self, literal: Literal) -> Literal:
        return self.base.as_stored(literal)

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
        """See `GraphStore`.

        Raises:
            QueryLimit: too much was changed since, or the store has no files and too many triples.
        """
        for graph in (*dataset.default, *dataset.named):
            self._of(graph)
        asks_records = any(graph in self._provenance for graph in dataset.default) or "graph" in text.lower()
        with ExitStack() as stack:
            copy = stack.enter_context(copied(self.base, self.records, self.quads, with_records=asks_records))
            answer = copy.query(text, dataset, results=results, graphs=graphs, timeout_s=timeout_s, cancel=cancel)
            chunks = _until_end(answer.chunks, stack.pop_all())
        next(chunks)
        return replace(answer, chunks=chunks)

    def read_as(self, graph: NamedNode, nodes: Sequence[NamedNode]) -> list[NamedNode | None]:
        """Return as what some nodes of a provenance graph are read; None for those that were not there."""
        return self._of(graph).read_as(nodes)

    def snapshot(self, folder: Path) -> bool:  # noqa: ARG002
        """See `GraphStore`: there are no files."""
        return False

    def flush(self) -> None:
        """See `GraphStore`: nothing was written."""

    def close(self) -> None:
        """See `GraphStore`: the store of today stays open."""

    def insert(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse the change."""
        raise invalid("asOf", "is for reading: nothing was written", hint="write to the graph of today")

    remove = apply = bulk_insert = bulk_load = insert

    def _of(self, graph: NamedNode) -> PastRecords:
        past = self._data.get(graph) or self._provenance.get(graph)
        if past is None:
            raise invalid("asOf", f"is not known for {graph}", hint="read the graphs of a namespace")
        past.refresh()
        return past

    def _restored(self, past: PastRecords, pattern: Pattern, after: str) -> Iterator[tuple[str, Quad]]:
        """Yield the triples that match, were withdrawn since, and are not there by their present records."""
        for triple_id, restored in past.restored.items():
            quad = restored.quad
            if triple_id <= after or not _matches(pattern, quad):
                continue
            if not (self.base.contains(quad) and past.shows([str(quad).encode()])[0]):
                yield triple_id, quad

    def _records_page(self, past: PastRecords, pattern: Pattern, limit: int, kind: str, place: str) -> Page:
        if pattern.subject is not None:  # a record has few statements
            start = int(place) if kind == "o" else 0
            quads = list(islice(self._record_quads(past, pattern), start, start + limit + 1))
            more = self._cursor(pattern, "o", str(start + limit)) if len(quads) > limit else None
            return Page.of(pattern.graph, quads[:limit], more)
        page = self.base.match(pattern, limit, place or None)
        more = None if page.cursor is None else self._cursor(pattern, "t", page.cursor)
        return Page.of(pattern.graph, past.as_of(page.quads), more)

    def _record_quads(self, past: PastRecords, pattern: Pattern) -> Iterator[Quad]:
        if pattern.subject is None:
            stream = iter(self.base.quads(pattern))
            while some := list(islice(stream, _BATCH)):
                yield from past.as_of(some)
            return
        nodes = past.nodes_read_as(pattern.subject)
        read_as = (Pattern(pattern.graph, node, pattern.predicate, pattern.object_) for node in nodes)
        today = chain.from_iterable(map(self.base.quads, read_as))
        yield from (quad for quad in past.as_of(today) if quad.subject == pattern.subject)

    def _cursor(self, pattern: Pattern, kind: str, place: str) -> str:
        return wrap_cursor(pattern, f"{self._bound} {kind}{place}")

    def _place(self, pattern: Pattern, cursor: str | None) -> tuple[str, str]:
        if cursor is None:
            return "t", ""
        bound, _, rest = unwrap_cursor(pattern, cursor).rpartition(" ")
        if bound != self._bound or not _PLACE.fullmatch(rest):
            raise foreign_cursor()
        return rest[0], rest[1:]


def _matches(pattern: Pattern, quad: Quad) -> bool:
    asked = (pattern.subject, pattern.predicate, pattern.object_)
    return all(term is None or term == given for term, given in zip(asked, triple_of(quad), strict=True))


def _until_end(chunks: Generator[bytes, None, None], stack: ExitStack) -> Generator[bytes, None, None]:
    """Yield nothing once, then the chunks; then remove the copy."""
    with stack:
        try:
            yield b""
            yield from chunks
        finally:
            chunks.close()
