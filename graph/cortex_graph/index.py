r"""From the id of a triple back to the triple.

Rules kept here:
- the id is the SHA-256, in hexadecimal, of the quad's canonical N-Quads line (RDFC-1.0 §6), line feed included:
  `<s> <p> "o" <g> .\n`. The graph is part of it, so the same statement in two namespaces has two ids;
- an id is looked up, cheapest first: among the triples that went through this process lately, in the provenance
  records, in the index graph `{base}NS/index`; what is found there counts only if it has that id and is in the graph;
- the index costs more than the triple itself, so it begins only when it is needed: with the first id of a large graph
  that is found nowhere. Then the graph is read once, and from there on every new triple is indexed;
- an import says that the index is incomplete, and the next id that is found nowhere completes it;
- a store that finds triples by their ids itself (`Identifying`) has no index here;
- completing it takes minutes when the graph has millions of triples, so it goes on behind (`indexing.py`), and ids that
  are found nowhere meanwhile are answered `graph_busy`.

The index graph holds, for a triple `s p o`, the quad `{base}NS/triple/HASH p s`; marks say `active`, `complete`, and
how far it is.
"""

from __future__ import annotations

import threading

from pyoxigraph import NamedNode, Quad

from cortex_graph import indexing
from cortex_graph.indexing import Build, mark, reached_marks
from cortex_graph.names import Names
from cortex_graph.provenance import recorded_triple
from cortex_graph.recent import Recent, hash_of
from cortex_graph.store import GraphStore, Identifying, Pattern

SMALL = 10_000  # quads in a graph that is read through sooner than indexed


def hash_line(line: str) -> str:
    """The id of the quad that `str` gives this line for."""
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
        self._build: Build | None = None
        self._starting = threading.Lock()
        self.recent = Recent()

    def identify(self, quad: Quad) -> str:
        """The id of a quad as the store has it; the quad is remembered for a while."""
        return self.recent.identify(str(quad).encode())

    def entry(self, triple_id: str, quad: Quad) -> Quad:
        """The quad of the index graph that leads from the id to the triple."""
        return Quad(
            self._names.record(triple_id),
            quad.predicate,
            quad.subject,
            self._names.index_graph,
        )

    @staticmethod
    def hash_of(quad: Quad) -> str:
        """The id of a quad; nothing is remembered."""
        return hash_line(str(quad))

    def is_active(self) -> bool:
        """Whether new triples must be indexed, as far as is known without asking the store each time."""
        return self.has_begun() if self._is_active is None else self._is_active

    def has_begun(self) -> bool:
        """Whether new triples must be indexed, as the store has it now; an index that has begun never ends."""
        self._is_active = self._finder is None and self._store.contains(self._active)
        return self._is_active

    def is_complete(self) -> bool:
        """Whether every triple is indexed."""
        return self._finder is not None or self._store.contains(self._complete)

    def forget_completeness(self) -> None:
        """Triples come in, or came in, that are not indexed."""
        if self._finder is None:
            self._store.apply(remove=[self._complete, *reached_marks(self._store, self._names)])

    def complete(self, timeout_s: float | None = None) -> None:
        """Index what is not indexed yet.

        Args:
            timeout_s: how long to wait for it, in seconds; None for as long as it takes. It goes on afterwards.

        Raises:
            GraphBusy: it is not done yet, or the graph is being imported.

        """
        with self._starting:
            build = self._build
            if build is None or not build.is_running:
                if self.is_complete():
                    return
                build = self._build = Build(self._store, self._names, self)
        build.wait(timeout_s)

    def find(self, triple_id: str) -> Quad | None:
        """The triple that has this id, if it is in the graph.

        Raises:
            GraphBusy: the graph would have to be read through, which takes longer or cannot be while it is imported.

        """
        quad = self.recent.quad(triple_id)
        if quad is None and self._finder is not None:
            return self._finder.find(self._names.graph, triple_id)
        quad = quad or self._recorded(triple_id) or self.indexed(triple_id)
        if quad is not None:
            return quad if self._store.contains(quad) else None
        if self.is_complete():
            return None
        everything = Pattern(self._names.graph)
        if self._store.count(everything, SMALL + 1) <= SMALL:
            return self._among(everything, triple_id)
        self.complete(indexing.PATIENCE_S)
        return self.indexed(triple_id)

    def _recorded(self, triple_id: str) -> Quad | None:
        record = Pattern(self._names.provenance_graph, self._names.record(triple_id))
        quad = recorded_triple(self._store.quads(record), self._names.graph)
        return quad if quad is not None and hash_line(str(quad)) == triple_id else None

    def indexed(self, triple_id: str) -> Quad | None:
        """The triple that the index graph leads to."""
        for entry in self._store.quads(Pattern(self._names.index_graph, self._names.record(triple_id))):
            if isinstance(entry.object, NamedNode):
                return self._among(Pattern(self._names.graph, entry.object, entry.predicate), triple_id)
        return None

    def _among(self, pattern: Pattern, triple_id: str) -> Quad | None:
        return next((quad for quad in self._store.quads(pattern) if hash_line(str(quad)) == triple_id), None)
