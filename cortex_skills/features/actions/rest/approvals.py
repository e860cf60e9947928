"""`/api/v1/approvals`: the requests of agents that wait for a person, and the decisions.

Rules kept here:
- requests are those of the namespace of the plugin, whose gate runs what is approved; another namespace has none;
- an approved action runs before the answer: its result is in the record.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from cortex_skills.doors.rest.model_types import FROM_QUERY, ApiModel, NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.actions import action_operations as operations
from cortex_skills.features.actions.action_request import ApprovalState
from cortex_skills.features.actions.approvals.approval_types import Approval, ApprovalList
from cortex_skills.features.actions.approvals.record import MAX_TEXT

OPERATIONS = Operations()
_ERRORS = ("approval_not_found", "approval_changed")
_DECISIONS = (*_ERRORS, "approval_resolved", "tool_not_found", "skill_not_found", "skill_ambiguous", "graph_busy")


class ApprovalsQuery(NamespaceQuery, total=False):
    """Which requests."""

    state: ApprovalState
    agent: Annotated[str, Field(min_length=1, max_length=256)]
    limit: Annotated[int, Field(ge=1, le=1_000, description="100 by default."), FROM_QUERY]


class DecisionReason(ApiModel, total=False):
    """Why."""

    reason: Annotated[str, Field(max_length=MAX_TEXT)]


@OPERATIONS.add("GET", "/api/v1/approvals", {200: ApprovalList}, permission="approve", query=ApprovalsQuery)
def list_approvals(call: ApiCall) -> ApiAnswer:
    """List the requests of agents, the newest first."""
    wanted = {name: value for name, value in call.query.items() if name != "namespace"}
    return ApiAnswer(200, call.operate(operations.list_requests, **wanted))


@OPERATIONS.add(
    "GET", "/api/v1/approvals/{id}", {200: Approval}, permission="approve", query=NamespaceQuery, errors=_ERRORS
)
def get_approval(call: ApiCall) -> ApiAnswer:
    """Return one request."""
    return ApiAnswer(200, call.operate(operations.show_request, approval=call.path["id"]))


@OPERATIONS.add(
    "POST",
    "/api/v1/approvals/{id}/approve",
    {200: Approval},
    permission="approve",
    query=NamespaceQuery,
    body=DecisionReason,
    needs_body=False,
    errors=_DECISIONS,
    pool="slow",
)
def approve_request(call: ApiCall) -> ApiAnswer:
    """Approve a request, and run its action: its state is `done` or `failed` then."""
    return ApiAnswer(200, call.operate(operations.approve_request, approval=call.path["id"], **call.body or {}))


class EditedInputs(ApiModel):
    """The inputs in place of those of a request."""

    inputs: dict[str, Any]


@OPERATIONS.add(
    "POST",
    "/api/v1/approvals/{id}/edit",
    {200: Approval},
    permission="approve",
    query=NamespaceQuery,
    body=EditedInputs,
    errors=_DECISIONS,
    pool="slow",
)
def edit_approval(call: ApiCall) -> ApiAnswer:
    """Reject a request, and keep one with other inputs in its place, which waits for its own decision."""
    body = call.body or {}
    return ApiAnswer(200, call.operate(operations.edit_request, approval=call.path["id"], inputs=body["inputs"]))


@OPERATIONS.add(
    "POST",
    "/api/v1/approvals/{id}/reject",
    {200: Approval},
    permission="approve",
    query=NamespaceQuery,
    body=DecisionReason,
    needs_body=False,
    errors=_DECISIONS,
)
def reject_request(call: ApiCall) -> ApiAnswer:
    """Reject a request: its action never runs."""
    return ApiAnswer(200, call.operate(operations.reject_request, approval=call.path["id"], **call.body or {}))
