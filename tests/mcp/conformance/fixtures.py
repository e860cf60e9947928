"""The tools, resources and prompts that the conformance suite expects of a server that it tests.

They are added to the product's own server: its transport, sessions, errors, list notifications and log levels answer
the suite, and its own tools, resources and prompts stay listed beside these.

Rules kept here:
- a name that is not a fixture's goes to the product's handler;
- a list changes because a skill is unloaded from the plugin, so that the product notices and notifies.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from cortex_skills.doors.mcp.mcp_server import BuiltServer
from tests.mcp.conformance import questions

Context = ServerRequestContext[Any, Any]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"  # one red pixel
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="  # no sample
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
HEADER_TOOL = "test_header_argument"
SCHEMA_TOOL = "json_schema_2020_12_tool"
SCHEMAS: dict[str, dict[str, Any]] = {
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "test_elicitation": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]},
    HEADER_TOOL: {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
    SCHEMA_TOOL: {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
RESOURCES = {
    "test://static-text": types.TextResourceContents(
        uri="test://static-text", mime_type="text/plain", text="This is the content of the static text resource."
    ),
    "test://static-binary": types.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG),
    "test://watched-resource": types.TextResourceContents(
        uri="test://watched-resource", mime_type="text/plain", text="watched"
    ),
}
TEMPLATE = re.compile(r"test://template/([^/]+)/data")
PROMPTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
    questions.PROMPT: [],
}


def install(built: BuiltServer, change_lists: Callable[[], None]) -> BuiltServer:
    """Add the fixtures to a server.

    Args:
        built: the product's server.
        change_lists: changes the product's lists of tools, resources and prompts.

    """
    server = built.server
    fixtures = _Fixtures(change_lists)

    def beside(method: str, added: list[Any], member: str) -> None:
        """List fixtures after what the product lists."""
        entry = server.get_request_handler(method)
        assert entry is not None

        async def listed(ctx: Context, params: Any) -> Any:
            result = await entry.handler(ctx, params)
            return result.model_copy(update={member: [*getattr(result, member), *added]})

        server.add_request_handler(method, entry.params_type, listed)

    def before(method: str, names: Callable[[Any], bool], handler: Any) -> None:
        """Handle the requests for fixtures before the product's handler."""
        entry = server.get_request_handler(method)
        assert entry is not None

        async def handled(ctx: Context, params: Any) -> Any:
            return await (handler if names(params) else entry.handler)(ctx, params)

        server.add_request_handler(method, entry.params_type, handled)

    tools = [
        types.Tool(name=name, description="of the suite", input_schema=SCHEMAS.get(name, NOTHING))
        for name in (*fixtures.tools, *questions.TOOLS)
    ]
    beside("tools/list", tools, "tools")
    before("tools/call", lambda params: params.name in fixtures.tools, fixtures.call)
    before("tools/call", lambda params: params.name in questions.TOOLS, questions.call)
    beside(
        "resources/list",
        [types.Resource(uri=uri, name=uri, description="of the suite") for uri in RESOURCES],
        "resources",
    )
    template = types.ResourceTemplate(
        uri_template="test://template/{id}/data", name="template", description="of the suite"
    )
    beside("resources/templates/list", [template], "resource_templates")
    before("resources/read", lambda params: _resource(str(params.uri)) is not None, _read)
    prompts = [
        types.Prompt(
            name=name,
            description="of the suite",
            arguments=[types.PromptArgument(name=argument, required=True) for argument in arguments],
        )
        for name, arguments in PROMPTS.items()
    ]
    beside("prompts/list", prompts, "prompts")
    before("prompts/get", lambda params: params.name in PROMPTS, _prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, _complete)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, _accept)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, _accept)
    server.get_tool_input_schema = SCHEMAS.get
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))
    return built


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def _image() -> types.ImageContent:
    return types.ImageContent(data=PNG, mime_type="image/png")


def _embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text))


class _Fixtures:
    """The tools that need no answer of the user."""

    def __init__(self, change_lists: Callable[[], None]) -> None:
        self.tools: dict[str, Callable[[Context], Any]] = {
            "test_simple_text": lambda _: [_text("This is a simple text response for testing.")],
            "test_image_content": lambda _: [_image()],
            "test_audio_content": lambda _: [types.AudioContent(data=WAV, mime_type="audio/wav")],
            "test_embedded_resource": lambda _: [
                _embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
            ],
            "test_multiple_content_types": lambda _: [
                _text("Multiple content types test:"),
                _image(),
                _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
            ],
            "test_error_handling": _fails,
            "test_tool_with_logging": _logs,
            "test_logging_tool": _logs,
            "test_tool_with_progress": _progresses,
            "test_reconnection": _reconnects,
            "test_missing_capability": _needs_sampling,
            "test_trigger_tool_change": lambda _: change_lists() or [_text("changed")],
            "test_trigger_prompt_change": lambda _: change_lists() or [_text("changed")],
            HEADER_TOOL: lambda _: [_text("done")],
            SCHEMA_TOOL: lambda _: [_text("done")],
        }

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        found = self.tools[params.name](ctx)
        content = await found if asyncio.iscoroutine(found) else found
        is_error = params.name == "test_error_handling"
        return types.CallToolResult(content=content, is_error=is_error)


def _fails(_: Context) -> list[Any]:
    return [_text("This tool intentionally returns an error for testing")]


async def _logs(ctx: Context) -> list[Any]:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        params = types.LoggingMessageNotificationParams(level="info", data=said)
        if ctx.protocol_version < "2026":
            await ctx.session.send_notification(
                types.LoggingMessageNotification(params=params), related_request_id=ctx.request_id
            )
        await asyncio.sleep(0.05)
    return [_text("logged")]


async def _progresses(ctx: Context) -> list[Any]:
    for progress in (0, 50, 100):
        await ctx.session.report_progress(progress, 100)
        await asyncio.sleep(0.05)
    return [_text("done")]


async def _reconnects(ctx: Context) -> list[Any]:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await asyncio.sleep(0.1)
    return [_text("Reconnection test completed successfully")]


def _needs_sampling(ctx: Context) -> list[Any]:
    if not ctx.session.check_client_capability(types.ClientCapabilities(sampling=types.SamplingCapability())):
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data=data)
    return [_text("declared")]


def _resource(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    found = TEMPLATE.fullmatch(uri)
    if found is None:
        return RESOURCES.get(uri)
    data = {"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"}
    return types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))


async def _read(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    found = _resource(str(params.uri))
    assert found is not None
    return types.ReadResourceResult(contents=[found])


async def _prompt(
    _: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    content: list[Any]
    match params.name:
        case questions.PROMPT:
            return questions.prompt(params)
        case "test_prompt_with_arguments":
            content = [_text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            resource = _embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            content = [resource, _text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            content = [_image(), _text("Please analyze the image above.")]
        case _:
            content = [_text("This is a simple prompt for testing.")]
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in content])


async def _complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    words = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=words, total=len(words), has_more=False))


async def _accept(_: Context, _params: Any) -> types.EmptyResult:
    return types.EmptyResult()
