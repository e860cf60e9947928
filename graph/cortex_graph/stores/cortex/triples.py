"""The triples of a namespace, as the API reads and writes them.

Rules kept here:
- a page is one of the server's, bounded as ours are: by what it holds, too;
- strings and the values of JSON are read as they are written. How any other literal is read is asked for, and
  remembered for a while;
- an answer that makes no sense is read once more with the server's names as they are now; then it is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.errors import InvalidArguments, invalid
from cortex_graph.index import hash_line
from cortex_graph.provenance import Provenance
from cortex_graph.store import PAGE_BYTES, Page, Pattern
from cortex_graph.stores.cortex import cursors
from cortex_graph.stores.cortex.api import Api
from cortex_graph.stores.cortex.graphs import Graphs, Spot
from cortex_graph.stores.cortex.records import to_json
from cortex_graph.stores.cortex.wire import (
    StrangeError,
    check_match,
    is_plain,
    read_row,
    read_value,
    to_pattern,
    to_triple,
    to_value,
)

PAGE = 1_000  # triples that a server's page has at most
_BATCH = 10_000
_EXACT = 100  # up to which a server's total is exact anyway
_KEPT = 4096  # literals whose spelling is remembered, if they are no longer than
_LONG = 1024

T = TypeVar("T")
Asked = TypeVar("Asked", Quad, Pattern)


class Triples:
    """The triples of a server.

    Args:
        api: the server.
        graphs: those that it has.

    """

    def __init__(self, api: Api, graphs: Graphs) -> None:
        self._api = api
        self._graphs = graphs
        self._spelt: dict[Literal, Literal] = {}

    def find(self, spot: Spot, triple_id: str) -> Quad | None:
        """The triple of an id."""
        document = self._api.find(f"triples/{quote(triple_id, safe='')}", namespace=spot.namespace)
        if document is None:
            return None
        quad = self._read(spot.names.graph, lambda names: read_row(document, names))
        if hash_line(str(quad)) != triple_id:
            raise self._api.strange("answers with a triple of another id")
        return quad

    def page(self, spot: Spot, pattern: Pattern, limit: int, cursor: str | None) -> Page:
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
        return Page.of(pattern.graph, quads, following)

    def count(self, spot: Spot, pattern: Pattern, ceiling: int | None) -> int:
        """How many triples a pattern has; counts no further than `ceiling`."""
        asked = {**to_pattern(pattern), "limit": 1}
        total, exact = self._total(self._api.post("query", asked, namespace=spot.namespace))
        if not exact and (ceiling is None or ceiling > _EXACT + 1):
            total, exact = self._total(self._api.post("query", asked, namespace=spot.namespace, exactTotal="true"))
            if not exact:
                raise self._api.strange("answers an exact count with another")
        elif not exact:
            total = _EXACT + 1
        return total if ceiling is None else min(total, ceiling)

    def create(self, quads: list[Quad], provenance: Provenance | None, spot: Spot) -> list[bool]:
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
            if stored != sent and stored != self.as_read(sent):
                raise self._api.strange(f"answers with another triple than it was sent: {str(stored)[:200]}")
        if not all(isinstance(each, bool) for each in created):
            raise self._api.strange("does not say which triples are new")
        return created

    def as_stored(self, literal: Literal) -> Literal:
        """The literal as the server gives it back; see `GraphStore`."""
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

    def as_read(self, asked: Asked) -> Asked:
        """A pattern or a quad with its object as the server spells it."""
        if isinstance(asked, Quad):
            if not isinstance(asked.object, Literal):
                return asked
            return Quad(asked.subject, asked.predicate, self.as_stored(asked.object), asked.graph_name)
        if not isinstance(asked.object_, Literal):
            return asked
        return replace(asked, object_=self.as_stored(asked.object_))

    def _total(self, document: Mapping[str, Any]) -> tuple[int, bool]:
        total, exact = document.get("total"), document.get("totalIsExact")
        if type(total) is not int or total < 0 or not isinstance(exact, bool):
            raise self._api.strange("answers a count with something else")
        return total, exact

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
