"""`approval_status`: what became of an action that waits for a person.

Rules kept here:
- an agent sees its own requests; that of another agent is answered like one that does not exist.
"""

from __future__ import annotations

from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.queue import not_found
from cortex_skills.features.actions.approvals.request_text import status_of, words_of
from cortex_skills.tools.base import Call, Outcome, Tool


def _run(call: Call) -> Outcome:
    queue = call.host.part(AgentActions).queue
    record = queue.find(call.arguments["approval"])
    if record.request.agent != call.agent:
        raise not_found(record.id)
    state = record.state(queue.now())
    text = [words_of(record, state), *([record.end.text] if record.end else [])]
    return Outcome("\n".join(text), status_of(record, state))


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
