"""`approval_status`: the operation `approvals.status` for a model."""

from cortex_skills.tools.operation_tools import operation_tool

APPROVAL_STATUS = operation_tool(
    "cortex_skills.features.actions.action_operations:own_request",
    "approval_status",
    "Tell whether a person has approved an action that you asked for, and what came of it. Ask again later while "
    "its state is pending, approved or running.",
    has_details=True,
    permissions=(),
    budget=None,
    profile="operator",
)
