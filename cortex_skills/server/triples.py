"""`/api/v1/triples`: write, read and delete triples.

Rules kept here:
- a batch is written as a whole or not at all;
- whoever may say so names who asserted a triple (`provenance`); else it is the holder of the token, now. An explicit
  null asks for no record;
- a page of more than 1,000 is put together out of several; it ends early after 10 MiB or so, and its cursor goes on;
- who asks for one page gets what the graph has for one, of a mebibyte;
- an object in a query string is JSON (`5`, `true`, `{"node": "a"}`, `"5"`), and what is no JSON is a string.
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

from cortex_graph import NamespacedGraph
from cortex_graph.arguments import MAX_LIMIT
from cortex_graph.errors import invalid
from cortex_graph.provenance import Provenance
from cortex_skills.server.errors import HttpError
from cortex_skills.server.operations import Answer, Call, Operation

_PARTS = ("subject", "predicate", "object")
_MAX_PAGES = 10
_MAX_SKIPPED_PAGES = 100


def _create(call: Call) -> Answer:
    triple = call.graph.create_triple(_triple(call.body), _provenance(call))
    return Answer(201 if triple["created"] else 200, triple)


def _create_batch(call: Call) -> Answer:
    triples = call.graph.create_triples(map(_triple, call.body["triples"]), _provenance(call))
    created = sum(triple["created"] for triple in triples)
    document = {"inserted": triples, "total": len(triples), "created": created, "duplicates": len(triples) - created}
    return Answer(201 if created else 200, document)


def _get(call: Call) -> Answer:
    graph = call.graph
    triple = graph.get_triple(call.path["id"])
    if triple is None:
        raise _no_such_triple()
    return Answer(200, _described(graph, [triple], call.query)[0])


def _delete(call: Call) -> Answer:
    if not call.graph.delete_triple(call.path["id"]):
        raise _no_such_triple()
    return Answer(204)


def _list(call: Call) -> Answer:
    given = dict(call.query)
    if "object" in given:
        given["object"] = object_of(given["object"])
    found = page(call.graph, given, 100)
    offset = found.pop("offset")
    return Answer(200, {"triples": found.pop("rows"), **found, "offset": offset})


def page(graph: NamespacedGraph, given: dict[str, Any], default_limit: int) -> dict[str, Any]:
    """A page of the triples that a pattern binds.

    Args:
        graph: where to look.
        given: the pattern, `limit` (to 10,000), `cursor`, `offset`, `exactTotal`, `provenance` and `onePage`.
        default_limit: of a pattern without a limit.

    Returns:
        `{rows, total, totalIsExact, nextCursor, limit, offset}`.

    Raises:
        InvalidArguments: something in the pattern is not what it must be.

    """
    pattern = {part: given[part] for part in _PARTS if given.get(part) is not None}
    limit, offset = int(given.get("limit") or default_limit), given.get("offset") or 0  # JSON's 1.0 is an integer
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
        "total": max(total, len(rows)),
        "totalIsExact": exact,
        "nextCursor": cursor,
        "limit": limit,
        "offset": offset,
    }


def object_of(text: str) -> Any:
    """The object that stands in a query string."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, float) and math.isinf(value):  # `1e999`
        return text
    return value if isinstance(value, str | int | float | dict) else text


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


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
    raise invalid("offset", "leads past too much data", hint="follow `nextCursor` instead")


def _described(graph: NamespacedGraph, rows: list[dict[str, Any]], given: dict[str, Any]) -> list[dict[str, Any]]:
    """Triples with what is known about their assertion, if that was asked for."""
    if not given.get("provenance"):
        return rows
    described = []
    for row in rows:
        record = graph.provenance_of(row["id"])
        extra: dict[str, Any] = {"provenance": record}
        if record and record["time"]:
            extra["created_at"] = record["time"]
        described.append(row | extra)
    return described


def _triple(body: dict[str, Any]) -> dict[str, Any]:
    return {part: body[part] for part in _PARTS}


def _provenance(call: Call) -> Provenance | None:
    """Who asserts what a call writes."""
    if "provenance" not in call.body:
        return Provenance(agent=call.caller.name)
    call.caller.require("provenance")
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
        raise invalid("provenance.time", "is no time with a time zone", hint="for instance 2026-01-31T12:00:00Z")
    return moment


def _no_such_triple() -> HttpError:
    return HttpError("not_found", "the namespace has no triple of this id")


OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/triples",
        "createTriple",
        "Write one triple.",
        _create,
        {201: "CreatedTriple", 200: "CreatedTriple"},
        permission="write",
        query="NamespaceQuery",
        body="NewTriple",
        description="201 when it is new; 200, with `created: false`, when it was there already.",
    ),
    Operation(
        "GET",
        "/api/v1/triples",
        "listTriples",
        "List the triples that have what is bound.",
        _list,
        {200: "TriplePage"},
        query="ListQuery",
    ),
    Operation(
        "POST",
        "/api/v1/triples/batch",
        "createTriples",
        "Write several triples, all or none.",
        _create_batch,
        {201: "BatchAnswer", 200: "BatchAnswer"},
        permission="write",
        query="NamespaceQuery",
        body="NewTriples",
    ),
    Operation(
        "GET",
        "/api/v1/triples/{id}",
        "getTriple",
        "Read the triple of an id.",
        _get,
        {200: "Triple"},
        query="GetQuery",
        errors=("not_found", "graph_busy"),
    ),
    Operation(
        "DELETE",
        "/api/v1/triples/{id}",
        "deleteTriple",
        "Delete the triple of an id, and its record.",
        _delete,
        {204: None},
        permission="write",
        query="NamespaceQuery",
        errors=("not_found", "graph_busy"),
    ),
)
