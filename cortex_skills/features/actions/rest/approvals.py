"""`/api/v1/approvals`: the requests of agents that wait for a person, and the decisions.

Rules kept here:
- reading and deciding need the permission `approve`; the name of the token is that of the person;
- requests are those of the namespace of the plugin, whose gate runs what is approved; another namespace has none;
- an approved action runs before the answer: its result is in the record.
"""

from __future__ import annotations

from cortex_skills.doors.rest.model_types import NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.actions.approvals.queue import not_found
from cortex_skills.features.actions.rest import approval_models as models

OPERATIONS = Operations()
_ERRORS = ("approval_not_found", "approval_changed")
_DECISIONS = (*_ERRORS, "approval_resolved", "tool_not_found", "skill_not_found", "skill_ambiguous", "graph_busy")


@OPERATIONS.add(
    "GET", "/api/v1/approvals", {200: models.ApprovalList}, permission="approve", query=models.ApprovalsQuery
)
def list_approvals(call: ApiCall) -> ApiAnswer:
    """List the requests of agents, the newest first."""
    if _is_elsewhere(call):
        return ApiAnswer(200, {"approvals": [], "changed": [], "count": 0})
    approvals, query = call.service.plugin.approvals, call.query
    found = approvals.list(query.get("state"), query.get("agent"), query.get("limit", 100))
    listed = [approvals.view(record) for record in found.records]
    return ApiAnswer(200, {"approvals": listed, "changed": list(found.changed), "count": len(listed)})


@OPERATIONS.add(
    "GET", "/api/v1/approvals/{id}", {200: models.Approval}, permission="approve", query=NamespaceQuery, errors=_ERRORS
)
def get_approval(call: ApiCall) -> ApiAnswer:
    """Return one request."""
    approvals = call.service.plugin.approvals
    return ApiAnswer(200, approvals.view(approvals.show(_id(call))))


@OPERATIONS.add(
    "POST",
    "/api/v1/approvals/{id}/approve",
    {200: models.Approval},
    permission="approve",
    query=NamespaceQuery,
    body=models.DecisionReason,
    needs_body=False,
    errors=_DECISIONS,
    pool="slow",
)
def approve_request(call: ApiCall) -> ApiAnswer:
    """Approve a request, and run its action: its state is `done` or `failed` then."""
    approvals = call.service.plugin.approvals
    record = approvals.approve(_id(call), by=call.caller.name, reason=_reason(call))
    return ApiAnswer(200, approvals.view(record))


@OPERATIONS.add(
    "POST",
    "/api/v1/approvals/{id}/reject",
    {200: models.Approval},
    permission="approve",
    query=NamespaceQuery,
    body=models.DecisionReason,
    needs_body=False,
    errors=_DECISIONS,
)
def reject_request(call: ApiCall) -> ApiAnswer:
    """Reject a request: its action never runs."""
    approvals = call.service.plugin.approvals
    record = approvals.reject(_id(call), by=call.caller.name, reason=_reason(call))
    return ApiAnswer(200, approvals.view(record))


def _is_elsewhere(call: ApiCall) -> bool:
    return call.caller.namespace(call.query.get("namespace")) != call.service.plugin.graph.namespace


def _id(call: ApiCall) -> str:
    approval_id = call.path["id"]
    if _is_elsewhere(call):
        raise not_found(approval_id)
    return approval_id


def _reason(call: ApiCall) -> str:
    reason: str = (call.body or {}).get("reason", "")
    return reason
