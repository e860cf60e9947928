"""`/api/v1/approval-rules`: the rules that approve: preview, make, list and end one."""

from __future__ import annotations

from cortex_skills.doors.rest.operations import Operations
from cortex_skills.features.actions import rule_operations as operations

OPERATIONS = Operations()
_PATH = "/api/v1/approval-rules"
_ERRORS = ("approval_not_found", "approval_changed", "path_refused", "trust_level_too_low", "tool_not_found")
_KEPT = ("approval_limit", "config_invalid", "graph_busy")

OPERATIONS.serve("GET", _PATH, operations.list_rules)
OPERATIONS.serve("POST", f"{_PATH}/preview", operations.preview_rule, errors=_ERRORS)
OPERATIONS.serve("POST", _PATH, operations.add_rule, errors=(*_ERRORS, *_KEPT))
OPERATIONS.serve(
    "POST",
    f"{_PATH}/{{rule}}/end",
    operations.end_rule,
    needs_body=False,
    errors=("approval_not_found", "approval_resolved", "graph_busy"),
)
