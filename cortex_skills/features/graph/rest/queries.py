"""`/api/v1/query`: patterns, and the names of subjects and predicates.

Rules kept here:
- names are sorted and distinct; finding them scans the graph, so it has a time limit. All predicates of a namespace are
  those of its last count, with what was written since (`KeptCounts.predicates`);
- a query reads one graph: that of the namespace.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.graph.rest import triple_models as models
from cortex_skills.features.graph.rest.triples import queried
from cortex_skills.operations.graph_rows import count, select

_DEFAULT_LIMIT = 100

OPERATIONS = Operations()


@OPERATIONS.add("POST", "/api/v1/query", {200: models.MatchPage}, query=models.CountQuery, body=models.TriplePattern)
def query_pattern(call: ApiCall) -> ApiAnswer:
    """Find the triples that match a pattern."""
    found = queried(call, call.body | call.query)
    del found["offset"]
    return ApiAnswer(
        200, {**found, "pattern": {part: call.body.get(part) for part in ("subject", "predicate", "object")}}
    )


@OPERATIONS.add(
    "GET",
    "/api/v1/query/subjects",
    {200: models.SubjectNames},
    query=models.SubjectsQuery,
    errors=("query_timeout",),
    pool="slow",
)
def list_subjects(call: ApiCall) -> ApiAnswer:
    """List the subjects, or those of a predicate."""
    graph, name = call.graph, call.query.get("predicate")
    predicate = "?p" if name is None else str(graph.node_of(name, "predicate"))
    return ApiAnswer(200, _names(call, f"?name {predicate} ?o", "subjects"))


@OPERATIONS.add(
    "GET",
    "/api/v1/query/predicates",
    {200: models.PredicateNames},
    query=models.PredicatesQuery,
    errors=("query_timeout",),
    pool="slow",
)
def list_predicates(call: ApiCall) -> ApiAnswer:
    """List the predicates, or those of a subject."""
    graph, name = call.graph, call.query.get("subject")
    is_kept = name is None and not call.query.keys() & {"asOf", "memoriesOf"}
    if is_kept and (known := graph.counts.predicates()) is not None:
        listed = known[: call.query.get("limit") or _DEFAULT_LIMIT]
        return ApiAnswer(200, {"predicates": [graph.names.name(each.value) for each in listed], "total": len(known)})
    subject = "?s" if name is None else str(graph.node_of(name, "subject"))
    return ApiAnswer(200, _names(call, f"{subject} ?name ?o", "predicates"))


def _names(call: ApiCall, where: str, key: str) -> dict[str, Any]:
    graph, calls, limit = call.graph, call.service.calls, call.query.get("limit") or _DEFAULT_LIMIT
    distinct = f"{{ SELECT DISTINCT ?name {{ {where} }} }}"  # in a query of its own: only distinct names are sorted
    rows = select(graph, f"SELECT ?name {{ {distinct} }} ORDER BY STR(?name) LIMIT {limit}", calls)
    names = [graph.names.name(row["name"]["value"]) for row in rows if row["name"]["type"] == "uri"]
    total = len(rows)
    if total >= limit:
        total = count(graph, f"SELECT (COUNT(DISTINCT ?name) AS ?n) {{ {where} }}", calls)
    return {key: names, "total": total}
