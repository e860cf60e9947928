"""`/api/v1/events`: what clients of Cortex record of their work, and the calls of the audit as events.

Rules kept here:
- an event of a client is statements of its graph, asserted by the client; it changes no record of the audit, and is
  marked with who recorded it;
- the first client that recorded an id states the event: what others assert of it is not part of it;
- calls are listed with the permission `audit`, and events of clients with `read`. The latest 1,000 are searched.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, NotRequired

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType, TypedDict

from cortex_graph import GraphError, NamespacedGraph
from cortex_graph.assertions import Assertion, AssertionFilter, assertions_of, list_assertions
from cortex_graph.exceptions import invalid
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest import audit_models as models
from cortex_skills.doors.rest.audit_log import event_of_call, events_of_calls
from cortex_skills.doors.rest.model_types import ApiModel, Count, Namespace, NamespaceQuery, Time, has_member
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.graph.dialects import mayros
from cortex_skills.features.graph.statement_changes import assert_statements

_LIMIT = 100
_SEARCHED = 1_000
_MAX_CHAIN = 50
_MAX_STATEMENTS = 100

_Part = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:~@-]+$", max_length=256)]
_Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$", max_length=64)]
_Fields = dict[_Key, Annotated[str, Field(max_length=4096)]]
EventId = Annotated[str, Field(min_length=1, max_length=512, description="The id of an event, or of a call.")]


class NewEvent(ApiModel):
    """What a client records, with the names of the client of Mayros or of its server."""

    id: NotRequired[_Part]
    subject: NotRequired[Annotated[_Part, Field(description="`NS:event:ID`.")]]
    type: NotRequired[Annotated[str, Field(min_length=1, max_length=256)]]
    event_type: NotRequired[Annotated[str, Field(min_length=1, max_length=256)]]
    agentId: NotRequired[_Part]
    agent_id: NotRequired[_Part]
    timestamp: Time
    session: NotRequired[_Part]
    parentEvent: NotRequired[_Part]
    parent_event: NotRequired[_Part]
    durationMs: NotRequired[Count]
    duration_ms: NotRequired[Count]
    fields: NotRequired[Annotated[_Fields, Field(max_length=32)]]


_PAIRS = (("id", "subject"), ("type", "event_type"), ("agentId", "agent_id"))
_ONE_OF = {"allOf": [{"anyOf": [has_member(name) for name in pair]} for pair in _PAIRS]}


def _with_its_members(given: NewEvent) -> NewEvent:
    for pair in _PAIRS:
        if not any(name in given for name in pair):
            raise PydanticCustomError("missing_member", f"needs `{pair[0]}` or `{pair[1]}`")
    return given


GivenEvent = TypeAliasType(
    "GivenEvent",
    Annotated[
        NewEvent,
        AfterValidator(_with_its_members),
        Field(description="An event.", json_schema_extra=_ONE_OF),
    ],
)


class NewEvents(ApiModel):
    """Events to record; the namespace may be named here, too."""

    events: Annotated[list[GivenEvent], Field(min_length=1, max_length=64)]
    namespace: NotRequired[Namespace]


class RecordedEvents(TypedDict):
    """How many events were recorded, and how many statements are new."""

    stored: Count
    triples_created: Count


class ChainedEvent(TypedDict):
    """One event of a chain."""

    event_id: str
    event_type: str
    agent_id: str
    timestamp: str
    summary: str


class CausalChain(TypedDict):
    """An event, what caused it, and so on; at most 50."""

    chain: list[ChainedEvent]


OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/events",
    {201: RecordedEvents},
    permission="write",
    query=NamespaceQuery,
    body=NewEvents,
    errors=("graph_busy",),
    pool="slow",
)
def record_events(call: ApiCall) -> ApiAnswer:
    """Record events, as statements that the client asserts, all or none. The same event is recorded once."""
    named = call.body.get("namespace")
    if named is not None and "namespace" not in call.query:
        call = replace(call, query={**call.query, "namespace": named})
    prefix = call.graph.names.prefix
    for event in call.body["events"]:
        if taken := event.get("fields", {}).keys() & mayros.MEMBERS.keys():
            raise invalid("fields", f"has `{min(taken)}`, which is a member of an event")
    statements = [each for event in call.body["events"] for each in mayros.statements_of(event, prefix)]
    rows = call.operate(assert_statements, statements=statements)
    return ApiAnswer(201, {"stored": len(call.body["events"]), "triples_created": sum(row["created"] for row in rows)})


@OPERATIONS.add(
    "GET",
    "/api/v1/events",
    query=models.EventsQuery,
    instead="audit",
    errors=("graph_busy", "query_timeout"),
    pool="slow",
)
def list_events(call: ApiCall) -> models.EventList:
    """List events, the newest first: the latest calls of tools, and what clients recorded."""
    permissions, limit = call.caller.permissions, call.query.get("limit", _LIMIT)
    events = events_of_calls(call) if "audit" in permissions else []
    if "read" in permissions:
        events += _recorded(call, limit)
    events.sort(key=_moment, reverse=True)
    return {"events": events[:limit], "total": len(events[:limit])}


@OPERATIONS.add(
    "GET",
    "/api/v1/events/{id}",
    query=NamespaceQuery,
    instead="audit",
    path_types={"id": EventId},
    errors=("not_found",),
)
def get_event(call: ApiCall) -> models.Event:
    """Return one event."""
    return _event(call, call.path["id"])


@OPERATIONS.add(
    "GET",
    "/api/v1/events/{id}/chain",
    query=NamespaceQuery,
    path_types={"id": EventId},
    errors=("not_found",),
    pool="slow",
)
def get_event_chain(call: ApiCall) -> CausalChain:
    """Return an event and the events that caused it, each the parent of the one before."""
    event: models.Event | None = _event(call, call.path["id"])
    chain: dict[str, ChainedEvent] = {}
    while event is not None and event["id"] not in chain and len(chain) < _MAX_CHAIN:
        chain[event["id"]] = {
            "event_id": event["id"],
            "event_type": event["type"],
            "agent_id": event["agentId"],
            "timestamp": event["timestamp"],
            "summary": f"{event['type']} event",
        }
        parent = event.get("parentEvent")
        event = None if parent is None else _of_client(call.graph, parent)
    return {"chain": list(chain.values())}


def _event(call: ApiCall, event_id: str) -> models.Event:
    permissions = call.caller.permissions
    found = event_of_call(call, event_id) if "audit" in permissions else None
    if found is None and "read" in permissions:
        found = _of_client(call.graph, event_id)
    if found is None:
        raise HttpError("not_found", "there is no event with this id", hint="list them with GET /api/v1/events")
    return found


def _recorded(call: ApiCall, limit: int) -> list[models.Event]:
    """The latest events of clients that a query asks for."""
    graph, query = call.graph, call.query
    prefix = graph.names.prefix
    agent, cursor = query.get("agent") or query.get("agentId"), None
    found: list[models.Event] = []
    which = AssertionFilter(predicate=f"{prefix}event:type", object=query.get("type"))
    for _ in range(_SEARCHED // _LIMIT):
        page = list_assertions(graph, which, limit=_LIMIT, cursor=cursor)
        for each in page.assertions:
            event_id = graph.names.name(each.triple[0].value).removeprefix(f"{prefix}event:")
            event = _of_client(graph, event_id) if each.is_present else None
            if event is None or event["type"] != query.get("type", event["type"]):
                continue
            if agent in (None, event["agentId"]) and _is_between(event, query.get("from"), query.get("to")):
                found.append(event)
        cursor = page.cursor
        if cursor is None or len(found) >= limit:
            break
    return found


def _of_client(graph: NamespacedGraph, event_id: str) -> models.Event | None:
    """The event that the first client that recorded its type states."""
    prefix = graph.names.prefix
    if len(event_id) > 256 or not event_id.isascii() or not event_id.isprintable() or " " in event_id:
        return None
    try:
        rows = graph.list_triples({"subject": f"{prefix}event:{event_id}", "limit": _MAX_STATEMENTS})["triples"]
    except GraphError:  # a name that no node can have
        return None
    origins = assertions_of(graph, [row["id"] for row in rows])
    types = [origins[row["id"]] for row in rows if row["predicate"] == f"{prefix}event:type" and row["id"] in origins]
    if not types:
        return None
    first = min(types, key=lambda origin: origin.time or "")
    own = [row for row in rows if _agent(origins.get(row["id"])) == first.agent]
    event: Any = mayros.event_of(event_id, own, prefix)
    if event is not None:
        event["recordedBy"] = first.agent
    return event  # type: ignore[no-any-return]


def _agent(origin: Assertion | None) -> str | None:
    return None if origin is None else origin.agent


def _moment(event: models.Event) -> float:
    try:
        return datetime.fromisoformat(event["timestamp"]).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _is_between(event: models.Event, since: datetime | None, until: datetime | None) -> bool:
    moment = _moment(event)
    return (since is None or moment >= since.timestamp()) and (until is None or moment <= until.timestamp())
