"""`build`: an MCP server on a plugin, for any transport.

Rules kept here:
- no policy: a tool call passes `Plugin.call`, and everything else lists what the plugin has;
- blocking work runs in a worker pool; a client that cancels a request cancels its work (`CancelToken`);
- an agent has at most `AT_ONCE` calls under way, so that no agent uses all threads; further calls wait;
- a call with a progress token is reported every second while it runs, or waits for what is compiled first;
- the handshake and the lists are answered before anything is compiled (`served_skills`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError

from cortex_sandbox import compiling
from cortex_skills.cancellation import CancelGroup, CancelToken
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.doors.mcp import prompts, resources, tools
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.extension import McpExtension
from cortex_skills.doors.mcp.list_changes import ListChanges
from cortex_skills.doors.mcp.logs import Line, Logs
from cortex_skills.doors.mcp.sampling import sampler_of
from cortex_skills.doors.mcp.served_skills import ServedSkills
from cortex_skills.errors import CortexError
from cortex_skills.gate.result import Result, failed
from cortex_skills.operations.caller import Caller
from cortex_skills.runtime.log import LISTENER
from cortex_skills.tools import tool_named
from cortex_skills.tools.base import CALLER
from cortex_skills.tools.wording import SAMPLER
from cortex_skills.version import __version__

if TYPE_CHECKING:
    from cortex_skills.plugin import Plugin

T = TypeVar("T")
_Context = ServerRequestContext[Any, Any]
AT_ONCE = 8
_BEAT_S = 1.0
_RESOURCE_NOT_FOUND = -32002
_INSTRUCTIONS = (
    "Tools on a knowledge graph. Each call acts for a skill, which decides what may be queried and asserted: name it "
    "as `skill` when several are active. Read skill://NAME before you act for a skill, and cortex://context for what "
    "the skills know already. A failed call returns its code and what to do."
)


@dataclass(frozen=True)
class BuiltServer:
    """A server, and the notifier of its clients, which works while `changes.watch()` runs."""

    server: Server[Any]
    changes: ListChanges


class _Server(Server[Any]):
    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **settings: Any
    ) -> InitializationOptions:
        every = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().create_initialization_options(notification_options or every, *args, **settings)


def build(
    plugin: Plugin,
    pool: WorkerPool,
    caller_of: Callable[[_Context], SessionCaller],
    calls: CancelGroup | None = None,
    served: ServedSkills | None = None,
) -> BuiltServer:
    """A server on a plugin.

    Args:
        plugin: the plugin.
        pool: the worker pool for blocking work.
        caller_of: the caller of a message.
        calls: cancels the calls of tools together.
        served: its skills, when they are still loading.
    """
    served = served or ServedSkills(plugin)
    changes = ListChanges(plugin, served)
    handlers = _Handlers(plugin, pool, caller_of, calls or CancelGroup(), served, changes.extensions)
    server = _Server(
        "cortex-skills",
        version=__version__,
        title="Cortex Skills",
        instructions=_INSTRUCTIONS,
        get_tool_input_schema=lambda _: None,  # no argument is repeated in a header
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=handlers.subscribe,
        on_unsubscribe_resource=handlers.unsubscribe,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_subscriptions_listen=changes.listen,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, handlers.logs.set_level)
    server.middleware[:] = [changes.remember]  # without the default tracing, which has no collector here
    return BuiltServer(server, changes)


class _Handlers:
    """The handlers of requests."""

    def __init__(
        self,
        plugin: Plugin,
        pool: WorkerPool,
        caller_of: Callable[[_Context], SessionCaller],
        calls: CancelGroup,
        served: ServedSkills,
        extensions: Sequence[McpExtension],
    ) -> None:
        self._extensions = extensions
        self._calls = calls
        self._plugin = plugin
        self._served = served
        self._pool = pool
        self._caller_of = caller_of
        self.logs = Logs()
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def list_tools(self, ctx: _Context, _: Any) -> types.ListToolsResult:
        await self._served.known()
        profiles = self._plugin.config.tools.profiles
        listed = partial(tools.listed, self._served.skills, self._caller_of(ctx), profiles, self._plugin.tool_sources)
        return types.ListToolsResult(tools=await self._pool.run(listed))

    async def call_tool(self, ctx: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        caller = self._caller_of(ctx)
        arguments, skill, agent = caller.acting(params.arguments or {})
        lines = list[Line]()
        sampler = partial(sampler_of, ctx, asyncio.get_running_loop())

        def call(cancel: CancelToken) -> Result:
            refusal = tools.refused(params.name, caller, self._plugin.tool_sources)
            if refusal is not None:
                return failed(refusal)
            listening = LISTENER.set(lambda *line: lines.append(line))
            sampling = SAMPLER.set(sampler)
            calling = CALLER.set(self._sender(ctx, caller))
            try:
                return self._plugin.call(
                    params.name, arguments, skill=skill, agent=agent, cancel=cancel, session=caller.session
                )
            finally:
                CALLER.reset(calling)
                SAMPLER.reset(sampling)
                LISTENER.reset(listening)

        try:
            result = await self._run(ctx, call, params.name, caller)
        except CortexError as error:
            result = failed(error)
        for extension in self._extensions:
            result = await extension.answered(ctx, result, caller, partial(self._run, ctx, caller=caller))
        await self.logs.send(ctx, lines)
        return tools.answer(result, tool_named(params.name))

    async def subscribe(self, ctx: _Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        try:
            extension = self._extension(uri)
            if extension is None:
                raise resources.ResourceNotFoundError("there is no such resource that changes")
            watch = partial(extension.watch_own, uri, self._agent(ctx))
            await self._run(ctx, lambda _: watch(), "subscribing", self._caller_of(ctx))
            extension.subscribe(ctx, uri)
        except resources.ResourceNotFoundError as error:
            raise MCPError(_RESOURCE_NOT_FOUND, str(error), data={"uri": uri[:200]}) from None
        return types.EmptyResult()

    async def unsubscribe(self, ctx: _Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        if (extension := self._extension(str(params.uri))) is not None:
            extension.unsubscribe(ctx, str(params.uri))
        return types.EmptyResult()

    def _extension(self, uri: str) -> McpExtension | None:
        """The one that has a resource."""
        return next((each for each in self._extensions if each.prefix and uri.startswith(each.prefix)), None)

    def _agent(self, ctx: _Context) -> str:
        return self._caller_of(ctx).agent or self._plugin.agent

    async def list_resources(self, _ctx: _Context, _: Any) -> types.ListResourcesResult:
        await self._served.known()
        return types.ListResourcesResult(resources=resources.listed(self._served.skills))

    async def list_templates(self, _ctx: _Context, _: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(self, ctx: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            if uri == resources.CONTEXT:
                text = await self._context(ctx)
                return types.ReadResourceResult(
                    contents=[types.TextResourceContents(uri=uri, mime_type="application/xml", text=text)]
                )
            if (extension := self._extension(uri)) is not None:
                read = partial(extension.read, uri, self._agent(ctx))
                contents = await self._run(ctx, lambda _: read(), "reading", self._caller_of(ctx))
                return types.ReadResourceResult(contents=[contents])
            await self._served.loaded()
            skills = self._plugin.skills
            caller = self._caller_of(ctx)
            found = await self._run(ctx, lambda _: resources.read(uri, skills), "reading", caller)
        except resources.ResourceNotFoundError as error:
            code = types.INVALID_PARAMS if ctx.protocol_version >= "2026" else _RESOURCE_NOT_FOUND
            raise MCPError(code, str(error), data={"uri": uri[:200]}) from None
        except CortexError as error:
            raise _as_mcp(error) from None
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(self, _ctx: _Context, _: Any) -> types.ListPromptsResult:
        await self._served.known()
        return types.ListPromptsResult(prompts=prompts.listed(self._served.skills))

    async def get_prompt(self, ctx: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name == prompts.CONTEXT:
            try:
                return prompts.prompt(await self._context(ctx) or prompts.NOTHING, "What the active skills know.")
            except CortexError as error:
                raise _as_mcp(error) from None
        await self._served.loaded()
        skill = self._plugin.skills.get(params.name)
        if skill is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:200]!r}")
        return prompts.prompt(skill.manifest.body, skill.manifest.description)

    def _sender(self, ctx: _Context, caller: SessionCaller) -> Caller:
        return Caller(caller.identity or self._agent(ctx), "agent", "mcp", caller.permissions, person=caller.person)

    async def _context(self, ctx: _Context) -> str:
        caller = self._caller_of(ctx)

        def context(cancel: CancelToken) -> str:
            calling = CALLER.set(self._sender(ctx, caller))
            try:
                return self._plugin.context(agent=caller.agent, cancel=cancel)
            finally:
                CALLER.reset(calling)

        return await self._run(ctx, context, "context", caller)

    async def _run(self, ctx: _Context, work: Callable[[CancelToken], T], what: str, caller: SessionCaller) -> T:
        """Run some work in the pool, and report its progress.

        Raises:
            CortexError: `graph_busy`: too many wait already.
        """
        with self._calls.token() as cancel:
            working = self._in_slot(caller.agent or "", partial(work, cancel))
            if ctx.meta and ctx.meta.get("progress_token") is not None:
                working = self._reporting(ctx, working, what)
            try:
                return await working
            except HttpError as error:
                raise CortexError("graph_busy", error.message, hint=error.hint) from None
            except asyncio.CancelledError:
                cancel.cancel()
                raise

    async def _reporting(self, ctx: _Context, work: Coroutine[Any, Any, T], what: str) -> T:
        """Await some work, and report every `_BEAT_S` seconds that it is running."""
        began = time.monotonic()
        working = asyncio.ensure_future(work)
        try:
            await ctx.session.report_progress(0.0, message=f"{what}: started")
            while not (await asyncio.wait({working}, timeout=_BEAT_S))[0]:
                guest = compiling.under_way() if self._served.is_loading else None
                doing = "running" if guest is None else f"waiting, {guest} is compiled for this machine (once)"
                await ctx.session.report_progress(time.monotonic() - began, message=f"{what}: {doing}")
            await ctx.session.report_progress(time.monotonic() - began, message=f"{what}: done")
            return await working
        except asyncio.CancelledError:
            working.cancel()
            raise

    async def _in_slot(self, agent: str, work: Callable[[], T]) -> T:
        await self._served.loaded()
        slots = self._slots.get(agent)
        if slots is None:
            slots = self._slots[agent] = asyncio.Semaphore(AT_ONCE)
        async with slots:
            return await self._pool.run(work)


def _as_mcp(error: CortexError) -> MCPError:
    return MCPError(types.INTERNAL_ERROR, f"{error.code}: {error.message}", data=error.to_json())
