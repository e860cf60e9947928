"""`/api/v1/query`: patterns, and the names that are in use.

Rules kept here:
- the names of subjects and predicates come sorted, each once; finding them reads the graph, so it has a time;
- a query sees one graph: that of the namespace.
"""

from __future__ import annotations

import json
from typing import Any

from pyoxigraph import NamedNode, QueryResultsFormat

from cortex_graph import NamespacedGraph
from cortex_graph.store import Dataset
from cortex_skills.server.operations import Answer, Call, Operation
from cortex_skills.server.triples import page

QUERY_S = 10.0
_DEFAULT_LIMIT = 100


def _pattern(call: Call) -> Answer:
    found = page(call.graph, call.body | call.query, _DEFAULT_LIMIT)
    found.pop("offset")
    pattern = {part: call.body.get(part) for part in ("subject", "predicate", "object")}
    return Answer(200, {"matches": found.pop("rows"), **found, "pattern": pattern})


def _subjects(call: Call) -> Answer:
    graph, name = call.graph, call.query.get("predicate")
    predicate = "?p" if name is None else str(graph.names.node(name, "predicate"))
    return Answer(200, _names(graph, f"?name {predicate} ?o", call.query, "subjects"))


def _predicates(call: Call) -> Answer:
    graph, name = call.graph, call.query.get("subject")
    subject = "?s" if name is None else str(graph.names.node(name, "subject"))
    return Answer(200, _names(graph, f"{subject} ?name ?o", call.query, "predicates"))


def _names(graph: NamespacedGraph, where: str, query: dict[str, Any], key: str) -> dict[str, Any]:
    limit = query.get("limit") or _DEFAULT_LIMIT
    rows = select(graph, f"SELECT DISTINCT ?name {{ {where} }} ORDER BY STR(?name) LIMIT {limit}")
    names = [graph.names.name(row["name"]["value"]) for row in rows if row["name"]["type"] == "uri"]
    total = len(rows) if len(rows) < limit else count(graph, f"SELECT (COUNT(DISTINCT ?name) AS ?n) {{ {where} }}")
    return {key: names, "total": total}


def count(graph: NamespacedGraph, query: str) -> int:
    """The one number that a query of ours answers as `?n`."""
    (row,) = select(graph, query)
    return int(row["n"]["value"])


def select(graph: NamespacedGraph, query: str) -> list[dict[str, Any]]:
    """The rows of a query of ours over the graph of a namespace, as SPARQL 1.1 JSON has them.

    Raises:
        QueryTimeout: it took longer than `QUERY_S`.

    """
    seen: tuple[NamedNode, ...] = (graph.names.graph,)
    answer = graph.store.query(query, Dataset(seen), results=QueryResultsFormat.JSON, timeout_s=QUERY_S)
    rows: list[dict[str, Any]] = json.loads(b"".join(answer.chunks))["results"]["bindings"]
    return rows


OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/query",
        "queryPattern",
        "Find the triples that match a pattern.",
        _pattern,
        {200: "MatchPage"},
        query="PatternQuery",
        body="Pattern",
    ),
    Operation(
        "GET",
        "/api/v1/query/subjects",
        "listSubjects",
        "List the subjects, or those of a predicate.",
        _subjects,
        {200: "Subjects"},
        query="SubjectsQuery",
        errors=("query_timeout",),
        lane="slow",
    ),
    Operation(
        "GET",
        "/api/v1/query/predicates",
        "listPredicates",
        "List the predicates, or those of a subject.",
        _predicates,
        {200: "Predicates"},
        query="PredicatesQuery",
        errors=("query_timeout",),
        lane="slow",
    ),
)
