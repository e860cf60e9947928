"""The dataset of a query over namespaces.

Rules kept here:
- the default graph is the union of the namespaces' graphs; the named graphs are these and their provenance graphs, the
  graphs of their registered skills, and those of memories for a caller that may read them. The index and
  the requests for approval are internal;
- a client may narrow both (SPARQL 1.1 Protocol §2.1.4): any other graph is refused, whether it exists or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyoxigraph import NamedNode

from cortex_graph.assertion_records.proofs import StoredProofs
from cortex_graph.assertion_records.withdrawals import Withdrawals
from cortex_graph.exceptions import NamespaceViolation
from cortex_graph.index.prefixes import Prefixes
from cortex_graph.index.record_times import RecordTimes
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.memory_graphs import memory_graphs
from cortex_graph.naming.names import Names
from cortex_graph.store import Dataset, GraphStore
from cortex_graph.store_access.claims import has_claims


class NamespaceView(Protocol):
    """The parts of a namespace that SPARQL needs; `NamespacedGraph` has them."""

    names: Names
    proofs: StoredProofs
    index: TripleIndex
    withdrawals: Withdrawals
    times: RecordTimes
    prefixes: Prefixes


def dataset_of(
    graphs: Sequence[NamespaceView],
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
    beside: Sequence[NamedNode] = (),
) -> Dataset:
    """Return the dataset of namespaces, narrowed.

    Args:
        graphs: the namespaces.
        default_graphs: the IRIs of the graphs whose union is the default graph; all when both are None.
        named_graphs: the IRIs of the named graphs.
        beside: other graphs that the caller may read, which are named graphs (`graphs_beside`).
    """
    own = tuple(dict.fromkeys(graph.names.graph for graph in graphs))
    seen = tuple(dict.fromkeys((*own, *(graph.names.provenance_graph for graph in graphs), *beside)))
    if default_graphs is None and named_graphs is None:
        return Dataset(own, seen)
    known = {graph.value: graph for graph in seen}
    return Dataset(_narrowed(known, default_graphs or ()), _narrowed(known, named_graphs or ()))


def graphs_beside(store: GraphStore, graphs: Sequence[NamespaceView], *, memories: bool) -> list[NamedNode]:
    """Return the graphs beside those of namespaces that a query may read.

    Args:
        store: the store; one of namespaces only has no registry of skills.
        graphs: the namespaces.
        memories: whether the caller may read memories.
    """
    found = [graph.names.registry_graph for graph in graphs] if has_claims(store) else []
    return found + [each for graph in graphs if memories for each in memory_graphs(store, graph.names)]


def _narrowed(known: dict[str, NamedNode], wanted: Sequence[str]) -> tuple[NamedNode, ...]:
    for iri in wanted:
        if iri not in known:
            raise NamespaceViolation(
                f"the graph <{iri[:200]}> cannot be read here",
                hint=f"these are: {', '.join(f'<{graph}>' for graph in known)}",
                details={"graph": iri[:200]},
            )
    return tuple(dict.fromkeys(known[iri] for iri in wanted))
