"""Threads on which host functions run, so that a caller can leave one behind which does not end in time.

Rules kept here:
- whoever waits, waits until a deadline and no longer; a function that is left behind ends on its own, and what it
  returns is dropped;
- a function runs in the context variables that it is given;
- threads are made when needed, kept while idle, and never outlive the interpreter's wish to end;
- a fork starts anew in the child.
"""

from __future__ import annotations

import contextvars
import os
import queue
import threading
import time
from collections.abc import Callable


class LateError(Exception):
    """The function has not ended in time."""


class _Job:
    """One call on its way to a thread and back."""

    __slots__ = ("context", "done", "error", "result", "work")

    def __init__(self, work: Callable[[], bytes], context: contextvars.Context) -> None:
        self.work = work
        self.context = context
        self.result = b""
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.result = self.context.run(self.work)
        except BaseException as error:
            self.error = error


class HostThreads:
    """A pool of daemon threads; it grows with the number of calls under way."""

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._idle: list[queue.SimpleQueue[_Job]] = []

    def run(self, work: Callable[[], bytes], context: contextvars.Context, until: float) -> bytes:
        """What `work()` returns or raises.

        Raises:
            LateError: when it has not ended until then, in monotonic seconds.

        """
        job = _Job(work, context)
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = self._start()
        inbox.put(job)
        if not job.done.acquire(timeout=max(0.0, until - time.monotonic())):
            raise LateError
        if job.error is not None:
            raise job.error
        return job.result

    def _start(self) -> queue.SimpleQueue[_Job]:
        inbox: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        threading.Thread(target=self._serve, args=(inbox,), name="cortex-sandbox-host", daemon=True).start()
        return inbox

    def _serve(self, inbox: queue.SimpleQueue[_Job]) -> None:
        while True:
            job = inbox.get()
            job.run()
            self._idle.append(inbox)
            job.done.release()
            del job


host_threads = HostThreads()
