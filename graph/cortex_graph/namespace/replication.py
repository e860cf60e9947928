"""Changes a namespace quad by quad, its records included: for another store that uses this one over the network.

Rules kept here:
- a change is one transaction: removals first, then insertions;
- triples gain no record and lose none: records are inserted and removed as given;
- the id index is updated with the triples; the client need not know of it;
- all quads are written to the two graphs of the namespace, for all terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.checks.argument_checks import check_triple
from cortex_graph.checks.size_limits import checked
from cortex_graph.memory_graphs import check_place
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.terms import Term, from_term, to_term

Triples = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class QuadSet:
    """Quads to insert or remove: triples of the namespace, and statements of its provenance."""

    triples: Triples = ()
    records: Triples = ()


def change(graph: NamespacedGraph, insert: QuadSet, remove: QuadSet) -> None:
    """Remove quads of a namespace, then insert quads.

    Args:
        graph: the namespace.
        insert: the quads to insert; `{subject, predicate, object}` each.
        remove: the quads to remove.

    Raises:
        InvalidArguments: a part of a triple is invalid; nothing is changed then.
    """
    names, index, store = graph.names, graph.index, graph.store
    inserted, removed = (_quads(graph, names.graph, some.triples) for some in (insert, remove))
    records = _quads(graph, names.provenance_graph, insert.records)
    for quad in (*inserted, *records):
        check_place(checked(quad), names)
    begun = index.has_begun()
    store.apply(
        [
            *inserted,
            *(_entries(graph, inserted) if begun else ()),
            *records,
        ],
        [
            *removed,
            *(_entries(graph, removed) if begun else ()),
            *_quads(graph, names.provenance_graph, remove.records),
        ],
    )
    if inserted and not begun and index.has_begun():  # the index was begun meanwhile, and may lack these
        store.apply(_entries(graph, inserted))


def as_stored(graph: NamespacedGraph, value: Any) -> Any:
    """Return an object as it is read after it was written.

    Raises:
        InvalidArguments: it is not an object, or the store cannot store it.
    """
    return from_term(_object(graph, value), graph.names)


def _entries(graph: NamespacedGraph, quads: list[Quad]) -> list[Quad]:
    return [graph.index.entry(graph.index.hash_of(quad), quad) for quad in quads]


def _quads(graph: NamespacedGraph, target: NamedNode, triples: Triples) -> list[Quad]:
    quads = []
    for triple in triples:
        subject, predicate, object_ = check_triple(triple)
        nodes = graph.names.node(subject, "subject"), graph.names.node(predicate, "predicate")
        quads.append(Quad(*nodes, _object(graph, object_), target))
    return quads


def _object(graph: NamespacedGraph, value: Any) -> Term:
    term = to_term(value, graph.names)
    return graph.store.as_stored(term) if isinstance(term, Literal) and isinstance(value, dict) else term
