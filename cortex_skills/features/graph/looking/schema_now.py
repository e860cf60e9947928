"""The schema of a graph, from what keeps it."""

from __future__ import annotations

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import today_of
from cortex_graph.index.schema_in_use import SchemaInUse
from cortex_skills.features.finder.entity_follower import EntityFollower
from cortex_skills.features.finder.index_follower import follower_of


def schema_of(graph: NamespacedGraph, wait_s: float) -> SchemaInUse:
    """The schema of a graph as it is now, counted by its index; where that is not, as it was when it was read last.

    Args:
        graph: the graph.
        wait_s: how long to wait for a schema that is being read for the first time, in seconds. Without one,
            `counted_at` is None.

    Raises:
        GraphError: the store cannot be read.
    """
    found = follower_of(EntityFollower, graph).schema(graph, wait_s) if graph is today_of(graph) else None
    return graph.schema.latest(wait_s=wait_s) if found is None else found
