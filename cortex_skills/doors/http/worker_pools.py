"""Where blocking work runs, so that the event loop never waits.

Rules kept here:
- a pool has a fixed number of threads and of waiting calls; what comes beyond that is refused at once;
- quick work and work that may take long have separate pools: slow calls wait only for slow calls;
- work whose caller has gone is not begun, and frees its place; work that has begun keeps its thread until it ends;
- sandboxes run on the threads of a deep pool directly: another change of threads costs as much as a small call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, Generic, TypeVar

from cortex_skills.doors.http.http_errors import HttpError

T = TypeVar("T")


class WorkerPool:
    """Threads, and a queue of calls that wait for one. All calls come from one event loop.

    Args:
        name: the name of its threads.
        threads: how many calls run at once.
        waiting: how many more may wait.
        deep: whether its threads have stacks that are large enough for any sandbox.
    """

    def __init__(self, name: str, threads: int, waiting: int, *, deep: bool = False) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"cortex-{name}")
        self._places = self._all = threads + waiting
        self._is_closed = False
        self._beginning: Callable[[], Any] = nullcontext
        if deep:
            from cortex_sandbox.engine.threads import DEEP_STACK_BYTES, threads_have

            self._beginning = partial(threads_have, DEEP_STACK_BYTES)

    async def run(self, work: Callable[[], T]) -> T:
        """Run some work in a thread.

        Raises:
            HttpError: `server_busy`: too many calls wait already.
        """
        if not self._places:
            raise HttpError("server_busy", "too many requests wait already", hint="try again in a while")
        job = _Job(work, self)
        self._places -= 1
        try:
            with self._beginning():  # the executor starts a thread when it is given a job
                self._pool.submit(job.run)
        except RuntimeError:  # closed
            self.give_back(job)
            raise HttpError("server_busy", "the server is shutting down", hint="try again in a while") from None
        try:
            return await job.answer
        except asyncio.CancelledError:
            if not job.has_begun:
                self.give_back(job)
            raise

    def close(self) -> None:
        """Begin nothing more; what has begun goes on."""
        self._is_closed = True
        self._pool.shutdown(wait=False)

    @property
    def taken(self) -> int:
        """How many calls run or wait."""
        return self._all - self._places

    @property
    def is_closed(self) -> bool:
        """Whether the pool is closed."""
        return self._is_closed

    def give_back(self, job: _Job[Any]) -> None:
        """Free the place of a job; on the event loop."""
        if job.has_place:
            job.has_place = False
            self._places += 1


class _Job(Generic[T]):
    """Some work, and the future of its result.

    Attributes:
        answer: the result, on the event loop.
        has_begun: whether a thread has begun it.
        has_place: whether it holds a place of the pool.
    """

    __slots__ = ("_loop", "_pool", "_work", "answer", "has_begun", "has_place")

    def __init__(self, work: Callable[[], T], pool: WorkerPool) -> None:
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[T] = self._loop.create_future()
        self.has_begun = False
        self.has_place = True
        self._work = work
        self._pool = pool

    def run(self) -> None:
        """Run the work, on a thread of the pool."""
        self.has_begun = True
        settle: Callable[[], object] = self.answer.cancel
        if not (self._pool.is_closed or self.answer.cancelled()):
            try:
                settle = partial(self.answer.set_result, self._work())
            except BaseException as error:
                settle = partial(self.answer.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._settle, settle)

    def _settle(self, settle: Callable[[], object]) -> None:
        self._pool.give_back(self)
        if not self.answer.cancelled():
            settle()
