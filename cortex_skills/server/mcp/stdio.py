"""`cortex-skills mcp`: one client on standard input and output.

Rules kept here:
- standard output carries the protocol and nothing else (`output`);
- the end of the input, SIGTERM and SIGINT end it well; requests that came before the end of the input are answered,
  for as long as a host would wait;
- a line that is no message is answered by whatever id it has (`unreadable`);
- a line that is too long is answered like one that is no JSON, and never held.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server

from cortex_skills.server.lanes import Lane
from cortex_skills.server.mcp.caller import Caller
from cortex_skills.server.mcp.output import claimed
from cortex_skills.server.mcp.server import build
from cortex_skills.server.mcp.unreadable import Answering

if TYPE_CHECKING:
    from cortex_skills.plugin import Plugin

MAX_LINE = 8 << 20
_THREADS, _WAITING = 8, 64
_READ = 1 << 16
_GRACE_S = 2.0
_LAST_S = 5.0
_TOO_LONG = "(a line that is too long)\n"


def serve(plugin: Plugin, *, agent: str | None = None, skill: str | None = None) -> None:
    """Serve a plugin until the client goes away, or the process is told to end; call it from the main thread.

    Args:
        plugin: with its skills loaded.
        agent: on whose behalf, when a call does not say.
        skill: the acting skill, when a call does not say.

    Raises:
        BrokenPipeError: nobody reads the answers any more.

    """
    try:
        asyncio.run(_serve(plugin, Caller(agent, skill)))
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is None:
            raise BrokenPipeError("the client is gone") from None
        raise


async def _serve(plugin: Plugin, caller: Caller) -> None:
    lane = Lane("mcp", _THREADS, _WAITING, deep=True)
    built = build(plugin, lane, lambda _: caller)
    lines = _Lines(sys.stdin.fileno())
    built.server.middleware.insert(0, lines.count)
    watching = asyncio.create_task(built.changes.watch())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows: there, both end the process as ever
            loop.add_signal_handler(number, lines.end)
    try:
        with claimed() as output:
            async with stdio_server(stdin=lines, stdout=output) as (reading, writing):  # type: ignore[arg-type]
                messages = Answering(reading, writing, lines.read)
                await built.server.run(messages, writing, built.server.create_initialization_options())
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        lane.close()


class _Lines:
    """The lines of the input, until it ends or somebody says that it does.

    They are read by a thread of its own: nothing can wake one that waits for input, and the process must not wait for
    it when it ends.

    Attributes:
        read: the lines that were handed on, until somebody takes them off.

    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(16)
        self._is_ended = False
        self._at_work = 0
        self.read: deque[str] = deque()
        threading.Thread(target=self._read, name="cortex-stdin", daemon=True).start()

    async def count(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """A middleware: know how many requests are at work."""
        if ctx.request_id is None or ctx.method == "subscriptions/listen":
            return await call_next(ctx)
        self._at_work += 1
        try:
            return await call_next(ctx)
        finally:
            self._at_work -= 1

    def end(self) -> None:
        """The input is over, whatever comes; if that does not end the process, nothing waits for it."""
        self._is_ended = True
        self._queue.put_nowait(None)
        last = threading.Timer(_LAST_S, os._exit, (128 + signal.SIGTERM,))
        last.daemon = True
        last.start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._queue.get()) is not None and not self._is_ended:
            self._room.release()
            self.read.append(line)
            yield line
        until = self._loop.time() + _GRACE_S
        while not self._is_ended and self._loop.time() < until:
            await asyncio.sleep(0.02)  # what was read last is on its way to its handler
            if not self._at_work:
                return

    def _read(self) -> None:
        kept, is_too_long = bytearray(), False
        with suppress(OSError, RuntimeError):  # a RuntimeError: the loop is closed
            while data := os.read(self._descriptor, _READ):
                *lines, rest = data.split(b"\n")
                for line in lines:
                    whole = kept + line
                    self._put(_TOO_LONG if is_too_long else whole.decode("utf-8", "replace"))
                    kept, is_too_long = bytearray(), False
                kept += rest
                if len(kept) > MAX_LINE:
                    kept, is_too_long = bytearray(), True
            if kept:
                self._put(kept.decode("utf-8", "replace"))
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

    def _put(self, line: str) -> None:
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
