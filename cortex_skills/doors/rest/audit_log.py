"""`/api/v1/audit`: the latest calls of tools, as the clients of Cortex read them.

Rules kept here:
- what is answered is `Plugin.recent_calls`: calls of the plugin's namespace; another namespace has none;
- reading it needs the permission `audit`.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.audit.call_records import TOOL_CALL
from cortex_skills.audit.recent_calls import CallFilter, RecentCall
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest import audit_models as models
from cortex_skills.doors.rest.model_types import CallId, NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.doors.rest.schemas import check

_DEFAULT_LIMIT = 100
_EVENT = "tool_call"

OPERATIONS = Operations()


@OPERATIONS.add("GET", "/api/v1/audit", {200: list[models.AuditedCall]}, permission="audit", query=models.AuditQuery)
def list_calls(call: ApiCall) -> ApiAnswer:
    """List the latest calls of tools, the newest first.

    They are those of the journal, if one is kept; otherwise the server keeps 10,000 for as long as it runs. The id of
    the last call of a page is the `cursor` of the next.
    """
    if _has_no_calls(call):
        return ApiAnswer(200, [])
    query = call.query
    wanted = CallFilter(
        outcome=query.get("outcome"),
        skill=query.get("skill"),
        agent=query.get("user_id"),
        tool=query.get("action"),
        cleaned=query.get("cleaned"),
        since=query.get("from"),
        until=query.get("to"),
        about=query.get("about"),
        session=query.get("session"),
        text=query.get("q"),
    )
    page = call.service.plugin.audit.calls.page(
        wanted, limit=query.get("limit", _DEFAULT_LIMIT), cursor=query.get("cursor")
    )
    return ApiAnswer(200, [_entry(call, found) for found in page.calls])


@OPERATIONS.add("GET", "/api/v1/audit/stats", {200: models.AuditStats}, permission="audit", query=NamespaceQuery)
def get_audit_stats(call: ApiCall) -> ApiAnswer:
    """Count the calls that are kept by tool, agent and outcome."""
    if _has_no_calls(call):
        empty: dict[str, int] = {}
        return ApiAnswer(200, _stats(0, empty, empty, empty, empty))
    counts = call.service.plugin.audit.calls.counts()
    by_namespace = {call.service.plugin.graph.namespace: counts.total} if counts.total else {}
    return ApiAnswer(200, _stats(counts.total, counts.by_tool, counts.by_agent, by_namespace, counts.by_outcome))


@OPERATIONS.add(
    "GET",
    "/api/v1/audit/{id}",
    {200: models.AuditedCall},
    permission="audit",
    query=NamespaceQuery,
    errors=("not_found",),
)
def get_call(call: ApiCall) -> ApiAnswer:
    """Return one call."""
    return ApiAnswer(200, _entry(call, _find(call)))


def events_of_calls(call: ApiCall) -> list[models.Event]:
    """The latest calls of tools as events, the newest first, for the query of `/api/v1/events`."""
    query = call.query
    if _has_no_calls(call) or query.get("type", _EVENT) != _EVENT:
        return []
    wanted = CallFilter(
        agent=query.get("agent") or query.get("agentId"),
        since=query.get("from"),
        until=query.get("to"),
        event=TOOL_CALL,
    )
    page = call.service.plugin.audit.calls.page(wanted, limit=query.get("limit", _DEFAULT_LIMIT))
    return [_event(found) for found in page.calls]


def event_of_call(call: ApiCall, event_id: str) -> models.Event | None:
    """The call with an id as an event."""
    found = None if _has_no_calls(call) else call.service.plugin.audit.calls.get(event_id)
    return None if found is None else _event(found)


def _find(call: ApiCall) -> RecentCall:
    call_id = check(CallId, call.path["id"])
    found = None if _has_no_calls(call) else call.service.plugin.audit.calls.get(call_id)
    if found is None:
        hint = "without a journal the latest calls are kept for as long as the server runs"
        raise HttpError("not_found", "there is no call with this id", hint=hint)
    return found


def _has_no_calls(call: ApiCall) -> bool:
    return call.caller.namespace(call.query.get("namespace")) != call.service.plugin.graph.namespace


def _entry(call: ApiCall, found: RecentCall) -> dict[str, Any]:
    record = found.record.to_json()
    return {
        "id": found.id,
        "timestamp": record.pop("time"),
        "user_id": record.pop("agent"),
        "namespace": call.service.plugin.graph.namespace,
        "action": record.pop("tool"),
        "resource": record["skill"] or "",
        "details": record["outcome"],
        **record,
    }


def _event(found: RecentCall) -> models.Event:
    record = found.record
    fields = {"tool": record.tool, "skill": record.skill or "", "outcome": record.outcome}
    return {
        "id": found.id,
        "type": _EVENT,
        "event_type": _EVENT,
        "agentId": record.agent,
        "agent_id": record.agent,
        "timestamp": record.time,
        "durationMs": record.milliseconds,
        "duration_ms": record.milliseconds,
        "fields": fields,
        "recordedBy": None,
    }


def _stats(total: int, *counts: dict[str, int]) -> dict[str, Any]:
    names = ("actions_by_type", "entries_by_user", "entries_by_namespace", "calls_by_outcome")
    return {"total_entries": total, **dict(zip(names, counts, strict=True))}
