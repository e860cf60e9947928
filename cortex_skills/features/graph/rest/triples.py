"""`/api/v1/triples`: write, read and delete triples.

Rules kept here:
- a batch is written as a whole or not at all;
- who may write, remove and read what is decided by the operations (`statement_changes.py`, `pattern_query.py`);
- an object in a query string is JSON (`5`, `true`, `{"node": "a"}`, `"5"`); text that is no JSON is a string.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from cortex_graph.as_of import today_of
from cortex_graph.assertion_records.provenance import Provenance
from cortex_graph.assertions import history_of
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.short_ids import full_triple_id
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.model_types import GraphQuery, StoredTriple
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.graph.looking.pattern_query import described, query
from cortex_skills.features.graph.rest import triple_models as models
from cortex_skills.features.graph.statement_changes import assert_statements, withdraw
from cortex_skills.safe_io.lenient_values import json_or_text

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
    history = history_of(graph, full_triple_id(today_of(graph), call.path["id"]))
    if history is None:
        raise HttpError("not_found", "the namespace has no triple with this id")
    triple, assertion = graph.as_json(history.quad), history.assertion
    if assertion is not None and assertion.withdrawn is not None:
        if not call.query.get("withdrawn"):
            hint = "it is returned with `withdrawn=true`"
            raise HttpError("not_found", "the triple with this id was withdrawn", hint=hint)
        time = {} if assertion.time is None else {"created_at": assertion.time}
        row = {**triple, **time, "withdrawn": assertion.withdrawn}
        return ApiAnswer(200, row | {"provenance": assertion.origin} if call.query.get("provenance") else row)
    (row,) = described(graph, [triple], provenance=call.query.get("provenance", False))
    return ApiAnswer(200, row)


@OPERATIONS.add(
    "DELETE",
    "/api/v1/triples/{id}",
    {204: None},
    permission="write",
    query=models.DeleteQuery,
    errors=("not_found", "graph_busy", "query_timeout"),
)
def delete_triple(call: ApiCall) -> ApiAnswer:
    """Withdraw the triple with an id.

    Its record and its proofs stay, marked with who withdrew it, unless `erase` is true. For a triple that has proofs
    both need the permission `provenance`, except for withdrawing what the caller asserted.
    """
    given = {name: call.query[name] for name in ("erase", "reason") if name in call.query}
    call.operate(withdraw, triple=call.path["id"], memories_of=call.query.get("memoriesOf", ""), **given)
    return ApiAnswer(204)


@OPERATIONS.add("GET", "/api/v1/triples", {200: models.TriplePage}, query=models.ListQuery)
def list_triples(call: ApiCall) -> ApiAnswer:
    """List the triples that match the given parts."""
    given = dict(call.query)
    if "object" in given:
        given["object"] = json_or_text(given["object"])
    found = queried(call, given)
    return ApiAnswer(200, {"triples": found.pop("matches"), **found})


def queried(call: ApiCall, given: dict[str, Any]) -> dict[str, Any]:
    """A page of the statements that match a pattern: members of a query string or of a body."""
    return call.operate(query, **query.by_name({name: each for name, each in given.items() if name != "namespace"}))


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
