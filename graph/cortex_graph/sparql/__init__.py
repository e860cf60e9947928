"""SPARQL queries and updates of users, over one or several namespaces."""

from cortex_graph.sparql.dataset import graphs_beside
from cortex_graph.sparql.parse import DEFAULT_LIMITS, QueryLimits
from cortex_graph.sparql.queries import query_graphs
from cortex_graph.sparql.updates import Updated, update_graphs

__all__ = ["DEFAULT_LIMITS", "QueryLimits", "Updated", "graphs_beside", "query_graphs", "update_graphs"]
