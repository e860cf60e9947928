"""The person at a connected client decides about an action in place (MCP, `elicitation/create`).

Rules kept here:
- asked is only where the owner has set `approvals.ask: client`, and over the standard input of a process that the owner
  started: over HTTP who would answer holds the token that asked. The client declares the capability, and its protocol
  has requests of the server (the handshake protocols);
- the person is shown the action, its risk, why it waits, the exact inputs and what it would change, with invisible
  characters escaped; what is too long for one message is not asked here, and waits;
- the answer is that of the client's own request for its user: arguments of a tool, which a model writes, decide
  nothing. A form that is dismissed, or an answer that is not one of the two words, decides nothing either.
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from cortex_skills.features.actions.approvals.record import MAX_TEXT, ApprovalRecord
from cortex_skills.safe_io.display import json_text, one_line

_Context = ServerRequestContext[Any, Any]
Decision = tuple[Literal["approve", "reject"], str]
ASK_S = 300.0
MAX_MESSAGE = 16_000  # characters
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": ["approve", "reject"]},
        "reason": {"type": "string", "title": "Reason", "maxLength": MAX_TEXT},
    },
    "required": ["decision"],
}


def can_ask(ctx: _Context) -> bool:
    """Whether the client of a request can ask its user."""
    able = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    return ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS and ctx.session.check_client_capability(able)


async def ask(ctx: _Context, record: ApprovalRecord) -> Decision | None:
    """Ask the user of a client about a request.

    Returns:
        The decision and its reason; None if there is none.
    """
    message = message_of(record)
    if len(message) > MAX_MESSAGE:
        return None
    try:
        async with asyncio.timeout(ASK_S):
            answer = await ctx.session.elicit_form(message, _FORM, related_request_id=ctx.request_id)
    except Exception:  # any answer of a client, and a transport without a way back
        return None
    if answer.action == "decline":
        return "reject", "declined in the client"
    if answer.action != "accept":
        return None
    content = answer.content or {}
    reason = content.get("reason")
    why = reason[:MAX_TEXT] if isinstance(reason, str) else ""
    if content.get("decision") == "approve":
        return "approve", why
    return ("reject", why) if content.get("decision") == "reject" else None


def message_of(record: ApprovalRecord) -> str:
    """What the person is shown."""
    request = record.request
    lines = [
        f"{request.agent} wants to run {request.action} (risk: {request.risk}) with the skill {request.skill}.",
        f"Why it waits: {request.reason}.",
        "Exact inputs:",
        *(f"  {name} = {json_text(value)}" for name, value in request.inputs.items()),
    ]
    if request.preview:
        lines += ["What it would change:", *(f"  {line}" for line in request.preview.split("\n"))]
    return "\n".join(one_line(line) for line in lines)
