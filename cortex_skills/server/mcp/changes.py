"""Tells clients that the tools, resources or prompts are others than before.

Rules kept here:
- a client is told once it has asked anything, and as long as its connection lives; by the notifications of the
  handshake protocols, or on the streams that it opened for that (`subscriptions/listen`, 2026-07-28);
- what changes while a session over HTTP has no stream open is kept, and told on the next one that it opens: a client
  opens its stream after its first requests, and again when a network has cut it off;
- the tools are told of only when their list has changed; who may see which of them does not count;
- who changes the skills waits for no client: they are told on the event loop, one change after the other.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from cortex_skills.server.mcp import prompts, resources, tools
from cortex_skills.server.mcp.caller import Caller

if TYPE_CHECKING:
    from mcp.server.connection import Connection

    from cortex_skills.plugin import Plugin

_Lists = tuple[str, str, str]
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
        self._told: dict[Connection, _Lists] = {}
        self._streams: Counter[str] = Counter()
        self._seen = self._lists()
        self._again = asyncio.Event()

    async def remember(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """A middleware: know the connection that a message came by."""
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            connection = ctx.session._connection  # the SDK has no public name for it
            if connection not in self._told:
                self._told[connection] = self._seen
                connection.exit_stack.callback(self._told.pop, connection, None)
        return await call_next(ctx)

    def stream_begins(self, session: str) -> None:
        """A session over HTTP can be told from now on."""
        self._streams[session] += 1
        self._again.set()

    def stream_ends(self, session: str) -> None:
        """A session over HTTP cannot be told any more."""
        self._streams[session] -= 1  # the next one may have begun already
        if not self._streams[session]:
            del self._streams[session]

    async def watch(self) -> None:
        """Tell of changes until cancelled."""
        loop = asyncio.get_running_loop()

        def changed() -> None:
            try:
                loop.call_soon_threadsafe(self._again.set)
            except RuntimeError:  # the loop is closed: nobody is left to be told
                return

        take_back = self._plugin.on_change(changed)
        self._again.set()  # for what changed before somebody listened
        try:
            while True:
                await self._again.wait()
                self._again.clear()
                await self._tell()
        finally:
            take_back()

    async def _tell(self) -> None:
        before, self._seen = self._seen, self._lists()
        for event in _events(before, self._seen):
            await self._bus.publish(event)
        telling: list[asyncio.Task[None]] = []
        for connection, known in tuple(self._told.items()):
            if connection.session_id is None or connection.session_id in self._streams:
                self._told[connection] = self._seen
                telling.extend(asyncio.create_task(connection.notify(m, None)) for m in _methods(known, self._seen))
        if telling:  # one that takes nothing holds up the others no longer than a while
            _, late = await asyncio.wait(telling, timeout=_TELL_S)
            for task in late:
                task.cancel()

    def _lists(self) -> _Lists:
        skills = self._plugin.skills
        found = (tools.listed(skills, Caller()), resources.listed(skills), prompts.listed(skills))
        shown = [repr([item.model_dump() for item in items]) for items in found]
        return shown[0], shown[1], shown[2]


def _events(before: _Lists, after: _Lists) -> list[ServerEvent]:
    """What the streams of 2026 are told of."""
    events: list[ServerEvent] = [ToolsListChanged()] if before[0] != after[0] else []
    return events if before[1:] == after[1:] else [*events, ResourcesListChanged(), PromptsListChanged()]


def _methods(before: _Lists, after: _Lists) -> list[str]:
    """The notifications of the handshake protocols."""
    changed = ["tools"] if before[0] != after[0] else []
    changed += ["resources", "prompts"] if before[1:] != after[1:] else []
    return [f"notifications/{what}/list_changed" for what in changed]
