# ruff: noqa: D102 - the operations are those of `GraphStore`
"""A store on a Cortex server: one of its namespaces is a data graph with its provenance.

Rules kept here:
- the graph `{base}NS` is the triples of `namespace=NS`, `{base}NS/provenance` its records, and
  `{base}NS/memories/AGENT` the triples of `memoriesOf=AGENT`; the base is that of the server, without other graphs. The
  index `{base}NS/index` belongs to the server: it is empty here, and writes to it are omitted, since the server
  maintains it and finds triples by their ids (`Identifying`);
- an assertion is sent with its provenance, and the server writes the record; any other change is sent quad by quad
  (`/changes`). Either is one request, and so one transaction: what exceeds one request is refused. Bulk operations take
  several requests, and so does a change of several namespaces;
- a request whose answer was lost is repeated. `insert` and `remove` may then return False for what they did;
- "check, then write" of a group that is not an assertion is two requests; threads of one process wait for each other;
- a stream of quads is read in pages: it has all quads that exist throughout, also during writes;
- results are checked (`json_terms.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.assertion_records.provenance import Provenance
from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import invalid
from cortex_graph.index.triple_index import hash_line
from cortex_graph.store import Dataset, Page, Pattern, QueryAnswer
from cortex_graph.store_access.cursors import unwrap_cursor, wrap_cursor
from cortex_graph.stores.cortex.api import CortexApi
from cortex_graph.stores.cortex.assertion_groups import provenance_of
from cortex_graph.stores.cortex.graphs import GraphKind, GraphLocation, ServerGraphs
from cortex_graph.stores.cortex.json_terms import pattern_of, to_triple
from cortex_graph.stores.cortex.server_address import ServerAddress
from cortex_graph.stores.cortex.sparql_queries import ServerQueries
from cortex_graph.stores.cortex.triple_api import PAGE, ServerTriples
from cortex_graph.stores.http.bulk import batches, read_triples

_BULK = 5_000
_BULK_SIZE = 1 << 20  # characters, which fit into a request as JSON in UTF-8
_EMPTY_PAGES = 100


class CortexStore:
    """A store on a Cortex server, which is not contacted before the first operation.

    Args:
        place: its address and credentials.
        timeout_s: the time limit of each operation, in seconds.
    """

    bulk_is_atomic = False
    keeps_order = False

    def __init__(self, place: ServerAddress, *, timeout_s: float = 30.0) -> None:
        self.maintenance = threading.Lock()
        self._api = CortexApi(place, timeout_s)
        self._graphs = ServerGraphs(self._api)
        self._queries = ServerQueries(self._api, self._graphs)
        self._writing = threading.Lock()
        self._triples = ServerTriples(self._api, self._graphs)

    def __repr__(self) -> str:
        return f"CortexStore({self._api.url!r})"

    def contains(self, quad: Quad) -> bool:
        return bool(self.match(pattern_of(quad), 1).quads)

    def find(self, graph: NamedNode, triple_id: str) -> Quad | None:
        return self._triples.find(self._graphs.locate(graph), triple_id)

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        if not groups:
            return []
        spots = {self._graphs.locate(graph) for graph in {group[0].graph_name for group in groups}}  # type: ignore[arg-type]
        if len(spots) == 1 and (spot := spots.pop()).kind is GraphKind.TRIPLES and spot.names.owner is None:
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
        spot = self._graphs.locate(_graph_of(quad))
        about = list(about)
        if spot.kind is GraphKind.TRIPLES:
            triple_id = hash_line(str(self._triples.as_read(quad)))
            record, names = spot.names.record(triple_id), spot.names
            with_record = (names.provenance_graph, record)
            if with_record in about and set(about) <= {with_record, (names.index_graph, record)}:
                return self._api.delete(f"triples/{triple_id}", **spot.asked, erase="true")
        with self._writing:
            if not self.contains(quad):
                return False
            self.apply((), [quad, *(each for graph, subject in about for each in self.quads(Pattern(graph, subject)))])
        return True

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        """See `GraphStore`. One transaction for each namespace, and for the memories of each agent."""
        changes: dict[tuple[tuple[str, str], ...], dict[str, dict[str, list[Any]]]] = {}
        for verb, quads in (("remove", remove), ("insert", insert)):
            for quad in quads:
                spot = self._graphs.locate(_graph_of(quad))
                if spot.kind is not GraphKind.INDEX:
                    parts = changes.setdefault(tuple(spot.asked.items()), {}).setdefault(verb, {})
                    kind = "triples" if spot.kind is GraphKind.TRIPLES else "records"
                    parts.setdefault(kind, []).append(to_triple(quad))
        if not changes:
            self._graphs.namespaces()  # raises when the store is closed or unreachable
        for asked, change in changes.items():
            if self._api.post("changes", change, writes=True, **dict(asked)) != {"ok": True}:
                raise self._api.strange("does not confirm a change")

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        """See `GraphStore`. Up to 1,000 quads."""
        foreign = None if cursor is None else unwrap_cursor(pattern, cursor)
        spot = self._graphs.locate(pattern.graph)
        if spot.kind is GraphKind.INDEX:
            return Page.of(pattern.graph, [], None)
        if spot.kind is GraphKind.RECORDS:
            page = self._queries.records(spot).match(pattern, limit, foreign)
        else:
            page = self._triples.page(spot, self._triples.as_read(pattern), min(limit, PAGE), foreign)
        return page if page.cursor is None else replace(page, cursor=wrap_cursor(pattern, page.cursor))

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`. Read in pages."""
        spot = self._graphs.locate(pattern.graph)
        if spot.kind is GraphKind.RECORDS:
            yield from self._queries.records(spot).quads(pattern)
        if spot.kind is not GraphKind.TRIPLES:
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
                raise self._api.strange("returns pages that do not end")
            cursor = page.cursor

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        spot = self._graphs.locate(pattern.graph)
        if ceiling == 0 or spot.kind is GraphKind.INDEX:
            return 0
        if spot.kind is GraphKind.RECORDS:
            return self._queries.records(spot).count(pattern, ceiling)
        return self._triples.count(spot, self._triples.as_read(pattern), ceiling)

    def gather(self, patterns: Sequence[Pattern]) -> list[list[Quad]]:
        """See `gathered.Gathering`. One query for what SPARQL reads there; literals and memories are asked for."""
        queried = [each for each in dict.fromkeys(patterns) if self._is_queried(each)]
        found = dict(zip(queried, self._queries.gathered(queried), strict=True)) if queried else {}
        return [found[each] if each in found else list(self.quads(each)) for each in patterns]

    def _is_queried(self, pattern: Pattern) -> bool:
        spot = self._graphs.locate(pattern.graph)
        has_own_form = spot.names.owner is not None or isinstance(pattern.object_, Literal)
        return spot.kind is GraphKind.RECORDS or (spot.kind is GraphKind.TRIPLES and not has_own_form)

    def graph_names(self) -> list[NamedNode]:
        """See `GraphStore`. The graphs of the namespaces that have triples and that the token may read."""
        base = self._graphs.base()
        namespaces = self._graphs.namespaces()
        records = self._queries.filled([NamedNode(f"{base}{name}/{GraphKind.RECORDS.value}") for name in namespaces])
        return [*(NamedNode(base + name) for name in namespaces), *records, *self._graphs.memories()]

    def as_stored(self, literal: Literal) -> Literal:
        """See `GraphStore`. Strings and JSON values are stored unchanged; the server is asked once for others."""
        return self._triples.as_stored(literal)

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """See `GraphStore`. In changes of up to 5,000 quads and about a megabyte."""
        for batch in batches(quads, _BULK, _BULK_SIZE):
            self.apply(batch)

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        try:
            self.bulk_insert(read_triples(path, graph))
        except OSError as error:
            raise self._api.client.unavailable(f"cannot load {path}: {error}") from error

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
        """See `GraphStore`. The limits of the server apply, too."""
        return self._queries.query(text, dataset, results, graphs, timeout_s, cancel)

    def snapshot(self, folder: Path) -> bool:  # noqa: ARG002
        """See `GraphStore`: there are no files."""
        return False

    def flush(self) -> None:
        """See `GraphStore`: the server writes to its disk."""
        self._api.post_nothing("flush")

    def close(self) -> None:
        self._api.client.close()


def _graph_of(quad: Quad) -> NamedNode:
    if not isinstance(quad.graph_name, NamedNode):
        raise invalid("graph", "is missing", hint="name a graph")
    return quad.graph_name


def _common(groups: Sequence[Sequence[Quad]], spot: GraphLocation) -> tuple[bool, Provenance | None]:
    """Return whether groups are triples without records; otherwise their common provenance, if they are assertions."""
    if all(len(group) == 1 for group in groups):
        return True, None
    common = provenance_of(groups[0], spot.names)
    if common is None or any(provenance_of(group, spot.names) != common for group in groups[1:]):
        return False, None
    return False, common
