"""A store on a Cortex server: one of its namespaces is a data graph with its provenance.

Rules kept here:
- the graph `{base}NS` is the triples of `namespace=NS`, and `{base}NS/provenance` its records; the base is the
  server's, and other graphs are none of it. The index `{base}NS/index` is the server's own: it is empty here, and what
  is written to it is left out, since the server writes it itself and finds triples by their ids (`Identifying`);
- an assertion goes with its provenance, and the server writes the record; any other change goes quad by quad
  (`/changes`). Either is one request, and so one transaction: what has no room in one is refused. The bulk operations
  take several, and so does a change of several namespaces;
- a request whose answer was lost is made again. `insert` and `remove` may then answer false for what they did;
- "is it there, then write" of a group that is no assertion is two requests; threads of one process wait for each other;
- a stream of quads is read in pages: what is there throughout is in it, while others write;
- what comes back is checked (`wire.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.errors import invalid
from cortex_graph.files import read_triples
from cortex_graph.index import hash_line
from cortex_graph.provenance import Provenance
from cortex_graph.stopping import Stop
from cortex_graph.store import Answer, Dataset, Page, Pattern
from cortex_graph.stores.cortex import cursors
from cortex_graph.stores.cortex.api import Api
from cortex_graph.stores.cortex.graphs import Graphs, Kind, Spot
from cortex_graph.stores.cortex.place import Place
from cortex_graph.stores.cortex.queries import Queries
from cortex_graph.stores.cortex.records import provenance_of
from cortex_graph.stores.cortex.triples import PAGE, Triples
from cortex_graph.stores.cortex.wire import pattern_of, to_triple
from cortex_graph.stores.http.portions import portions

_BULK = 5_000
_BULK_SIZE = 1 << 20  # characters: as JSON in UTF-8 they have room in a request, whatever they are
_EMPTY_PAGES = 100


class CortexStore:
    """A store on a Cortex server. Nothing is asked of it before the first operation.

    Args:
        place: where it is, and who we are.
        timeout_s: how long each operation may take, in seconds.

    """

    bulk_is_atomic = False
    keeps_order = False

    def __init__(self, place: Place, *, timeout_s: float = 30.0) -> None:
        self.maintenance = threading.Lock()
        self._api = Api(place, timeout_s)
        self._graphs = Graphs(self._api)
        self._queries = Queries(self._api, self._graphs)
        self._writing = threading.Lock()
        self._triples = Triples(self._api, self._graphs)

    def __repr__(self) -> str:
        return f"CortexStore({self._api.url!r})"

    def contains(self, quad: Quad) -> bool:
        """See `GraphStore`."""
        return bool(self.match(pattern_of(quad), 1).quads)

    def find(self, graph: NamedNode, triple_id: str) -> Quad | None:
        """See `Identifying`."""
        return self._triples.find(self._graphs.locate(graph), triple_id)

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """See `GraphStore`."""
        if not groups:
            return []
        spots = {self._graphs.locate(graph) for graph in {group[0].graph_name for group in groups}}  # type: ignore[arg-type]
        if len(spots) == 1 and (spot := spots.pop()).kind is Kind.TRIPLES:
            plain, provenance = _common(groups, spot)
            if plain or provenance is not None:
                return self._triples.create([group[0] for group in groups], provenance, spot)
        with self._writing:
            new: dict[Quad, Sequence[Quad]] = {}
            written = []
            for group in groups:
                written.append(group[0] not in new and not self.contains(group[0]))
                if written[-1]:
                    new[group[0]] = group
            self.apply(quad for group in new.values() for quad in group)
        return written

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        """See `GraphStore`."""
        spot = self._graphs.locate(_graph_of(quad))
        about = list(about)
        if spot.kind is Kind.TRIPLES:
            triple_id = hash_line(str(self._triples.as_read(quad)))
            record, names = spot.names.record(triple_id), spot.names
            with_record = (names.provenance_graph, record)
            if with_record in about and set(about) <= {with_record, (names.index_graph, record)}:
                return self._api.delete(f"triples/{triple_id}", namespace=spot.namespace)
        with self._writing:
            if not self.contains(quad):
                return False
            self.apply((), [quad, *(each for graph, subject in about for each in self.quads(Pattern(graph, subject)))])
        return True

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        """See `GraphStore`. One transaction for each namespace."""
        changes: dict[str, dict[str, dict[str, list[Any]]]] = {}
        for verb, quads in (("remove", remove), ("insert", insert)):
            for quad in quads:
                spot = self._graphs.locate(_graph_of(quad))
                if spot.kind is not Kind.INDEX:
                    parts = changes.setdefault(spot.namespace, {}).setdefault(verb, {})
                    kind = "triples" if spot.kind is Kind.TRIPLES else "records"
                    parts.setdefault(kind, []).append(to_triple(quad))
        if not changes:
            self._graphs.namespaces()  # a store that is closed or gone says so
        for namespace, change in changes.items():
            if self._api.post("changes", change, writes=True, namespace=namespace) != {"ok": True}:
                raise self._api.strange("does not say that a change was made")

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        """See `GraphStore`. Up to 1,000 quads."""
        foreign = None if cursor is None else cursors.unwrap(pattern, cursor)
        spot = self._graphs.locate(pattern.graph)
        if spot.kind is Kind.INDEX:
            return Page.of(pattern.graph, [], None)
        if spot.kind is Kind.RECORDS:
            page = self._queries.records(spot).match(pattern, limit, foreign)
        else:
            page = self._triples.page(spot, self._triples.as_read(pattern), min(limit, PAGE), foreign)
        return page if page.cursor is None else replace(page, cursor=cursors.wrap(pattern, page.cursor))

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`. In pages."""
        spot = self._graphs.locate(pattern.graph)
        if spot.kind is Kind.RECORDS:
            yield from self._queries.records(spot).quads(pattern)
        if spot.kind is not Kind.TRIPLES:
            return
        pattern = self._triples.as_read(pattern)
        cursor, empty = None, 0
        while True:
            page = self._triples.page(spot, pattern, PAGE, cursor)
            yield from page.quads
            empty = 0 if page.quads else empty + 1
            if page.cursor is None:
                return
            if page.cursor == cursor or empty > _EMPTY_PAGES:
                raise self._api.strange("answers with pages that do not end")
            cursor = page.cursor

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """See `GraphStore`."""
        spot = self._graphs.locate(pattern.graph)
        if ceiling == 0 or spot.kind is Kind.INDEX:
            return 0
        if spot.kind is Kind.RECORDS:
            return self._queries.records(spot).count(pattern, ceiling)
        return self._triples.count(spot, self._triples.as_read(pattern), ceiling)

    def graph_names(self) -> list[NamedNode]:
        """See `GraphStore`. Those of the namespaces that hold triples and are the token's."""
        base = self._graphs.base()
        namespaces = self._graphs.namespaces()
        records = self._queries.filled([NamedNode(f"{base}{name}/{Kind.RECORDS.value}") for name in namespaces])
        return [*(NamedNode(base + name) for name in namespaces), *records]

    def as_stored(self, literal: Literal) -> Literal:
        """See `GraphStore`. Strings and the values of JSON are kept as they are; others are asked for, once."""
        return self._triples.as_stored(literal)

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """See `GraphStore`. In changes of up to 5,000 quads and about a megabyte."""
        for portion in portions(quads, _BULK, _BULK_SIZE):
            self.apply(portion)

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """See `GraphStore`."""
        try:
            self.bulk_insert(read_triples(path, graph))
        except OSError as error:
            raise self._api.client.unavailable(f"was to load {path}, which cannot be read: {error}") from error

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
        stop: Stop | None = None,
    ) -> Answer:
        """See `GraphStore`. The server's own limits hold, too."""
        return self._queries.query(text, dataset, results, graphs, timeout_s, stop)

    def snapshot(self, folder: Path) -> bool:  # noqa: ARG002
        """See `GraphStore`: there are no files here."""
        return False

    def flush(self) -> None:
        """See `GraphStore`: the server puts it on its disk."""
        self._api.post_nothing("flush")

    def close(self) -> None:
        """See `GraphStore`."""
        self._api.client.close()


def _graph_of(quad: Quad) -> NamedNode:
    if not isinstance(quad.graph_name, NamedNode):
        raise invalid("graph", "is none", hint="name a graph")
    return quad.graph_name


def _common(groups: Sequence[Sequence[Quad]], spot: Spot) -> tuple[bool, Provenance | None]:
    """Whether groups are triples without records; else the one provenance of all, if they are assertions."""
    if all(len(group) == 1 for group in groups):
        return True, None
    common = provenance_of(groups[0], spot.names)
    if common is None or any(provenance_of(group, spot.names) != common for group in groups[1:]):
        return False, None
    return False, common
