"""A user's SPARQL update over namespaces.

Rules kept here:
- no text of an update reaches a store: each operation becomes queries, and what they answer is written as quads of the
  namespace's own graph, or removed from it;
- each operation is one transaction; several that only carry data are one in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex_graph.provenance import Provenance
from cortex_graph.sparql.limits import DEFAULT_LIMITS, TIMEOUT_S, Limits
from cortex_graph.store import GraphStore

if TYPE_CHECKING:
    from cortex_graph.namespaced import NamespacedGraph


@dataclass(frozen=True)
class Updated:
    """How many triples an update wrote that were not there, and removed that were."""

    inserted: int
    removed: int


def update_graphs(
    store: GraphStore,
    graphs: Sequence[NamespacedGraph],
    text: str,
    *,
    using_graphs: Sequence[str] | None = None,
    using_named_graphs: Sequence[str] | None = None,
    provenance: Provenance | None = None,
    timeout_s: float = TIMEOUT_S,
    limits: Limits = DEFAULT_LIMITS,
) -> Updated:
    """Execute a SPARQL 1.1 update on some namespaces of one store.

    Of several namespaces, an operation names the one that it writes to (`WITH <graph>` or `GRAPH <graph> {…}`).

    Args:
        store: where the namespaces are.
        graphs: the namespaces that may be read and written; at least one.
        text: the update, a user's.
        using_graphs: IRIs to narrow what WHERE reads to (`using-graph-uri` of the SPARQL 1.1 Protocol §2.2.3).
        using_named_graphs: the same for named graphs.
        provenance: where new triples come from; recorded with them.
        timeout_s: how long all of it may take, in seconds.
        limits: what it may be and do.

    Raises:
        InvalidArguments: the text is no update, or goes beyond the limits.
        PermissionDenied: it asks another server (SERVICE, LOAD).
        NamespaceViolation: it would write elsewhere than to these namespaces' graphs.
        QueryTimeout: it took too long; the operations before the one that did are done.
        GraphBusy: others keep writing what it reads.
        QueryLimit: it would change more than the limits allow.

    """
    raise NotImplementedError
