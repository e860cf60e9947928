"""A user's SPARQL query over namespaces.

Rules kept here:
- the text is read and written anew (`text.py`) before any store sees it;
- it sees the graphs of the namespaces that are given and nothing else, whatever its own `FROM` says (`scope.py`);
- it ends with its time, and its answer with `max_bytes`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from pyoxigraph import QueryResultsFormat, RdfFormat

from cortex_graph.sparql.limits import DEFAULT_LIMITS, TIMEOUT_S, Limits
from cortex_graph.store import Answer, GraphStore

if TYPE_CHECKING:
    from cortex_graph.namespaced import NamespacedGraph


def query_graphs(
    store: GraphStore,
    graphs: Sequence[NamespacedGraph],
    text: str,
    *,
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
    results: QueryResultsFormat = QueryResultsFormat.JSON,
    graphs_format: RdfFormat = RdfFormat.N_TRIPLES,
    timeout_s: float = TIMEOUT_S,
    max_bytes: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Answer:
    """Evaluate a SPARQL 1.1 query over some namespaces of one store.

    The default graph is the union of the namespaces' graphs; named graphs are these and their provenance graphs.

    Args:
        store: where the namespaces are.
        graphs: the namespaces that may be read; at least one.
        text: the query, a user's.
        default_graphs: IRIs out of the above to narrow the default graph to (`default-graph-uri` of the SPARQL 1.1
            Protocol §2.1.4); None for no narrowing. With either of the two, the text's own FROM means nothing.
        named_graphs: the same for the named graphs.
        results: how to write the answer of SELECT and ASK.
        graphs_format: how to write the answer of CONSTRUCT and DESCRIBE.
        timeout_s: how long it may take until its last byte was read, in seconds.
        max_bytes: how long the answer may be; None for no bound.
        limits: what the text may be.

    Raises:
        InvalidArguments: the text is no query (`details`: line, column), or goes beyond the limits.
        PermissionDenied: it asks another server.
        NamespaceViolation: it names a graph of its dataset that is none of these.
        QueryTimeout: it took too long (from the answer's chunks as well).
        GraphBusy: too many queries are running.
        QueryLimit: the answer is too long, or takes too much memory.

    """
    raise NotImplementedError


def bounded(answer: Answer, max_bytes: int | None) -> Generator[bytes, None, None]:
    """The chunks of an answer, up to a bound."""
    raise NotImplementedError
