"""Which graphs a query over some namespaces sees.

Rules kept here:
- the default graph is the union of the namespaces' graphs; the named graphs are these and their provenance graphs. The
  index graph is internal;
- whoever asks may narrow both (SPARQL 1.1 Protocol §2.1.4): what is named beyond them is refused, whether there is such
  a graph or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from cortex_graph.errors import NamespaceViolation
from cortex_graph.store import Dataset

if TYPE_CHECKING:
    from cortex_graph.namespaced import NamespacedGraph


def dataset_of(
    graphs: Sequence[NamespacedGraph],
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
) -> Dataset:
    """The dataset of some namespaces, narrowed.

    Args:
        graphs: the namespaces.
        default_graphs: the IRIs of those graphs whose union is the default graph; None, as well as the next: all.
        named_graphs: the IRIs of the named graphs.

    Raises:
        NamespaceViolation: a graph is none of theirs.

    """
    own = tuple(dict.fromkeys(graph.names.graph for graph in graphs))
    seen = tuple(dict.fromkeys((*own, *(graph.names.provenance_graph for graph in graphs))))
    if default_graphs is None and named_graphs is None:
        return Dataset(own, seen)
    known = {graph.value: graph for graph in seen}
    return Dataset(_narrowed(known, default_graphs or ()), _narrowed(known, named_graphs or ()))


def _narrowed(known: dict[str, NamedNode], wanted: Sequence[str]) -> tuple[NamedNode, ...]:
    for iri in wanted:
        if iri not in known:
            raise NamespaceViolation(
                f"the graph <{iri[:200]}> is none of those that may be read here",
                hint=f"these are: {', '.join(f'<{graph}>' for graph in known)}",
                details={"graph": iri[:200]},
            )
    return tuple(dict.fromkeys(known[iri] for iri in wanted))
