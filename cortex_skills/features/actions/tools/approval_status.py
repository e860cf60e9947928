"""`approval_status`: the operation `approvals.status` for a model."""

from __future__ import annotations

from cortex_skills.operations.run import run
from cortex_skills.tools.base import Call, Outcome, Tool


def _run(call: Call) -> Outcome:
    from cortex_skills.features.actions.action_operations import own_request

    found = run(own_request, call.asking, call.arguments, call.host)
    return Outcome(found.text(), dict(found.document()))


_TEXT = {"type": ["string", "null"]}

APPROVAL_STATUS = Tool(
    name="approval_status",
    description=(
        "Tell whether a person has approved an action that you asked for, and what came of it. Ask again later while "
        "its state is pending, approved or running."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "approval": {
                "type": "string",
                "minLength": 1,
                "maxLength": 64,
                "description": "The id of the request, from the answer of the action.",
            }
        },
        "required": ["approval"],
        "additionalProperties": False,
    },
    permissions=(),
    budget=None,
    output_schema={
        "type": "object",
        "properties": {
            "approval": {"type": "string"},
            "action": {"type": "string"},
            "state": {
                "type": "string",
                "enum": ["pending", "approved", "rejected", "expired", "running", "done", "failed", "interrupted"],
            },
            "created": {"type": "string"},
            "expires": {"type": "string"},
            "resolvedBy": _TEXT,
            "reason": {**_TEXT, "description": "What the person wrote."},
            "code": {**_TEXT, "description": "Of an action that failed."},
            "result": {"type": ["object", "null"], "description": "What the action answered."},
        },
        "required": ["approval", "action", "state"],
    },
    profile="operator",
    run=_run,
)
