"""`/api/v1/graph/…`: the operations that look at the graph, as they are."""

from __future__ import annotations

from cortex_skills.doors.rest.operations import Operations
from cortex_skills.features.graph.looking.description import describe
from cortex_skills.features.graph.looking.entity_search import find_things
from cortex_skills.features.graph.looking.form_suggestions import suggest_predicates, suggest_values
from cortex_skills.features.graph.looking.moment_difference import compare
from cortex_skills.features.graph.looking.schema_overview import overview
from cortex_skills.features.graph.looking.sparql_rows import sparql
from cortex_skills.features.graph.saved_query_operations import forget_query, list_queries, run_query, save_query

OPERATIONS = Operations()

OPERATIONS.serve("GET", "/api/v1/graph/overview", overview, errors=("graph_busy",), pool="slow")
OPERATIONS.serve("GET", "/api/v1/graph/find", find_things, errors=("query_timeout",), pool="slow")
OPERATIONS.serve("GET", "/api/v1/graph/describe", describe, errors=("query_timeout",), pool="slow")
OPERATIONS.serve("GET", "/api/v1/graph/predicates", suggest_predicates, pool="slow")
OPERATIONS.serve("GET", "/api/v1/graph/values", suggest_values, pool="slow")
OPERATIONS.serve(
    "GET", "/api/v1/graph/difference", compare, errors=("query_timeout", "query_limit", "graph_busy"), pool="slow"
)
OPERATIONS.serve("GET", "/api/v1/graph/queries", list_queries, pool="slow")
OPERATIONS.serve("POST", "/api/v1/graph/queries", save_query, pool="slow")
OPERATIONS.serve("DELETE", "/api/v1/graph/queries/{name}", forget_query, errors=("not_found",), pool="slow")
OPERATIONS.serve(
    "POST",
    "/api/v1/graph/queries/{name}",
    run_query,
    errors=("not_found", "query_timeout", "query_limit", "graph_busy", "namespace_violation"),
    pool="slow",
)
OPERATIONS.serve(
    "POST",
    "/api/v1/graph/sparql",
    sparql,
    errors=("query_timeout", "query_limit", "graph_busy", "namespace_violation"),
    pool="slow",
)
