"""Rows of queries that operations of the REST API make themselves, over the graph of one namespace."""

from __future__ import annotations

import json
from typing import Any

from pyoxigraph import NamedNode, QueryResultsFormat

from cortex_graph import NamespacedGraph
from cortex_graph.store import Dataset
from cortex_skills.cancellation import CancelGroup

QUERY_S = 10.0


def count(graph: NamespacedGraph, query: str, calls: CancelGroup | None = None) -> int:
    """The number that a query of this server binds to `?n`."""
    (row,) = select(graph, query, calls)
    return int(row["n"]["value"])


def select(graph: NamespacedGraph, query: str, calls: CancelGroup | None = None) -> list[dict[str, Any]]:
    """The rows of a query of this server over the graph of a namespace (SPARQL 1.1 Query Results JSON §3.2).

    Args:
        graph: the graph.
        query: the text.
        calls: cancels the query with others; None for one that the shutdown itself needs.

    Raises:
        QueryTimeout: it took longer than `QUERY_S`.
        CortexError: `cancelled`.
    """
    seen: tuple[NamedNode, ...] = (graph.names.graph,)
    with (calls or CancelGroup()).token() as cancel:
        answer = graph.store.query(
            query, Dataset(seen), results=QueryResultsFormat.JSON, timeout_s=QUERY_S, cancel=cancel
        )
        rows: list[dict[str, Any]] = json.loads(b"".join(answer.chunks))["results"]["bindings"]
    return rows
