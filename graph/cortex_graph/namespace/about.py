"""What an operation reads of triples, for a store that reads ahead (`read_ahead.py`).

Rules kept here:
- it is what the store has about a triple: whether it is there, its record with the skill that this names, its entry in
  the index, the links of its proofs, and its withdrawn records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import Quad

from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, PROVES, SPECIALIZATION_OF
from cortex_graph.store import Pattern, triple_of
from cortex_graph.store_access.read_ahead import Ahead, WholeSubjects


def about_triples(
    graph: NamespacedGraph, triple_ids: Iterable[str] = (), quads: Iterable[Quad] = ()
) -> Iterator[Ahead]:
    """Yield the patterns of what is stored about triples.

    Args:
        graph: of the namespace.
        triple_ids: the ids of triples.
        quads: triples, which need not be there.
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
        yield Pattern(names.provenance_graph, None, PROVES, record)
        yield WholeSubjects(Pattern(names.provenance_graph, None, SPECIALIZATION_OF, record))
        yield Pattern(names.index_graph, record)
