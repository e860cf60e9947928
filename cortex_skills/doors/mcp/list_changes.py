"""Notifies clients that the list of tools, resources or prompts has changed.

Rules kept here:
- a client is notified after its first request and while its connection lives: by the notifications of the handshake
  protocols, or on the streams that it opened for that (`subscriptions/listen`, 2026-07-28);
- a change while a session over HTTP has no stream open is sent on its next stream: a client opens its stream after its
  first requests, and again after the network has cut it off;
- while the skills are loading, the first lists are those at the first message after the handshake, which is answered
  before they are made;
- the list of tools is compared without regard to who may call them;
- what is installed may be changed by another process: it is looked at every `_LOOK_S` seconds;
- while the lists cannot be read, as when the store does not answer, clients are not notified; each look tries again;
- a thread that changes the skills does not wait for clients: they are notified on the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
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

from cortex_skills.doors.mcp import prompts, resources, tools
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.extension import McpExtension
from cortex_skills.feature import functions

if TYPE_CHECKING:
    from mcp.server.connection import Connection

    from cortex_skills.doors.mcp.served_skills import ServedSkills
    from cortex_skills.plugin import Plugin

log = logging.getLogger(__name__)

_Lists = tuple[str, str, str]
_SEND_S = 5.0
_LOOK_S = 2.0  # how often the sources of tools are looked at
_MAX_LISTENERS = 256
_WITHOUT_LISTS = ("initialize", "server/discover")  # a client gives up one that waits for a store that is being opened


class ListChanges:
    """The connections to notify, and the lists that each knows.

    Args:
        plugin: the plugin whose skills are watched.
        served: its skills.
    """

    def __init__(self, plugin: Plugin, served: ServedSkills) -> None:
        self._plugin = plugin
        self._served = served
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=_MAX_LISTENERS, max_buffered_events=16)
        self.extensions: tuple[McpExtension, ...] = tuple(make(plugin, self._bus) for make in functions("mcp"))
        self._known: dict[Connection, _Lists] = {}
        self._streams: Counter[str] = Counter()
        self._seen: _Lists | None = None if served.is_loading else self._lists()
        self._of_sources: str | None = None if served.is_loading else self._revision()
        self._looking = asyncio.Lock()
        self._again = asyncio.Event()

    async def remember(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware: remember the connection of a message, and what the lists were when it came."""
        if self._seen is None and ctx.method not in _WITHOUT_LISTS:
            await self._look_first()
        if self._seen is not None and ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            connection = ctx.session._connection  # the SDK has no public name for it
            if connection not in self._known:
                self._known[connection] = self._seen
                connection.exit_stack.callback(self._known.pop, connection, None)
        return await call_next(ctx)

    def stream_begins(self, session: str) -> None:
        """Note that a session over HTTP has opened a stream."""
        self._streams[session] += 1
        self._again.set()

    def stream_ends(self, session: str) -> None:
        """Note that a session over HTTP has lost a stream."""
        self._streams[session] -= 1  # the next one may have begun already
        if not self._streams[session]:
            del self._streams[session]

    def check(self) -> None:
        """Compare the lists now, and notify clients if they differ."""
        self._again.set()

    async def watch(self) -> None:
        """Notify clients until cancelled."""
        loop = asyncio.get_running_loop()

        def changed() -> None:
            try:
                loop.call_soon_threadsafe(self._again.set)
            except RuntimeError:  # the loop is closed
                return

        watching = [asyncio.create_task(each.watch()) for each in self.extensions]
        take_back = self._plugin.on_change(changed)
        self._again.set()  # for changes before this call
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._again.wait(), _LOOK_S)
                try:
                    if self._seen is None:
                        self._again.clear()
                    elif self._again.is_set() or await self._sources_changed():
                        self._again.clear()
                        await self._notify()
                except Exception as error:  # of the store
                    if self._of_sources is not None:
                        log.warning("the clients are not notified of changes for now", exc_info=error)
                    self._of_sources = None  # so that the next look finds a change
        finally:
            take_back()
            for task in watching:
                task.cancel()

    async def _look_first(self) -> None:
        """Make the first lists; empty ones where they cannot be read, so that a later look finds a change."""
        async with self._looking:
            if self._seen is None:
                try:
                    self._of_sources = await asyncio.to_thread(self._revision)
                    self._seen = await asyncio.to_thread(self._lists)
                except Exception as error:  # of the store
                    log.warning("the clients are not notified of changes for now", exc_info=error)
                    self._of_sources, self._seen = None, ("", "", "")

    def _revision(self) -> str:
        return " ".join(source.revision() for source in self._plugin.tool_sources)

    async def _sources_changed(self) -> bool:
        """Whether something was installed, stopped or removed since the last look, by any process."""
        before = self._of_sources
        self._of_sources = await asyncio.to_thread(self._revision)
        return self._of_sources != before

    async def _notify(self) -> None:
        before, seen = self._seen, await asyncio.to_thread(self._lists)
        self._seen = seen
        for event in _events(before or seen, seen):
            await self._bus.publish(event)
        sending: list[asyncio.Task[None]] = []
        for connection, known in tuple(self._known.items()):
            if connection.session_id is None or connection.session_id in self._streams:
                self._known[connection] = seen
                sending.extend(asyncio.create_task(connection.notify(m, None)) for m in _methods(known, seen))
        if sending:  # a client that does not read delays the others for `_SEND_S` at most
            _, late = await asyncio.wait(sending, timeout=_SEND_S)
            for task in late:
                task.cancel()

    def _lists(self) -> _Lists:
        skills, profiles = self._served.skills, self._plugin.config.tools.profiles
        found = (
            tools.listed(skills, SessionCaller(), profiles, self._plugin.tool_sources),
            resources.listed(skills),
            prompts.listed(skills),
        )
        lists = [repr([item.model_dump() for item in items]) for items in found]
        return lists[0], lists[1], lists[2]


def _events(before: _Lists, after: _Lists) -> list[ServerEvent]:
    """The events for streams of the protocol 2026-07-28."""
    events: list[ServerEvent] = [ToolsListChanged()] if before[0] != after[0] else []
    return events if before[1:] == after[1:] else [*events, ResourcesListChanged(), PromptsListChanged()]


def _methods(before: _Lists, after: _Lists) -> list[str]:
    """The notifications of the handshake protocols."""
    changed = ["tools"] if before[0] != after[0] else []
    changed += ["resources", "prompts"] if before[1:] != after[1:] else []
    return [f"notifications/{what}/list_changed" for what in changed]
