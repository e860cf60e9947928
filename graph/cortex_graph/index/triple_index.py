r"""Finds triples by their ids.

Rules kept here:
- the id is the SHA-256, in hexadecimal, of the canonical N-Quads line of the quad (RDFC-1.0 §6), line feed included:
  `<s> <p> "o" <g> .\n`. The graph is part of it, so the same statement in two namespaces has two ids;
- an id is looked up, cheapest first: in the recent triples of this process, in the provenance records, in the index
  graph `{base}NS/index`; a result counts only if it has that id and is in the graph;
- the index costs more than the triple itself, so it is begun only when it is needed: with the first id of a large graph
  that is not found. The graph is read once then, and every new triple is indexed from there on;
- an import marks the index as incomplete, and the next id that is not found completes it;
- a store that finds triples by their ids itself (`Identifying`) has no index here;
- completing the index takes minutes for millions of triples, so it runs in the background (`index_build.py`); meanwhile
  the answer for an id that is not found is `graph_busy`.

The index graph has, for a triple `s p o`, the quad `{base}NS/triple/HASH p s`; marks record `active`, `complete`, and
the progress.
"""

from __future__ import annotations

import threading

from pyoxigraph import Quad

from cortex_graph.assertion_records.provenance import recorded_triple
from cortex_graph.index import index_build
from cortex_graph.index.index_build import IndexBuild, index_entry, indexed_triple, mark, reached_marks, triple_among
from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore, Identifying, Pattern
from cortex_graph.store_access.recent_cache import RecentTriples, hash_of

SMALL = 10_000  # quads of a graph that is searched rather than indexed


def hash_line(line: str) -> str:
    """Return the id of the quad whose text (`str`) is `line`."""
    return hash_of(line.encode())


class TripleIndex:
    """Finds the triples of one namespace by their ids."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._finder = store if isinstance(store, Identifying) else None
        self._active = mark(names, "active")
        self._complete = mark(names, "complete")
        self._is_active: bool | None = None
        self._build: IndexBuild | None = None
        self._starting = threading.Lock()
        self.recent = RecentTriples()

    def identify(self, quad: Quad) -> str:
        """Return the id of a quad in its stored form; the quad is cached."""
        return self.recent.identify(str(quad).encode())

    def entry(self, triple_id: str, quad: Quad) -> Quad:
        """Return the quad of the index graph that leads from the id to the triple."""
        return index_entry(self._names, triple_id, quad)

    @staticmethod
    def hash_of(quad: Quad) -> str:
        """Return the id of a quad; nothing is remembered."""
        return hash_line(str(quad))

    def is_active(self) -> bool:
        """Return whether new triples must be indexed; the answer of the store is cached."""
        return self.has_begun() if self._is_active is None else self._is_active

    def has_begun(self) -> bool:
        """Return whether new triples must be indexed, according to the store; an index that was begun stays active."""
        self._is_active = self._finder is None and self._store.contains(self._active)
        return self._is_active

    def is_complete(self) -> bool:
        """Return whether every triple is indexed."""
        return self._finder is not None or self._store.contains(self._complete)

    def forget_completeness(self) -> None:
        """Record that triples were, or are going to be, written without index entries."""
        if self._finder is None:
            self._store.apply(remove=[self._complete, *reached_marks(self._store, self._names)])

    def complete(self, timeout_s: float | None = None) -> None:
        """Index the triples that are not indexed yet.

        Args:
            timeout_s: how long to wait, in seconds; None for no limit. The work continues afterwards.

        Raises:
            GraphBusy: it is not done yet, or the graph is being imported.
        """
        with self._starting:
            build = self._build
            if build is None or not build.is_running:
                if self.is_complete():
                    return
                build = self._build = IndexBuild(self._store, self._names)
        build.wait(timeout_s)

    def find(self, triple_id: str) -> Quad | None:
        """Return the triple with this id, if it is in the graph.

        Raises:
            GraphBusy: the graph must be indexed first, which takes longer or has to wait for an import.
        """
        quad = self.recent.quad(triple_id)
        if quad is None and self._finder is not None:
            return self._finder.find(self._names.graph, triple_id)
        quad = quad or self._recorded(triple_id) or indexed_triple(self._store, self._names, triple_id)
        if quad is not None:
            return quad if self._store.contains(quad) else None
        if self.is_complete():
            return None
        everything = Pattern(self._names.graph)
        if self._store.count(everything, SMALL + 1) <= SMALL:
            return triple_among(self._store, everything, triple_id)
        self.complete(index_build.MAX_WAIT_S)
        return indexed_triple(self._store, self._names, triple_id)

    def _recorded(self, triple_id: str) -> Quad | None:
        record = Pattern(self._names.provenance_graph, self._names.record(triple_id))
        quad = recorded_triple(self._store.quads(record), self._names.graph)
        return quad if quad is not None and hash_line(str(quad)) == triple_id else None
