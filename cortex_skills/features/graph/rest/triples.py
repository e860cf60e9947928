"""`/api/v1/triples`: write, read and delete triples.

Rules kept here:
- a batch is written as a whole or not at all;
- who may write and remove what is decided by the operations (`statement_changes.py`);
- an answer of more than 1,000 triples is made of several pages of the graph; it ends early after about 10 MiB, and its
  cursor goes on;
- each triple that has a record has the time of its assertion, `created_at`;
- with `onePage`, for stores, an answer is one page of the graph, of about one mebibyte, and without times;
- an object in a query string is JSON (`5`, `true`, `{"node": "a"}`, `"5"`); text that is no JSON is a string.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, Literal

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import PastGraph, today_of, undated_among
from cortex_graph.assertion_records.provenance import Provenance
from cortex_graph.assertion_records.records import assertion_times
from cortex_graph.checks.argument_checks import MAX_LIMIT
from cortex_graph.checks.datetimes import date_time
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.short_ids import full_triple_id
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.model_types import GraphQuery, StoredTriple
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.graph.rest import triple_models as models
from cortex_skills.features.graph.statement_changes import assert_statements, withdraw
from cortex_skills.safe_io.strict_json import read_json

_PARTS = ("subject", "predicate", "object")
_MAX_PAGES = 10
_MAX_SKIPPED_PAGES = 100

OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/triples",
    {201: models.CreatedTriple, 200: models.CreatedTriple},
    permission="write",
    query=GraphQuery,
    body=models.NewTriple,
)
def create_triple(call: ApiCall) -> ApiAnswer:
    """Write one triple.

    201 if it is new; 200, with `created: false`, if it existed before.
    """
    (triple,) = _written(call, [_triple(call.body)])
    return ApiAnswer(201 if triple["created"] else 200, triple)


@OPERATIONS.add(
    "POST",
    "/api/v1/triples/batch",
    {201: models.CreatedTriples, 200: models.CreatedTriples},
    permission="write",
    query=GraphQuery,
    body=models.NewTriples,
)
def create_triples(call: ApiCall) -> ApiAnswer:
    """Write several triples, all or none."""
    triples = _written(call, [_triple(each) for each in call.body["triples"]])
    created = sum(triple["created"] for triple in triples)
    document = {"inserted": triples, "total": len(triples), "created": created, "duplicates": len(triples) - created}
    return ApiAnswer(201 if created else 200, document)


@OPERATIONS.add(
    "GET",
    "/api/v1/triples/{id}",
    {200: StoredTriple},
    query=models.GetQuery,
    errors=("not_found", "graph_busy", "query_timeout"),
)
def get_triple(call: ApiCall) -> ApiAnswer:
    """Return the triple with an id, or with the only id that begins with the given six digits or more."""
    graph = call.graph
    triple = graph.get_triple(full_triple_id(today_of(graph), call.path["id"]))
    if triple is None:
        raise _no_such_triple()
    return ApiAnswer(200, _described(graph, [triple], call.query)[0])


@OPERATIONS.add(
    "DELETE",
    "/api/v1/triples/{id}",
    {204: None},
    permission="write",
    query=models.DeleteQuery,
    errors=("not_found", "graph_busy", "query_timeout"),
)
def delete_triple(call: ApiCall) -> ApiAnswer:
    """Delete the triple with an id, and its record.

    A triple that has proofs is withdrawn: its record and its proofs stay, marked with who withdrew it, unless `erase`
    is true. Both need the permission `provenance`, except for withdrawing what the caller asserted.
    """
    memories_of = call.query.get("memoriesOf", "")
    call.operate(withdraw, triple=call.path["id"], erase=call.query.get("erase", False), memories_of=memories_of)
    return ApiAnswer(204)


@OPERATIONS.add("GET", "/api/v1/triples", {200: models.TriplePage}, query=models.ListQuery)
def list_triples(call: ApiCall) -> ApiAnswer:
    """List the triples that match the given parts."""
    given = dict(call.query)
    if "object" in given:
        given["object"] = object_of(given["object"])
    found = page(call.graph, given, 100)
    offset = found.pop("offset")
    return ApiAnswer(200, {"triples": found.pop("rows"), **found, "offset": offset})


def page(graph: NamespacedGraph, given: dict[str, Any], default_limit: int) -> dict[str, Any]:
    """A page of the triples that match a pattern.

    Args:
        graph: the graph.
        given: the pattern, `limit` (to 10,000), `cursor`, `offset`, `exactTotal`, `provenance` and `onePage`.
        default_limit: the limit of a pattern without one.

    Returns:
        `{rows, total, totalIsExact, nextCursor, limit, offset}`.

    Raises:
        InvalidArguments: a part of the pattern is not valid.
    """
    pattern = {part: given[part] for part in _PARTS if given.get(part) is not None}
    limit, offset = given.get("limit") or default_limit, given.get("offset") or 0
    cursor = _skip(graph, pattern, given.get("cursor"), offset)
    rows: list[dict[str, Any]] = []
    first: dict[str, Any] | None = None
    pages = 1 if given.get("onePage") else _MAX_PAGES
    for _ in range(pages if cursor is not None or not offset else 0):
        wanted = min(limit - len(rows), MAX_LIMIT)
        found = graph.list_triples({**pattern, "limit": wanted, "cursor": cursor})
        first = first or found
        rows += found["triples"]
        cursor = found["nextCursor"]
        if cursor is None or len(rows) >= limit:
            break
    total, exact = (first["total"], first["totalIsExact"]) if first else (0, False)
    if given.get("exactTotal") or first is None:
        total, exact = graph.count(pattern), True
    elif cursor is None and given.get("cursor") is None and first["nextCursor"] is not None:
        total, exact = offset + len(rows), True
    return {
        "rows": _described(graph, rows, given),
        **moment_of(graph, [row["id"] for row in rows]),
        "total": max(total, len(rows)),
        "totalIsExact": exact,
        "nextCursor": cursor,
        "limit": limit,
        "offset": offset,
    }


def moment_of(graph: NamespacedGraph, triple_ids: list[str]) -> dict[str, Any]:
    """The moment that an answer is as of, and how many of its triples have no time; empty for an answer of today."""
    if not isinstance(graph, PastGraph):
        return {}
    return {"asOf": date_time(graph.moment), "undated": undated_among(graph, triple_ids)}


def object_of(text: str) -> Any:
    """The object in a query string."""
    try:
        value = read_json(text, repeated_keys=True)  # the graph refuses what is no object of a triple
    except ValueError:
        return text
    if isinstance(value, float) and math.isinf(value):  # `1e999`
        return text
    return value if isinstance(value, str | int | float | dict) else text


def _skip(graph: NamespacedGraph, pattern: dict[str, Any], cursor: str | None, offset: int) -> str | None:
    """The cursor after `offset` triples; None when there are no more."""
    if not offset:
        return cursor
    if cursor is not None:
        raise invalid("offset", "is given together with a cursor", hint="give one of them")
    for _ in range(_MAX_SKIPPED_PAGES):
        found = graph.list_triples({**pattern, "limit": min(offset, MAX_LIMIT), "cursor": cursor})
        offset -= len(found["triples"])
        cursor = found["nextCursor"]
        if cursor is None or not offset:
            return cursor
    raise invalid("offset", "skips too much data", hint="follow `nextCursor` instead")


def _described(graph: NamespacedGraph, rows: list[dict[str, Any]], given: dict[str, Any]) -> list[dict[str, Any]]:
    """Triples with the time of their assertion, and with their provenance if it was requested."""
    if given.get("provenance"):
        records = {row["id"]: graph.provenance_of(row["id"]) for row in rows}
        times = {key: record["time"] for key, record in records.items() if record and record["time"]}
        rows = [row | {"provenance": records[row["id"]]} for row in rows]
    elif given.get("onePage"):
        return rows
    else:
        times = assertion_times(graph.store, graph.names, (row["id"] for row in rows))
    return [row | {"created_at": times[row["id"]]} if row["id"] in times else row for row in rows]


def _triple(body: dict[str, Any]) -> dict[str, Any]:
    return {part: body[part] for part in _PARTS}


def _written(call: ApiCall, statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write statements in the namespace, or in the memories of an agent."""
    given = {"provenance": _provenance(call), "memories_of": call.query.get("memoriesOf", "")}
    return call.operate(assert_statements, statements=statements, **given)


def _provenance(call: ApiCall) -> Provenance | Literal["caller"] | None:
    """Who asserts the triples that a call writes, as its body states it."""
    if "provenance" not in call.body:
        return "caller"
    given = call.body["provenance"]
    if given is None:
        return None
    return Provenance(
        skill=given.get("skill"),
        skill_version=given.get("skillVersion"),
        agent=given.get("agent"),
        time=_time(given.get("time")),
    )


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise invalid("provenance.time", "is not a time with a time zone", hint="for instance 2026-01-31T12:00:00Z")
    return moment


def _no_such_triple() -> HttpError:
    return HttpError("not_found", "the namespace has no triple with this id")
