"""Finds what a text may name in a namespace: a resource, a triple by its id, a predicate, an agent or a skill.

Rules kept here:
- each hit has where it was found: it is a name that exists, an id, or a name of a predicate or an asserter that begins
  so;
- all of it costs a few reads. Words of names and texts are found by an index (the feature `finder` of the plugin);
- names are compared exactly.

    >>> from cortex_graph import NamespacedGraph, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> _ = graph.create_triple({"subject": "nails", "predicate": "note", "object": "Running low"})
    >>> [(hit.where, graph.names.name(hit.node.value)) for hit in find(graph, "nails").hits]
    [('name', 'mayros:nails')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Choice

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.checks.argument_checks import check_limit
from cortex_graph.exceptions import GraphBusy, InvalidArguments, QueryTimeout, invalid
from cortex_graph.index.triple_index import hash_line
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.namespace.short_ids import full_triple_id
from cortex_graph.store import Triple

MAX_TEXT = 200  # characters
_LIMIT = 20
_ID = re.compile(r"[0-9a-f]{6,64}")  # or its beginning

Where = Choice["name", "id", "predicate", "asserter", "begins", "text"]


@dataclass(frozen=True, slots=True)
class FindHit:
    """What was found.

    Attributes:
        where: `name`: a resource has exactly this name; `id`: a triple has this id; `predicate` and `asserter`: a
            predicate, or an agent or skill whose name begins so; `begins`: the name of a subject has its words, or
            begins so; `text`: a literal has them.
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
    """What was found, the nearest first; `reason` is why it may not be all, where `is_complete` is false."""

    hits: tuple[FindHit, ...]
    is_complete: bool
    reason: str = ""


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
    reason = "" if search.is_complete else "the index of the ids of triples is being completed"
    return FindResult(tuple(reversed(hits.values())), search.is_complete, reason)


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
            node = graph.node_of(self._text)
        except InvalidArguments:
            node = None
        if node is not None and graph.has_node(node):
            yield FindHit("name", node)
        yield from self._ids()
        if node is not None:
            yield from self._kept(node)

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
                yield hit_of_triple("id", quad)

    def _kept(self, node: NamedNode) -> Iterator[FindHit]:
        """Yield the frequent predicates and asserters of the last count that begin so."""
        counts = self._graph.counts.latest(wait_s=0.0)
        names = self._graph.names
        starts = (node.value, f"{names.graph.value}:agent:{self._text}", f"{names.graph.value}:skill:{self._text}")
        predicates = [each.predicate for each in counts.predicates if each.predicate.value.startswith(node.value)]
        asserters = [each.node for each in counts.asserters if each.node.value.startswith(starts)]
        yield from (FindHit("predicate", each) for each in predicates[: self._limit])
        yield from (FindHit("asserter", each) for each in asserters[: self._limit])


def hit_of_triple(where: Where, quad: Quad) -> FindHit:
    """Return the hit of a triple."""
    subject, predicate, object_ = quad.subject, quad.predicate, quad.object
    assert isinstance(subject, NamedNode)  # noqa: S101 - checked by the callers
    assert isinstance(object_, NamedNode | Literal)  # noqa: S101 - no other terms are stored
    return FindHit(where, subject, (subject, predicate, object_), hash_line(str(quad)))
