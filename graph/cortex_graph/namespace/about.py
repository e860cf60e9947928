"""What an operation reads of triples, for a store that reads ahead (`read_ahead.py`).

Rules kept here:
- it is what the store has about a triple: whether it is there, its record with the skill that this names, its entry in
  the index, its proofs or the links to them, and its withdrawn records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import Quad

from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, PROOF, PROVES, SPECIALIZATION_OF
from cortex_graph.store import Pattern, triple_of
from cortex_graph.store_access.read_ahead import Ahead, UpTo, WholeSubjects

_PROOFS = 500  # quads of the proofs of a triple: a usual one is ten


def about_triples(
    graph: NamespacedGraph, triple_ids: Iterable[str] = (), quads: Iterable[Quad] = (), *, proofs: bool = False
) -> Iterator[Ahead]:
    """Yield the patterns of what is stored about triples.

    Args:
        graph: of the namespace.
        triple_ids: the ids of triples.
        quads: triples, which need not be there.
        proofs: whether their proofs are read, and not only the links to them.
    """
    names, index = graph.names, graph.index
    own = {index.identify(quad): quad for quad in quads}
    yield Pattern(names.index_graph, names.index_graph)  # its marks
    for triple_id in dict.fromkeys((*own, *triple_ids)):
        record = names.record(triple_id)
        quad = own.get(triple_id) or index.recent.quad(triple_id)
        if quad is not None:
            yield Pattern(names.graph, *triple_of(quad))
        yield Pattern(names.provenance_graph, record)
        yield WholeSubjects(Pattern(names.provenance_graph, record, ATTRIBUTED_TO), of_objects=True)
        links = Pattern(names.provenance_graph, None, PROVES, record)
        yield UpTo(WholeSubjects(links), _PROOFS) if proofs else links
        yield WholeSubjects(Pattern(names.provenance_graph, None, SPECIALIZATION_OF, record))
        yield Pattern(names.index_graph, record)


def origins_ahead(graph: NamespacedGraph, triple_ids: Iterable[str]) -> Iterator[Ahead]:
    """Yield the patterns of the records of triples, with the skills and the proofs that they name."""
    records = graph.names.provenance_graph
    for triple_id in dict.fromkeys(triple_ids):
        record = graph.names.record(triple_id)
        yield Pattern(records, record)
        yield WholeSubjects(Pattern(records, record, ATTRIBUTED_TO), of_objects=True)
        yield UpTo(WholeSubjects(Pattern(records, record, PROOF), of_objects=True), _PROOFS)
