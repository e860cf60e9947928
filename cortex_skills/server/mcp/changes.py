"""Tells clients that the tools, resources or prompts are others than before.

Rules kept here:
- a client is told once it has asked anything, and as long as its connection lives; by the notifications of the
  handshake protocols, or on the streams that it opened for that (`subscriptions/listen`, 2026-07-28);
- the tools are told of only when their list has changed; who may see which of them does not count;
- who changes the skills waits for no client: they are told on the event loop, one change after the other.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from cortex_skills.server.mcp import prompts, resources, tools
from cortex_skills.server.mcp.caller import Caller

if TYPE_CHECKING:
    from mcp.server.connection import Connection

    from cortex_skills.plugin import Plugin

_TELL_S = 5.0
_MAX_LISTENERS = 128


class Changes:
    """Who is to be told, and of what.

    Args:
        plugin: whose skills come and go.

    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=_MAX_LISTENERS, max_buffered_events=16)
        self._connections: set[Connection] = set()
        self._seen = self._lists()
        self._again = asyncio.Event()

    async def remember(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """A middleware: know the connection that a message came by."""
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            connection = ctx.session._connection  # the SDK has no public name for it
            if connection not in self._connections:
                self._connections.add(connection)
                connection.exit_stack.callback(self._connections.discard, connection)
        return await call_next(ctx)

    async def watch(self) -> None:
        """Tell of changes until cancelled."""
        loop = asyncio.get_running_loop()

        def changed() -> None:
            try:
                loop.call_soon_threadsafe(self._again.set)
            except RuntimeError:  # the loop is closed: nobody is left to be told
                return

        take_back = self._plugin.on_change(changed)
        try:
            while True:
                await self._again.wait()
                self._again.clear()
                await self._tell()
        finally:
            take_back()

    async def _tell(self) -> None:
        before, self._seen = self._seen, self._lists()
        if before == self._seen:
            return
        if before[0] != self._seen[0]:
            await self._bus.publish(ToolsListChanged())
            await self._notify("notifications/tools/list_changed")
        if before[1:] != self._seen[1:]:
            await self._bus.publish(ResourcesListChanged())
            await self._bus.publish(PromptsListChanged())
            await self._notify("notifications/resources/list_changed")
            await self._notify("notifications/prompts/list_changed")

    async def _notify(self, method: str) -> None:
        """Tell every connection at once; one that takes nothing holds up the others no longer than a while."""
        telling = [asyncio.create_task(connection.notify(method, None)) for connection in tuple(self._connections)]
        if telling:
            _, late = await asyncio.wait(telling, timeout=_TELL_S)
            for task in late:
                task.cancel()

    def _lists(self) -> tuple[str, str, str]:
        skills = self._plugin.skills
        found = (tools.listed(skills, Caller()), resources.listed(skills), prompts.listed(skills))
        shown = [repr([item.model_dump() for item in items]) for items in found]
        return shown[0], shown[1], shown[2]
