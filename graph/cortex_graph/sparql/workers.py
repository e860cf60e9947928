"""The processes that evaluate queries: a few, started when they are needed.

Rules kept here:
- as many queries run at once as there are processes; some more wait, and beyond these is `GraphBusy`;
- a query that has run out of time, that is stopped, or whose answer nobody reads any further, is killed with its
  process; one that waits for a process and is stopped waits no longer;
- a process that answered well is asked again; one that is not asked for a minute ends;
- no process outlives the pool, nor this process, however it ends. A fork of it starts processes of its own.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from cortex_graph.errors import GraphBusy, GraphUnavailable
from cortex_graph.sparql.process import Process, too_slow
from cortex_graph.sparql.worker import PIECE
from cortex_graph.stopping import Stop, waiting

IDLE_S = 60.0


@dataclass(frozen=True)
class Running:
    """A query that has begun to answer.

    Attributes:
        header: what the process says of the answer.
        chunks: the bytes of the answer. Closing it ends the query.

    """

    header: bytes
    chunks: Generator[bytes, None, None]


@dataclass
class _State:
    """What a pool holds; apart from it, so that its end can be seen to when nobody holds the pool."""

    idle: list[tuple[Process, float]] = field(default_factory=list)  # and since when
    busy: set[Process] = field(default_factory=set)
    waiting: int = 0
    closed: bool = False
    owner: int = field(default_factory=os.getpid)


class Workers:
    """A pool of processes.

    Args:
        size: how many queries may run at once; None for as many as there are processors, but 3 or 4.
        waiting: how many more may wait for that.
        memory_bytes: how much memory each may take.

    """

    def __init__(self, size: int | None = None, waiting: int = 32, memory_bytes: int = 1 << 30) -> None:
        self.size = size or min(4, max(3, os.cpu_count() or 1))
        self._waiting = waiting
        self._memory_bytes = memory_bytes
        self._begin()
        _POOLS.add(self)

    def ask(
        self, request: dict[str, Any], deadline: float, at_end: Callable[[], None], stop: Stop | None = None
    ) -> Running:
        """Have a query evaluated; returns once the first bytes of its answer are there, or all of it.

        Args:
            request: what to ask, see `worker.py`.
            deadline: when it is killed, by `time.monotonic`.
            at_end: called once, when the query has ended, however it did.
            stop: ends it before.

        Raises:
            GraphBusy: all processes are busy, and as many wait as may.
            GraphError: the query failed.

        """
        try:
            run = _Run(self, self._acquire(deadline, stop), deadline, at_end, stop)
        except BaseException:
            at_end()
            raise
        try:
            header = run.begin(request)
            chunks = run.chunks()
            next(chunks)  # to the first piece; closing it ends the query from now on
        except BaseException:
            run.end()
            raise
        return Running(header, chunks)

    def close(self) -> None:
        """End all processes, and what they are doing."""
        with self._changed:
            self._state.closed = True
            self._changed.notify_all()
        watch = self._idle_watch
        if watch is not None:
            watch.cancel()
        _end(self._state)

    def pids(self) -> list[int]:
        """The ids of the processes that are there."""
        with self._changed:
            return [process.pid for process in (*(process for process, _ in self._state.idle), *self._state.busy)]

    def replace(self, ended: Process) -> Process:
        """A new process in place of one that has ended while it had nothing to do."""
        process = Process(self._memory_bytes)
        with self._changed:
            self._state.busy.discard(ended)
            self._state.busy.add(process)
        ended.close()
        return process

    def release(self, process: Process) -> None:
        """Take a process back; one that is still at work has no time left, or nobody who reads."""
        keep = process.is_free and not process.was_killed
        with self._changed:
            keep = keep and not self._state.closed and process in self._state.busy
            self._state.busy.discard(process)
            if keep:
                self._state.idle.append((process, time.monotonic()))
                self._watch_idle()
            self._changed.notify()
        if not keep:
            process.close()

    def give_up(self, process: Process) -> None:
        """Let another query take the place of a process that was killed; its reader may be elsewhere."""
        with self._changed:
            self._state.busy.discard(process)
            self._changed.notify()

    def forget(self) -> None:
        """Begin anew, in a fork of the process that the pool was made in."""
        for process in (*(process for process, _ in self._state.idle), *self._state.busy):
            process.abandon()
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._state = _State()
        self._idle_watch: threading.Timer | None = None
        weakref.finalize(self, _end, self._state)

    def _acquire(self, deadline: float, stop: Stop | None) -> Process:
        stopped = threading.Event()

        def interrupt() -> None:
            stopped.set()
            with self._changed:
                self._changed.notify_all()

        with waiting(stop, interrupt), self._changed:
            state = self._state
            if len(state.busy) >= self.size:
                if state.waiting >= self._waiting:
                    raise self._all_busy()
                state.waiting += 1
                try:
                    free = self._changed.wait_for(
                        lambda: state.closed or stopped.is_set() or len(state.busy) < self.size,
                        max(0.0, deadline - time.monotonic()),
                    )
                finally:
                    state.waiting -= 1
                if not free or stopped.is_set():
                    raise self._all_busy()
            if state.closed:
                raise GraphUnavailable("the store is closed", hint="open it again")
            if state.idle:
                process, _ = state.idle.pop()
                state.busy.add(process)
                return process
            # Under the lock, so that no more of them are started than may be; it takes a millisecond.
            process = Process(self._memory_bytes)
            state.busy.add(process)
            return process

    def _all_busy(self) -> GraphBusy:
        return GraphBusy(
            f"all {self.size} processes for queries are busy",
            hint="try again in a while, or end answers that nobody reads any further",
        )

    def _watch_idle(self) -> None:
        if self._idle_watch is None:
            self._idle_watch = threading.Timer(IDLE_S, _end_idle, args=(weakref.ref(self),))
            self._idle_watch.daemon = True
            self._idle_watch.start()

    def end_idle(self) -> None:
        """End the processes that were not asked for a while."""
        with self._changed:
            long_ago = time.monotonic() - IDLE_S / 2
            ended = [process for process, since in self._state.idle if since < long_ago]
            self._state.idle = [(process, since) for process, since in self._state.idle if since >= long_ago]
            self._idle_watch = None
            if self._state.idle:
                self._watch_idle()
        for process in ended:
            process.close()


class _Run:
    """One query on one process, from its start to its end."""

    def __init__(
        self, pool: Workers, process: Process, deadline: float, at_end: Callable[[], None], stop: Stop | None
    ) -> None:
        self._pool = pool
        self._process = process
        self._at_end = at_end
        self._stop = stop
        self._ended = False
        self._first: list[bytes] = []
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._expire)
        self._timer.daemon = True
        self._timer.start()

    def begin(self, request: dict[str, Any]) -> bytes:
        """Send the request, and read until a first piece or the end of the answer has come."""
        try:
            self._process.ask(request)
        except BrokenPipeError:  # it has ended since it was asked last, killed by somebody
            if self._process.timed_out:
                raise too_slow() from None
            self._process = self._pool.replace(self._process)
            self._process.ask(request)
        header = self._read()[1]
        while sum(map(len, self._first)) < PIECE:
            kind, content = self._read()
            if kind == b"F":
                self.end()
                break
            self._first.append(content)
        return header

    def chunks(self) -> Generator[bytes, None, None]:
        """Nothing, then the pieces of the answer."""
        try:
            yield b""
            while self._first:
                yield self._first.pop(0)
            while not self._ended:
                kind, content = self._read()
                if kind == b"F":
                    break
                yield content
        finally:
            self.end()

    def end(self) -> None:
        """Give the process back, killed if it is at work."""
        if self._ended:
            return
        self._ended = True
        self._timer.cancel()
        self._pool.release(self._process)
        self._at_end()

    def _read(self) -> tuple[bytes, bytes]:
        with waiting(self._stop, self._kill):
            return self._process.read()

    def _kill(self) -> None:
        self._process.kill()

    def _expire(self) -> None:
        self._process.kill(timed_out=True)
        self._pool.give_up(self._process)


_POOLS: weakref.WeakSet[Workers] = weakref.WeakSet()


def _end(state: _State) -> None:
    if state.owner != os.getpid():  # a fork ends; the processes are its parent's
        return
    for process in (*(process for process, _ in state.idle), *state.busy):
        process.kill()
    for process, _ in state.idle:
        process.close()
    state.idle.clear()


def _end_idle(pool: weakref.ref[Workers]) -> None:
    if found := pool():
        found.end_idle()


def _after_fork() -> None:
    for pool in list(_POOLS):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
