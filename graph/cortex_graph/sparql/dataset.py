"""The dataset of a query over namespaces.

Rules kept here:
- the default graph is the union of the namespaces' graphs; the named graphs are these and their provenance graphs, and
  those of memories for a caller that may read them. The index graph is internal;
- a client may narrow both (SPARQL 1.1 Protocol §2.1.4): any other graph is refused, whether it exists or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyoxigraph import NamedNode

from cortex_graph.exceptions import NamespaceViolation
from cortex_graph.names import Names
from cortex_graph.proofs import StoredProofs
from cortex_graph.store import Dataset
from cortex_graph.triple_index import TripleIndex
from cortex_graph.withdrawals import Withdrawals


class NamespaceView(Protocol):
    """The parts of a namespace that SPARQL needs; `NamespacedGraph` has them."""

    names: Names
    proofs: StoredProofs
    index: TripleIndex
    withdrawals: Withdrawals


def dataset_of(
    graphs: Sequence[NamespaceView],
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
    memories: Sequence[NamedNode] = (),
) -> Dataset:
    """Return the dataset of namespaces, narrowed.

    Args:
        graphs: the namespaces.
        default_graphs: the IRIs of the graphs whose union is the default graph; all when both are None.
        named_graphs: the IRIs of the named graphs.
        memories: graphs of memories that the caller may read; named graphs.

    """
    own = tuple(dict.fromkeys(graph.names.graph for graph in graphs))
    seen = tuple(dict.fromkeys((*own, *(graph.names.provenance_graph for graph in graphs), *memories)))
    if default_graphs is None and named_graphs is None:
        return Dataset(own, seen)
    known = {graph.value: graph for graph in seen}
    return Dataset(_narrowed(known, default_graphs or ()), _narrowed(known, named_graphs or ()))


def _narrowed(known: dict[str, NamedNode], wanted: Sequence[str]) -> tuple[NamedNode, ...]:
    for iri in wanted:
        if iri not in known:
            raise NamespaceViolation(
                f"the graph <{iri[:200]}> cannot be read here",
                hint=f"these are: {', '.join(f'<{graph}>' for graph in known)}",
                details={"graph": iri[:200]},
            )
    return tuple(dict.fromkeys(known[iri] for iri in wanted))
