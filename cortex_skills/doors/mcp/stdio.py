"""`cortex-skills mcp`: one client on standard input and output.

Rules kept here:
- standard output carries only the protocol (`output`);
- the end of the input, SIGTERM and SIGINT end the process gracefully; requests that came before the end of the input
  are answered if they finish within `_GRACE_S`, counted from when the skills are loaded;
- a client is answered while the skills are loading (`served_skills`); if none can be loaded, the process ends;
- a line that is not a message, or is too long, is answered with its id, if it has one (`unreadable`); what is too long
  is not kept in memory.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server

from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.doors.mcp.batches import Batches, ReadableMessages
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.mcp_server import build
from cortex_skills.doors.mcp.output import claimed
from cortex_skills.doors.mcp.served_skills import ServedSkills
from cortex_skills.doors.mcp.top_level_members import TopLevelMembers
from cortex_skills.doors.mcp.unreadable import MAX_LINE, Unread, too_long, unread
from cortex_skills.safe_io.strict_json import without_mark

if TYPE_CHECKING:
    from cortex_skills.plugin import Plugin
    from cortex_skills.runtime.skill import Skill

_THREADS, _WAITING = 8, 64
_READ = 1 << 16
_GRACE_S = 2.0
_LAST_S = 5.0


def serve(
    plugin: Plugin,
    *,
    agent: str | None = None,
    skill: str | None = None,
    load: Callable[[], None] | None = None,
    expected: Mapping[str, Skill] = MappingProxyType({}),
) -> None:
    """Serve a plugin until the client disconnects or a signal comes; call it from the main thread.

    Args:
        plugin: with its skills loaded, unless `load` does that.
        agent: the agent of calls that name none.
        skill: the acting skill of calls that name none.
        load: loads the skills, while the client is served already.
        expected: those that it will load, if they are in order.

    Raises:
        CortexError: `load` failed.
        BrokenPipeError: the client no longer reads the answers.
    """
    try:
        asyncio.run(_serve(plugin, SessionCaller(agent, skill), load, expected))
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is None:
            raise BrokenPipeError("the client is gone") from None
        raise


async def _serve(
    plugin: Plugin, caller: SessionCaller, load: Callable[[], None] | None, expected: Mapping[str, Skill]
) -> None:
    pool = WorkerPool("mcp", _THREADS, _WAITING, deep=True)
    served = ServedSkills(plugin, expected)
    built = build(plugin, pool, lambda _: caller, served=served)
    lines = _Lines(sys.stdin.fileno(), served)
    built.server.middleware.insert(0, lines.count)
    watching = asyncio.create_task(built.changes.watch())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows: both end the process there
            loop.add_signal_handler(number, lines.end)

    def loaded() -> None:
        built.changes.check()
        if served.error is not None:
            lines.stop()

    if load is not None:
        served.load(load, loaded)
    try:
        with claimed() as output:
            async with stdio_server(stdin=lines, stdout=output) as (reading, writing):  # type: ignore[arg-type]
                answers = Batches(writing)
                messages = ReadableMessages(reading, answers, lines.read)
                await built.server.run(messages, answers, built.server.create_initialization_options())
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        pool.close()
    if served.error is not None:
        raise served.error


class _Lines:
    """The lines of the input, until it ends or `end` is called.

    A daemon thread reads them: a read of standard input cannot be interrupted, and must not delay the end of the
    process.

    Attributes:
        read: for each line that was passed on why it is not one for the SDK, until `ReadableMessages` removes it.
    """

    def __init__(self, descriptor: int, served: ServedSkills) -> None:
        self._descriptor = descriptor
        self._served = served
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[tuple[bytes, Unread | None] | None] = asyncio.Queue()
        self._room = threading.Semaphore(16)
        self._is_ended = False
        self._under_way = 0
        self.read: deque[Unread | None] = deque()
        threading.Thread(target=self._read, name="cortex-stdin", daemon=True).start()

    async def count(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware: count the requests under way."""
        if ctx.request_id is None or ctx.method == "subscriptions/listen":
            return await call_next(ctx)
        self._under_way += 1
        try:
            return await call_next(ctx)
        finally:
            self._under_way -= 1

    def end(self) -> None:
        """End the input; if the process has not ended after `_LAST_S`, exit at once."""
        self.stop()
        last = threading.Timer(_LAST_S, os._exit, (128 + signal.SIGTERM,))
        last.daemon, last.name = True, "cortex-stdin-end"
        last.start()

    def stop(self) -> None:
        """End the input."""
        self._is_ended = True
        self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (item := await self._queue.get()) is not None and not self._is_ended:
            line, refused = item
            self._room.release()
            self.read.append(refused)
            yield line.decode() if refused is None else ""  # which the SDK refuses
        until = self._loop.time() + _GRACE_S
        while not self._is_ended and (self._served.is_loading or self._loop.time() < until):
            await asyncio.sleep(0.02)  # the last request may not have reached its handler yet
            if not self._under_way:
                return

    def _read(self) -> None:
        kept, members = bytearray(), None
        with suppress(OSError, RuntimeError):  # a RuntimeError: the loop is closed
            while data := os.read(self._descriptor, _READ):
                *lines, rest = data.split(b"\n")
                for line in lines:
                    self._put(kept + line, members)
                    kept, members = bytearray(), None
                kept += rest
                if members is not None or len(kept) > MAX_LINE:
                    members = members or TopLevelMembers()
                    members.feed(kept)
                    kept.clear()
            if kept or members is not None:
                self._put(kept, members)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

    def _put(self, line: bytearray, members: TopLevelMembers | None) -> None:
        """Pass a line on, or the end of one that is too long and whose members were sought before."""
        message = bytes(line)
        if members is None and len(message) > MAX_LINE:  # its end came with its last bytes
            members = TopLevelMembers()
        if members is None:
            message = without_mark(message)
            refused = unread(message)
        else:
            members.feed(message)
            refused = too_long(members)
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, (message, refused))
