"""Finds what a text may mean in a namespace: a name, the id of a triple, or a part of a literal.

Rules kept here:
- each hit says where it was found: it is a name that exists, a name that begins so, an id, or a text that contains it;
- the exact name, ids and the frequent predicates and asserters cost a few reads. Names and texts are searched in the
  first `MAX_SCANNED` triples, for a few seconds at most; `is_complete` is false when there were more;
- names are compared exactly, texts without regard to the case of letters.

    >>> from cortex_graph import NamespacedGraph, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> _ = graph.create_triple({"subject": "nails", "predicate": "note", "object": "Running low"})
    >>> [(hit.where, graph.names.name(hit.node.value)) for hit in find(graph, "low").hits]
    [('text', 'mayros:nails')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode, Quad, QuerySolution

from cortex_graph.argument_checks import check_limit
from cortex_graph.assertions import PastView
from cortex_graph.exceptions import GraphBusy, InvalidArguments, QueryTimeout, invalid
from cortex_graph.namespaced import NamespacedGraph
from cortex_graph.records import select
from cortex_graph.short_ids import full_triple_id
from cortex_graph.store import Pattern, Triple
from cortex_graph.triple_index import hash_line

MAX_SCANNED = 100_000
MAX_TEXT = 200  # characters
_LIMIT = 20
_QUERY_S = 3.0
_ID = re.compile(r"[0-9a-f]{6,64}")  # or its beginning

Where = Choice["name", "id", "predicate", "asserter", "begins", "text"]


@dataclass(frozen=True, slots=True)
class FindHit:
    """What was found.

    Attributes:
        where: `name`: a resource has exactly this name; `id`: a triple has this id; `predicate`, `asserter` and
            `begins`: a predicate, an agent or skill, or a subject whose name begins so; `text`: a literal contains it.
        node: the resource; the subject of a triple.
        triple: the triple of an id or a text; None for a name.
        triple_id: its id.
    """

    where: Where
    node: NamedNode
    triple: Triple | None = None
    triple_id: str | None = None


@dataclass(frozen=True, slots=True)
class FindResult:
    """What was found, the nearest first; `is_complete` is false when not everything could be searched."""

    hits: tuple[FindHit, ...]
    is_complete: bool


def find(graph: NamespacedGraph, text: str, *, limit: int = _LIMIT) -> FindResult:
    """Return what a text may mean.

    Args:
        graph: the graph of a namespace.
        text: 1 to 200 characters.
        limit: the largest number of hits of each kind, 1 to 1,000.

    Raises:
        InvalidArguments: an argument is invalid.
    """
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_TEXT:
        raise invalid("q", f"must have 1 to {MAX_TEXT} characters")
    limit = check_limit(limit, _LIMIT)
    search = _Find(graph, text.strip(), limit)
    hits = {(hit.node, hit.triple_id): hit for hit in reversed([*search.hits()])}  # the nearest of equal hits stays
    return FindResult(tuple(reversed(hits.values())), search.is_complete)


class _Find:
    def __init__(self, graph: NamespacedGraph, text: str, limit: int) -> None:
        self._graph = graph
        self._text = text
        self._limit = limit
        self.is_complete = True

    def hits(self) -> Iterator[FindHit]:
        """Yield the hits; some may be equal."""
        graph = self._graph
        try:
            node = graph.names.node(self._text)
        except InvalidArguments:
            node = None
        if node is not None and graph.has_node(node):
            yield FindHit("name", node)
        yield from self._ids()
        if node is not None:
            yield from self._kept(node)
            yield from self._names(node)
        yield from self._texts()

    def _ids(self) -> Iterator[FindHit]:
        if not _ID.fullmatch(self._text):
            return
        try:
            ids = [full_triple_id(self._graph, self._text)]
        except InvalidArguments as error:  # none begins so, or several
            ids = error.details.get("ids", [])
        except (GraphBusy, QueryTimeout):
            self.is_complete = False
            return
        for triple_id in ids[: self._limit]:
            try:
                quad = self._graph.index.find(triple_id)
            except GraphBusy:  # the index is being completed
                self.is_complete = False
                continue
            if quad is not None and isinstance(quad.subject, NamedNode):
                yield _of_triple("id", quad)

    def _kept(self, node: NamedNode) -> Iterator[FindHit]:
        """Yield the frequent predicates and asserters of the last count that begin so."""
        counts = self._graph.counts.latest(wait_s=0.0)
        names = self._graph.names
        starts = (node.value, f"{names.graph.value}:agent:{self._text}", f"{names.graph.value}:skill:{self._text}")
        predicates = [each.predicate for each in counts.predicates if each.predicate.value.startswith(node.value)]
        asserters = [each.node for each in counts.asserters if each.node.value.startswith(starts)]
        yield from (FindHit("predicate", each) for each in predicates[: self._limit])
        yield from (FindHit("asserter", each) for each in asserters[: self._limit])

    def _names(self, node: NamedNode) -> Iterator[FindHit]:
        begins = f"FILTER(STRSTARTS(STR(?s), {Literal(node.value)}))"
        for row in self._rows(f"SELECT DISTINCT ?s {{ {{ {self._scanned('?s')} }} {begins} }}"):
            if isinstance(found := row["s"], NamedNode):
                yield FindHit("begins", found)

    def _texts(self) -> Iterator[FindHit]:
        has = f"FILTER(ISLITERAL(?o) && CONTAINS(LCASE(STR(?o)), {Literal(self._text.lower())}))"
        for row in self._rows(f"SELECT ?s ?p ?o {{ {{ {self._scanned('?s ?p ?o')} }} {has} }}"):
            subject, predicate, object_ = row["s"], row["p"], row["o"]
            if isinstance(subject, NamedNode) and isinstance(predicate, NamedNode) and isinstance(object_, Literal):
                yield _of_triple("text", Quad(subject, predicate, object_, self._graph.names.graph))

    def _scanned(self, variables: str) -> str:
        return f"SELECT {variables} {{ ?s ?p ?o }} LIMIT {MAX_SCANNED}"

    def _rows(self, text: str) -> list[QuerySolution]:
        graph, store = self._graph.names.graph, self._graph.store
        today = store.base if isinstance(store, PastView) else store
        if today.count(Pattern(graph), MAX_SCANNED + 1) > MAX_SCANNED:
            self.is_complete = False
        try:
            rows = select(store, graph, f"{text} LIMIT {self._limit + 1}", timeout_s=_QUERY_S)
        except QueryTimeout:
            self.is_complete = False
            return []
        if len(rows) > self._limit:
            self.is_complete = False
        return rows[: self._limit]


def _of_triple(where: Where, quad: Quad) -> FindHit:
    subject, predicate, object_ = quad.subject, quad.predicate, quad.object
    assert isinstance(subject, NamedNode)  # noqa: S101 - checked by the callers
    assert isinstance(object_, NamedNode | Literal)  # noqa: S101 - no other terms are stored
    return FindHit(where, subject, (subject, predicate, object_), hash_line(str(quad)))
