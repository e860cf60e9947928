"""Deletes the triples of sandboxes that have ended.

Rules kept here:
- every triple about a name of the sandbox is deleted, with its record, and no other;
- a sandbox that cannot be emptied stays in the list for the next sweep.
"""

from __future__ import annotations

import logging

from cortex_graph import GraphError, NamespacedGraph
from cortex_skills.doors.rest.graph_rows import select
from cortex_skills.doors.rest.operations import OperationService
from cortex_skills.errors import CortexError

log = logging.getLogger(__name__)

_BATCH = 500


def empty(graph: NamespacedGraph, prefix: str) -> int:
    """Delete every triple about a name of a sandbox, by the full name that its names begin with.

    Returns:
        How many triples were deleted.

    Raises:
        QueryTimeout: they could not be found in time.
    """
    start = graph.names.node(prefix).value
    condition = f'?s = <{start}> || STRSTARTS(STR(?s), "{start}:")'
    query = f"SELECT DISTINCT ?s {{ ?s ?p ?o FILTER({condition}) }} LIMIT {_BATCH}"
    deleted = 0
    while rows := select(graph, query):
        before = deleted
        for row in rows:
            pattern = {"subject": f"<{row['s']['value']}>", "limit": 1000}
            while found := graph.list_triples(pattern)["triples"]:
                gone = sum(graph.delete_triple(triple["id"]) for triple in found)
                deleted += gone
                if not gone:
                    break
        if deleted == before:  # another process deletes them too
            break
    return deleted


def sweep(service: OperationService, *, everything: bool = False) -> None:
    """Empty the expired sandboxes, or all of them."""
    for area in service.sandboxes.ended(everything=everything):
        try:
            empty(service.graph(area.namespace), area.prefix)
        except (CortexError, GraphError) as error:
            log.warning("the sandbox %s could not be emptied: %s", area.id, error)
        else:
            service.sandboxes.forget(area.id)
