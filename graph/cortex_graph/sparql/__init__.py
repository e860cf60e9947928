"""What a user's SPARQL may do, on one namespace or on several."""

from cortex_graph.sparql.limits import DEFAULT_LIMITS, Limits
from cortex_graph.sparql.queries import query_graphs
from cortex_graph.sparql.updates import Updated, update_graphs

__all__ = ["DEFAULT_LIMITS", "Limits", "Updated", "query_graphs", "update_graphs"]
