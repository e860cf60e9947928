r"""From the id of a triple back to the triple.

Rules kept here:
- the id is the SHA-256, in hexadecimal, of the quad's canonical N-Quads line (RDFC-1.0 §6), line feed included:
  `<s> <p> "o" <g> .\n`. The graph is part of it, so the same statement in two namespaces has two ids;
- an id is looked up, cheapest first: among the triples that went through this process lately, in the provenance
  records, in the index graph `{base}NS/index`; what is found there counts only if it has that id and is in the graph;
- the index costs more than the triple itself, so it begins only when it is needed: with the first id of a large graph
  that is found nowhere. Then the graph is read once, and from there on every new triple is indexed;
- an import says that the index is incomplete, and the next id that is found nowhere completes it.

The index graph holds, for a triple `s p o`, the quad `{base}NS/triple/HASH p s`; two marks say `active` and `complete`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.errors import GraphBusy
from cortex_graph.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.provenance import recorded_triple
from cortex_graph.store import GraphStore, Pattern

SMALL = 10_000  # quads in a graph that is read through sooner than indexed
_RECENT = 4096  # triples in one half of the memory of recent ones
_LONG = 2048  # characters of a line; longer ones are not kept in memory

_MARK = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdf']}value")


def hash_line(line: str) -> str:
    """The id of the quad that `str` gives this line for."""
    return hashlib.sha256(f"{line} .\n".encode()).hexdigest()


class TripleIndex:
    """Finds the triples of one namespace by their ids."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        graph = names.index_graph
        self._active = Quad(graph, _MARK, Literal("active"), graph)
        self._complete = Quad(graph, _MARK, Literal("complete"), graph)
        self._is_active: bool | None = None
        self._recent: dict[str, Quad] = {}
        self._less_recent: dict[str, Quad] = {}

    def identify(self, quad: Quad) -> str:
        """The id of a quad as the store has it; the quad is remembered for a while."""
        line = str(quad)
        triple_id = hash_line(line)
        if len(line) < _LONG:
            if len(self._recent) >= _RECENT:
                self._less_recent, self._recent = self._recent, {}
            self._recent[triple_id] = quad
        return triple_id

    def entry(self, triple_id: str, quad: Quad) -> Quad:
        """The quad of the index graph that leads from the id to the triple."""
        return Quad(
            self._names.record(triple_id),
            quad.predicate,
            quad.subject,
            self._names.index_graph,
        )

    def is_active(self) -> bool:
        """Whether new triples must be indexed, as far as is known without asking the store each time."""
        return self.has_begun() if self._is_active is None else self._is_active

    def has_begun(self) -> bool:
        """Whether new triples must be indexed, as the store has it now; an index that has begun never ends."""
        self._is_active = self._store.contains(self._active)
        return self._is_active

    def forget_completeness(self) -> None:
        """Triples come in, or came in, that are not indexed."""
        self._store.remove(self._complete)

    def find(self, triple_id: str) -> Quad | None:
        """The triple that has this id, if it is in the graph.

        Raises:
            GraphBusy: the graph would have to be read through while it is being imported.

        """
        quad = (
            self._recent.get(triple_id)
            or self._less_recent.get(triple_id)
            or self._recorded(triple_id)
            or self._indexed(triple_id)
        )
        if quad is not None:
            return quad if self._store.contains(quad) else None
        if self._store.contains(self._complete):
            return None
        everything = Pattern(self._names.graph)
        if self._store.count(everything, SMALL + 1) <= SMALL:
            return self._among(everything, triple_id)
        self._build()
        return self._indexed(triple_id)

    def _recorded(self, triple_id: str) -> Quad | None:
        record = Pattern(self._names.provenance_graph, self._names.record(triple_id))
        quad = recorded_triple(self._store.quads(record), self._names.graph)
        return quad if quad is not None and hash_line(str(quad)) == triple_id else None

    def _indexed(self, triple_id: str) -> Quad | None:
        for entry in self._store.quads(Pattern(self._names.index_graph, self._names.record(triple_id))):
            if isinstance(entry.object, NamedNode):
                return self._among(Pattern(self._names.graph, entry.object, entry.predicate), triple_id)
        return None

    def _among(self, pattern: Pattern, triple_id: str) -> Quad | None:
        return next((quad for quad in self._store.quads(pattern) if hash_line(str(quad)) == triple_id), None)

    def _build(self) -> None:
        if not self._store.maintenance.acquire(blocking=False):
            raise GraphBusy(
                f"the graph of {self._names.namespace} is being imported or indexed",
                hint="try again in a while",
            )
        try:
            # First the mark, then the reading: what is written meanwhile is read here, or indexed by its writer.
            self._store.insert([[self._active]])
            self._store.bulk_insert(self._entries())
            self._store.insert([[self._complete]])
        finally:
            self._store.maintenance.release()

    def _entries(self) -> Iterator[Quad]:
        for quad in self._store.quads(Pattern(self._names.graph)):
            if isinstance(quad.subject, NamedNode):
                yield self.entry(hash_line(str(quad)), quad)
