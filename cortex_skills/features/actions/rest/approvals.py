"""`/api/v1/approvals`: the requests of agents that wait for a person, and the decisions.

Rules kept here:
- requests are those of the namespace of the plugin, whose gate runs what is approved; another namespace has none;
- an approved action runs before the answer: its result is in the record.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.doors.rest.operations import Operations
from cortex_skills.features.actions import action_operations as operations
from cortex_skills.operations.json_types import ApprovalId

OPERATIONS = Operations()
_ONE = "/api/v1/approvals/{id}"
_SHOWN: dict[str, Any] = {
    "names": {"approval": "id"},
    "path_types": {"id": ApprovalId},
    "errors": ("approval_not_found", "approval_changed"),
}
_DECIDED: dict[str, Any] = {
    **_SHOWN,
    "errors": (
        *_SHOWN["errors"],
        *("approval_resolved", "tool_not_found", "skill_not_found", "skill_ambiguous", "graph_busy"),
    ),
}

OPERATIONS.serve("GET", "/api/v1/approvals", operations.list_requests, name="listApprovals")
OPERATIONS.serve("GET", _ONE, operations.show_request, name="getApproval", **_SHOWN)
OPERATIONS.serve(
    "POST",
    f"{_ONE}/approve",
    operations.approve_request,
    name="approveRequest",
    needs_body=False,
    pool="slow",
    **_DECIDED,
)
OPERATIONS.serve("POST", f"{_ONE}/edit", operations.edit_request, name="editApproval", pool="slow", **_DECIDED)
OPERATIONS.serve(
    "POST", f"{_ONE}/edit/preview", operations.preview_edit, name="previewEditedApproval", pool="slow", **_DECIDED
)
OPERATIONS.serve(
    "POST", f"{_ONE}/reject", operations.reject_request, name="rejectRequest", needs_body=False, **_DECIDED
)
