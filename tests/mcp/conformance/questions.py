"""The fixtures that ask the client: by a request of the server until 2025-11-25, by an incomplete result since.

Rules kept here:
- with the handshake protocols, a tool sends `sampling/createMessage` or `elicitation/create` and awaits the answer;
- since 2026-07-28, a tool returns what it needs, and is called again with the answers (SEP-2322).
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata

Context = ServerRequestContext[Any, Any]
Answered = types.CallToolResult | types.InputRequiredResult

PROMPT = "test_input_required_result_prompt"
_PEOPLE: dict[str, Any] = {
    "username": {"type": "string", "description": "User's response"},
    "email": {"type": "string", "description": "User's email address"},
}
_DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_OPTIONS = ["option1", "option2", "option3"]
_ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {
        "type": "string",
        "oneOf": [
            {"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)
        ],
    },
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {
        "type": "array",
        "items": {
            "anyOf": [
                {"const": f"value{n}", "title": f"{word} Choice"}
                for n, word in enumerate(("First", "Second", "Third"), 1)
            ]
        },
    },
}
_FORMS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "test_elicitation": (_PEOPLE, ["username", "email"]),
    "test_elicitation_sep1034_defaults": (_DEFAULTS, []),
    "test_elicitation_sep1330_enums": (_ENUMS, []),
}


def _form(message: str, member: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {member: {"type": kind}}, "required": [member]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sampling(text: str, most: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=most))


# By tool, what is asked for in each round.
_ROUNDS: dict[str, list[dict[str, Any]]] = {
    "test_input_required_result_elicitation": [{"user_name": _form("What is your name?", "name")}],
    "test_input_required_result_sampling": [{"capital_question": _sampling("What is the capital of France?", 100)}],
    "test_input_required_result_list_roots": [{"client_roots": types.ListRootsRequest()}],
    "test_input_required_result_request_state": [{"confirm": _form("Please confirm", "ok", "boolean")}],
    "test_input_required_result_tampered_state": [{"confirm": _form("Please confirm", "ok", "boolean")}],
    "test_input_required_result_multiple_inputs": [
        {
            "user_name": _form("What is your name?", "name"),
            "greeting": _sampling("Generate a greeting", 50),
            "client_roots": types.ListRootsRequest(),
        }
    ],
    "test_input_required_result_multi_round": [
        {"step1": _form("Step 1: What is your name?", "name")},
        {"step2": _form("Step 2: What is your favorite color?", "color")},
    ],
    "test_input_required_result_capabilities": [
        {"name": _form("What is your name?", "name"), "greeting": _sampling("Generate a greeting", 50)}
    ],
    "test_streaming_elicitation": [{"name": _form("What is your name?", "name")}],
}
_STATELESS = ("elicitation", "sampling", "list_roots")  # the suite wants no `requestState` of these
TOOLS = ("test_sampling", *_FORMS, *_ROUNDS)


async def call(ctx: Context, params: types.CallToolRequestParams) -> Answered:
    """Call one of `TOOLS`."""
    if params.name in _ROUNDS:
        return _next_round(ctx, params)
    given = params.arguments or {}
    metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
    if params.name == "test_sampling":
        request = _sampling(given["prompt"], 100)
        said = await ctx.session.send_request(request, types.CreateMessageResult, metadata=metadata)
        return _said(f"LLM response: {said.content.text}")  # type: ignore[union-attr]
    properties, required = _FORMS[params.name]
    schema = {"type": "object", "properties": properties, "required": required}
    answer = await ctx.session.elicit_form(given.get("message", "Please answer"), schema, ctx.request_id)
    return _said(f"User response: action={answer.action}, content={answer.content}")


def prompt(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    """Get `PROMPT`, which needs a context."""
    answers = params.input_responses or {}
    if "user_context" not in answers:
        return types.InputRequiredResult(
            input_requests={"user_context": _form("What context should the prompt use?", "context")}
        )
    content = types.TextContent(text=f"In the context {answers['user_context'].model_dump_json()}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def _next_round(ctx: Context, params: types.CallToolRequestParams) -> Answered:
    rounds = _ROUNDS[params.name]
    answers = params.input_responses or {}
    number = int(params.request_state or 0)
    asked = rounds[number]
    if all(_answers(key, asked[key], answers) for key in asked):
        number += 1
        if number == len(rounds):
            return _said("state-ok " + " ".join(answer.model_dump_json() for answer in answers.values()))
        asked = rounds[number]
    able = ctx.session.client_capabilities
    if params.name == "test_input_required_result_capabilities" and able is not None:
        asked = {key: request for key, request in asked.items() if _is_declared(request, able)}
    state = None if params.name.endswith(_STATELESS) else str(number)
    return types.InputRequiredResult(input_requests=asked, request_state=state)


def _answers(key: str, request: Any, answers: dict[str, Any]) -> bool:
    """Whether the answers hold that of a request, of its kind and with what it requires."""
    answer = answers.get(key)
    if isinstance(request, types.ElicitRequest):
        required = request.params.requested_schema["required"]  # type: ignore[union-attr]
        return isinstance(answer, types.ElicitResult) and all(name in (answer.content or {}) for name in required)
    kind = types.ListRootsResult if isinstance(request, types.ListRootsRequest) else types.CreateMessageResult
    return isinstance(answer, kind)


def _is_declared(request: Any, able: types.ClientCapabilities) -> bool:
    return (able.elicitation if isinstance(request, types.ElicitRequest) else able.sampling) is not None


def _said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])
