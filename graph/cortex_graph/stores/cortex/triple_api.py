"""The triples of a namespace, read and written with the API.

Rules kept here:
- a page is a page of the server, with the same bounds as here: also by its size;
- strings and JSON values are read as they were written. For any other literal the server is asked how it is read, and
  the answer is cached;
- an invalid response is read once more with the current base and vocabularies of the server; then it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.assertion_records.provenance import Provenance
from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.counted import Count
from cortex_graph.store import PAGE_BYTES, Page, Pattern
from cortex_graph.store_access.cursors import MAX_WRAPPED, foreign_cursor
from cortex_graph.stores.cortex.api import CortexApi
from cortex_graph.stores.cortex.assertion_groups import to_json
from cortex_graph.stores.cortex.graphs import GraphLocation, ServerGraphs
from cortex_graph.stores.cortex.json_terms import (
    InvalidResponse,
    check_match,
    is_plain,
    read_row,
    read_value,
    to_pattern,
    to_triple,
    to_value,
)

PAGE = 1_000  # triples of a page of the server
_BATCH = 10_000
_EXACT = 100  # up to which a total of the server is always exact
_CACHED = 4096  # literals, no longer than
_LONG = 1024

T = TypeVar("T")
Asked = TypeVar("Asked", Quad, Pattern)


class ServerTriples:
    """The triples of a server."""

    def __init__(self, api: CortexApi, graphs: ServerGraphs) -> None:
        self._api = api
        self._graphs = graphs
        self._spelt: dict[Literal, Literal] = {}

    def find(self, spot: GraphLocation, triple_id: str) -> Quad | None:
        """Return the triple with an id, or with the only id that begins so."""
        document = self._api.find(f"triples/{quote(triple_id, safe='')}", **spot.asked)
        if document is None:
            return None
        quad = self._read(spot.names.graph, lambda names: read_row(document, names))
        if not hash_line(str(quad)).startswith(triple_id):
            raise self._api.strange("returns a triple with another id")
        return quad

    def page(self, spot: GraphLocation, pattern: Pattern, limit: int, cursor: str | None) -> Page:
        """Return a page with the cursor of the server."""
        asked = {**to_pattern(pattern), "limit": limit, "cursor": cursor, "onePage": True}
        try:
            document = self._api.post("query", asked, writes=False, **spot.asked)
        except InvalidArguments as error:
            if error.details.get("field") == "cursor":
                raise foreign_cursor() from error
            raise
        rows, following = document.get("matches"), document.get("nextCursor")
        if not isinstance(rows, list) or len(rows) > limit:
            raise self._api.strange(f"does not return a list of at most {limit} triples")
        if following is not None and not (
            isinstance(following, str) and following.isascii() and 0 < len(following) <= MAX_WRAPPED
        ):
            raise self._api.strange("returns an invalid cursor")
        quads = self._read(pattern.graph, lambda names: [check_match(read_row(row, names), pattern) for row in rows])
        if len(set(quads)) < len(quads):
            raise self._api.strange("returns a triple twice")
        if len(quads) > 1 and sum(len(str(quad).encode()) for quad in quads) > PAGE_BYTES:
            raise self._api.strange(f"returns a page of more than {PAGE_BYTES} bytes")
        return Page.of(pattern.graph, quads, following)

    def count(self, spot: GraphLocation, pattern: Pattern, ceiling: int | None) -> int:
        """Count the triples of a pattern, up to `ceiling`."""
        asked = {**to_pattern(pattern), "limit": 1}
        total = self._total(self._api.post("query", asked, writes=False, **spot.asked))
        if not total.is_exact and (ceiling is None or ceiling > _EXACT + 1):
            total = self._total(self._api.post("query", asked, writes=False, **spot.asked, exactTotal="true"))
            if not total.is_exact:
                raise self._api.strange("returns an inexact count")
        elif not total.is_exact:
            return _EXACT + 1 if ceiling is None else min(_EXACT + 1, ceiling)
        return total.value if ceiling is None else min(total.value, ceiling)

    def create(self, quads: list[Quad], provenance: Provenance | None, spot: GraphLocation) -> list[bool]:
        """Write triples with a record that the server makes, or without one."""
        if len(quads) > _BATCH:
            hint = "write fewer at once, or import them"
            raise invalid("triples", f"are {len(quads)}, and {self._api.url} accepts {_BATCH} at once", hint=hint)
        asked = {
            "triples": [to_triple(quad) for quad in quads],
            "provenance": None if provenance is None else to_json(provenance),
        }
        rows = self._api.post("triples/batch", asked, writes=True, **spot.asked).get("inserted")
        if not isinstance(rows, list) or len(rows) != len(quads):
            raise self._api.strange("returns another number of triples than it received")
        read = self._read(spot.names.graph, lambda names: [read_row(row, names) for row in rows])
        created = [row.get("created") for row in rows]
        for sent, stored in zip(quads, read, strict=True):
            if stored != sent and stored != self.as_read(sent):
                raise self._api.strange(f"returns another triple than it received: {str(stored)[:200]}")
        if not all(isinstance(each, bool) for each in created):
            raise self._api.strange("does not report which triples are new")
        return created

    def as_stored(self, literal: Literal) -> Literal:
        """Return the literal as the server returns it; see `GraphStore`."""
        if literal.language or is_plain(literal):
            return literal
        if known := self._spelt.get(literal):
            return known
        answer = self._api.post("objects", {"objects": [to_value(literal)]}).get("objects")
        if not isinstance(answer, list) or len(answer) != 1:
            raise self._api.strange("returns another number of objects than it received")
        try:
            spelt = read_value(answer[0], self._graphs.any_names())
        except InvalidResponse as error:
            raise self._api.strange(str(error)) from None
        if not isinstance(spelt, Literal):
            raise self._api.strange("returns something else for a literal")
        if len(literal.value) <= _LONG:
            if len(self._spelt) >= _CACHED:
                self._spelt.clear()
            self._spelt[literal] = self._spelt[spelt] = spelt
        return spelt

    def as_read(self, asked: Asked) -> Asked:
        """Return a pattern or a quad with its object as the server returns it."""
        if isinstance(asked, Quad):
            if not isinstance(asked.object, Literal):
                return asked
            return Quad(asked.subject, asked.predicate, self.as_stored(asked.object), asked.graph_name)
        if not isinstance(asked.object_, Literal):
            return asked
        return replace(asked, object_=self.as_stored(asked.object_))

    def _total(self, document: Mapping[str, Any]) -> Count:
        total, exact = document.get("total"), document.get("totalIsExact")
        if type(total) is not int or total < 0 or not isinstance(exact, bool):
            raise self._api.strange("returns something else for a count")
        return Count(total, exact)

    def _read(self, graph: NamedNode, read: Callable[[Any], T]) -> T:
        """Read a response; once more with the current base and vocabularies of the server when it is invalid."""
        try:
            return read(self._graphs.locate(graph).names)
        except InvalidResponse:
            self._graphs.forget()
        try:
            return read(self._graphs.locate(graph).names)
        except InvalidResponse as error:
            raise self._api.strange(str(error)) from None
