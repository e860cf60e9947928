"""Changes a namespace quad by quad, its records included: for a store of others that stands on this one.

Rules kept here:
- a change is one transaction: first what goes, then what comes;
- triples get no record and lose none: records come and go as they are given;
- the index of ids is kept with the triples; who changes them need not know of it;
- all is written to the namespace's own two graphs, whatever the terms are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.arguments import check_triple
from cortex_graph.lengths import checked
from cortex_graph.namespaced import NamespacedGraph
from cortex_graph.terms import Term, from_term, to_term

Triples = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Quads:
    """What goes or comes: triples of the namespace, and statements of its provenance."""

    triples: Triples = ()
    records: Triples = ()


def change(graph: NamespacedGraph, insert: Quads, remove: Quads) -> None:
    """Remove some quads of a namespace, then insert some.

    Args:
        graph: the namespace.
        insert: what comes; `{subject, predicate, object}` each.
        remove: what goes.

    Raises:
        InvalidArguments: something in a triple is not what it must be; nothing is changed then.

    """
    names, index, store = graph.names, graph.index, graph.store
    inserted, removed = (_quads(graph, names.graph, some.triples) for some in (insert, remove))
    records = _quads(graph, names.provenance_graph, insert.records)
    for quad in (*inserted, *records):
        checked(quad)
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
    if inserted and not begun and index.has_begun():  # meanwhile, and may have missed these
        store.apply(_entries(graph, inserted))


def as_stored(graph: NamespacedGraph, value: Any) -> Any:
    """An object as it will be read when it is written.

    Raises:
        InvalidArguments: it is none, or one that the store cannot keep.

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
