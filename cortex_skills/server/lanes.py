"""Where blocking work is done, so that the event loop never waits.

Rules kept here:
- a lane has so many threads, and so many calls may wait for one; what comes beyond that is refused at once;
- what is quick and what may take long have lanes of their own: slow calls only ever wait for slow calls;
- work that nobody waits for any more does not begin, and gives its place back; what has begun keeps its thread until it
  ends, whoever waits;
- guests run on the threads of a deep lane as they are: another change of threads costs as much as a small call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, Generic, TypeVar

from cortex_skills.server.errors import HttpError

Answer = TypeVar("Answer")


class Lane:
    """Some threads, and a line of calls that wait for one. All calls come from one event loop.

    Args:
        name: of its threads.
        threads: how many calls run at once.
        waiting: how many more may wait.
        deep: whether its threads have stacks that any guest fits on.

    """

    def __init__(self, name: str, threads: int, waiting: int, *, deep: bool = False) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"cortex-{name}")
        self._places = self._all = threads + waiting
        self._is_closed = False
        self._beginning: Callable[[], Any] = nullcontext
        if deep:
            from cortex_sandbox.threads import DEEP_STACK_BYTES, threads_have

            self._beginning = partial(threads_have, DEEP_STACK_BYTES)

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Do some work in a thread.

        Raises:
            HttpError: `server_busy`: too many wait already.

        """
        if not self._places:
            raise HttpError("server_busy", "too many requests wait already", hint="try again in a while")
        job = _Job(work, self)
        self._places -= 1
        try:
            with self._beginning():  # the pool begins a thread as it is handed the job
                self._pool.submit(job.run)
        except RuntimeError:  # closed
            self.give_back(job)
            raise HttpError("server_busy", "the server is about to end", hint="try again in a while") from None
        try:
            return await job.answer
        except asyncio.CancelledError:
            if not job.has_begun:  # and now it never will
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
        """Whether nothing more begins."""
        return self._is_closed

    def give_back(self, job: _Job[Any]) -> None:
        """Let somebody else have the place of a job; on the event loop."""
        if job.has_place:
            job.has_place = False
            self._places += 1


class _Job(Generic[Answer]):
    """Some work on its way to a thread, and what comes of it on its way back.

    Attributes:
        answer: what it comes to, on the event loop.
        has_begun: whether a thread has it; one that finds the answer cancelled leaves it be.
        has_place: whether it counts as one of the lane's.

    """

    __slots__ = ("_lane", "_loop", "_work", "answer", "has_begun", "has_place")

    def __init__(self, work: Callable[[], Answer], lane: Lane) -> None:
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Answer] = self._loop.create_future()
        self.has_begun = False
        self.has_place = True
        self._work = work
        self._lane = lane

    def run(self) -> None:
        """Do the work; on a thread of the lane's."""
        self.has_begun = True
        tell: Callable[[], object] = self.answer.cancel
        if not (self._lane.is_closed or self.answer.cancelled()):
            try:
                tell = partial(self.answer.set_result, self._work())
            except BaseException as error:
                tell = partial(self.answer.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._settle, tell)

    def _settle(self, tell: Callable[[], object]) -> None:
        self._lane.give_back(self)
        if not self.answer.cancelled():
            tell()
