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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat, parse, serialize

from cortex_graph.errors import InvalidArguments, invalid
from cortex_graph.index import hash_line
from cortex_graph.provenance import Provenance
from cortex_graph.store import PAGE_BYTES, Answer, Dataset, Page, Pattern
from cortex_graph.stores.cortex import cursors
from cortex_graph.stores.cortex.api import Api
from cortex_graph.stores.cortex.graphs import Graphs, Kind, Spot
from cortex_graph.stores.cortex.place import Place
from cortex_graph.stores.cortex.queries import Queries
from cortex_graph.stores.cortex.records import provenance_of, to_json
from cortex_graph.stores.cortex.wire import (
    StrangeError,
    check_match,
    is_plain,
    pattern_of,
    read_row,
    read_value,
    to_pattern,
    to_triple,
    to_value,
)
from cortex_graph.stores.remote.wire import portions

_PAGE = 1_000
_BATCH = 10_000
_BULK = 5_000
_BULK_SIZE = 1 << 20  # characters: as JSON in UTF-8 they have room in a request, whatever they are
_EXACT = 100  # up to which a server's total is exact anyway
_EMPTY_PAGES = 100
_KEPT = 4096  # literals whose spelling is remembered, if they are no longer than
_LONG = 1024

T = TypeVar("T")


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
        self._spelt: dict[Literal, Literal] = {}

    def __repr__(self) -> str:
        return f"CortexStore({self._api.url!r})"

    def contains(self, quad: Quad) -> bool:
        """See `GraphStore`."""
        return bool(self.match(pattern_of(quad), 1).quads)

    def find(self, graph: NamedNode, triple_id: str) -> Quad | None:
        """See `Identifying`."""
        spot = self._graphs.locate(graph)
        document = self._api.find(f"triples/{triple_id}", namespace=spot.namespace)
        if document is None:
            return None
        quad = self._read(graph, lambda found: read_row(document, found))
        if hash_line(str(quad)) != triple_id:
            raise self._api.strange("answers with a triple of another id")
        return quad

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """See `GraphStore`."""
        if not groups:
            return []
        spots = {self._graphs.locate(graph) for graph in {group[0].graph_name for group in groups}}  # type: ignore[arg-type]
        if len(spots) == 1 and (spot := spots.pop()).kind is Kind.TRIPLES:
            plain, provenance = self._common(groups, spot)
            if plain or provenance is not None:
                return self._create([group[0] for group in groups], provenance, spot)
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
            triple_id = hash_line(str(self._as_read(quad)))
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
            return Page([], None)
        if spot.kind is Kind.RECORDS:
            page = self._queries.records(spot).match(pattern, limit, foreign)
        else:
            page = self._page(spot, self._as_read(pattern), min(limit, _PAGE), foreign)
        return page if page.cursor is None else Page(page.quads, cursors.wrap(pattern, page.cursor))

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`. In pages."""
        spot = self._graphs.locate(pattern.graph)
        if spot.kind is Kind.RECORDS:
            yield from self._queries.records(spot).quads(pattern)
        if spot.kind is not Kind.TRIPLES:
            return
        pattern = self._as_read(pattern)
        cursor, empty = None, 0
        while True:
            page = self._page(spot, pattern, _PAGE, cursor)
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
        asked = {**to_pattern(self._as_read(pattern)), "limit": 1}
        total, exact = self._total(self._api.post("query", asked, namespace=spot.namespace))
        if not exact and (ceiling is None or ceiling > _EXACT + 1):
            total, exact = self._total(self._api.post("query", asked, namespace=spot.namespace, exactTotal="true"))
            if not exact:
                raise self._api.strange("answers an exact count with another")
        elif not exact:
            total = _EXACT + 1
        return total if ceiling is None else min(total, ceiling)

    def graph_names(self) -> list[NamedNode]:
        """See `GraphStore`. Those of the namespaces that hold triples and are the token's."""
        base = self._graphs.base()
        namespaces = self._graphs.namespaces()
        records = self._queries.filled([NamedNode(f"{base}{name}/{Kind.RECORDS.value}") for name in namespaces])
        return [*(NamedNode(base + name) for name in namespaces), *records]

    def as_stored(self, literal: Literal) -> Literal:
        """See `GraphStore`. Strings and the values of JSON are kept as they are; others are asked for, once."""
        if literal.language or is_plain(literal):
            return literal
        if known := self._spelt.get(literal):
            return known
        answer = self._api.post("objects", {"objects": [to_value(literal)]}).get("objects")
        if not isinstance(answer, list) or len(answer) != 1:
            raise self._api.strange("answers one object with another number of them")
        try:
            spelt = read_value(answer[0], self._graphs.any_names())
        except StrangeError as error:
            raise self._api.strange(str(error)) from None
        if not isinstance(spelt, Literal):
            raise self._api.strange("answers a literal with something else")
        if len(literal.value) <= _LONG:
            if len(self._spelt) >= _KEPT:
                self._spelt.clear()
            self._spelt[literal] = self._spelt[spelt] = spelt
        return spelt

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """See `GraphStore`. In changes of up to 5,000 quads and about a megabyte."""
        for portion in portions(quads, _BULK, _BULK_SIZE):
            self.apply(portion)

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """See `GraphStore`."""
        try:
            triples = parse(path=path, format=RdfFormat.N_TRIPLES)
            self.bulk_insert(Quad(quad.subject, quad.predicate, quad.object, graph) for quad in triples)
        except OSError as error:
            raise self._api.client.unavailable(f"was to load {path}, which cannot be read: {error}") from error

    def dump(self, graph: NamedNode, output: IO[bytes], form: RdfFormat, prefixes: Mapping[str, str]) -> None:
        """See `GraphStore`."""
        quads: Iterable[Any] = self.quads(Pattern(graph))
        if not form.supports_datasets:
            quads = (quad.triple for quad in quads)
        serialize(quads, output, form, prefixes=dict(prefixes))

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
    ) -> Answer:
        """See `GraphStore`. The server's own limits hold, too."""
        return self._queries.query(text, dataset, results, graphs, timeout_s)

    def snapshot(self, folder: Path) -> bool:  # noqa: ARG002
        """See `GraphStore`: there are no files here."""
        return False

    def flush(self) -> None:
        """See `GraphStore`: the server puts it on its disk."""
        self._api.post_nothing("flush")

    def close(self) -> None:
        """See `GraphStore`."""
        self._api.client.close()

    def _page(self, spot: Spot, pattern: Pattern, limit: int, cursor: str | None) -> Page:
        """A page with the server's own cursor."""
        asked = {**to_pattern(pattern), "limit": limit, "cursor": cursor, "onePage": True}
        try:
            document = self._api.post("query", asked, namespace=spot.namespace)
        except InvalidArguments as error:
            if error.details.get("field") == "cursor":
                raise cursors.refused() from error
            raise
        rows, following = document.get("matches"), document.get("nextCursor")
        if not isinstance(rows, list) or len(rows) > limit:
            raise self._api.strange(f"answers with no list of at most {limit} triples")
        if following is not None and not (
            isinstance(following, str) and following.isascii() and 0 < len(following) <= cursors.LONGEST
        ):
            raise self._api.strange("answers with a cursor that is none")
        quads = self._read(pattern.graph, lambda names: [check_match(read_row(row, names), pattern) for row in rows])
        if len(set(quads)) < len(quads):
            raise self._api.strange("answers with a triple twice")
        if len(quads) > 1 and sum(len(str(quad).encode()) for quad in quads) > PAGE_BYTES:
            raise self._api.strange(f"answers with a page of more than {PAGE_BYTES} bytes")
        return Page(quads, following)

    def _create(self, quads: list[Quad], provenance: Provenance | None, spot: Spot) -> list[bool]:
        """Have triples written with a record that the server makes, or with none."""
        if len(quads) > _BATCH:
            hint = "write fewer at once, or import them"
            raise invalid("triples", f"are {len(quads)}, and {self._api.url} takes {_BATCH} at once", hint=hint)
        asked = {
            "triples": [to_triple(quad) for quad in quads],
            "provenance": None if provenance is None else to_json(provenance),
        }
        rows = self._api.post("triples/batch", asked, writes=True, namespace=spot.namespace).get("inserted")
        if not isinstance(rows, list) or len(rows) != len(quads):
            raise self._api.strange("answers with another number of triples than it was sent")
        read = self._read(spot.names.graph, lambda names: [read_row(row, names) for row in rows])
        created = [row.get("created") for row in rows]
        for sent, stored in zip(quads, read, strict=True):
            if stored not in (sent, self._as_read(sent)):
                raise self._api.strange(f"answers with another triple than it was sent: {str(stored)[:200]}")
        if not all(isinstance(each, bool) for each in created):
            raise self._api.strange("does not say which triples are new")
        return created

    def _common(self, groups: Sequence[Sequence[Quad]], spot: Spot) -> tuple[bool, Provenance | None]:
        """Whether groups are triples without records; else the one provenance of all, if they are assertions."""
        if all(len(group) == 1 for group in groups):
            return True, None
        common = provenance_of(groups[0], spot.names)
        if common is None or any(provenance_of(group, spot.names) != common for group in groups[1:]):
            return False, None
        return False, common

    def _total(self, document: Mapping[str, Any]) -> tuple[int, bool]:
        total, exact = document.get("total"), document.get("totalIsExact")
        if type(total) is not int or total < 0 or not isinstance(exact, bool):
            raise self._api.strange("answers a count with something else")
        return total, exact

    def _as_read(self, asked: Any) -> Any:
        """A pattern or a quad with its object as the server spells it."""
        if isinstance(asked, Quad):
            if not isinstance(asked.object, Literal):
                return asked
            return Quad(asked.subject, asked.predicate, self.as_stored(asked.object), asked.graph_name)
        if not isinstance(asked.object_, Literal):
            return asked
        return Pattern(asked.graph, asked.subject, asked.predicate, self.as_stored(asked.object_))

    def _read(self, graph: NamedNode, read: Callable[[Any], T]) -> T:
        """What an answer says; read again with the server's spelling of names as it is now, when it makes no sense."""
        try:
            return read(self._graphs.locate(graph).names)
        except StrangeError:
            self._graphs.forget()
        try:
            return read(self._graphs.locate(graph).names)
        except StrangeError as error:
            raise self._api.strange(str(error)) from None


def _graph_of(quad: Quad) -> NamedNode:
    if not isinstance(quad.graph_name, NamedNode):
        raise invalid("graph", "is none", hint="name a graph")
    return quad.graph_name
