"""Threads with a known, large stack, for guests whose call stack does not fit on the caller's thread.

Rules kept here:
- native code of a guest needs up to 32 times the guest's own stack, and running out of a thread's stack would kill
  the process: what may need much runs on threads that have it;
- threads are made when needed, kept while idle, and never outlive the interpreter's wish to end;
- a host function runs in the context variables of the caller, whatever thread that is on;
- a fork starts anew in the child.
"""

from __future__ import annotations

import contextvars
import os
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _Job:
    """One call on its way to a thread and back."""

    __slots__ = ("context", "done", "error", "result", "work")

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.context = contextvars.copy_context()
        self.result: object = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.result = self.context.run(self.work)
        except BaseException as error:
            self.error = error
        self.done.release()


class DeepThreads:
    """A pool of daemon threads with `stack_bytes` each; it grows with the number of calls under way."""

    def __init__(self, stack_bytes: int) -> None:
        self._stack_bytes = stack_bytes
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._idle: list[queue.SimpleQueue[_Job]] = []
        self._starting = threading.Lock()
        self._mine = threading.local()

    def run(self, work: Callable[[], T]) -> T:
        """What `work()` returns or raises, run on a deep thread: on this one when it is deep already."""
        if getattr(self._mine, "deep", False):
            return work()
        job = _Job(work)
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = self._start()
        inbox.put(job)
        job.done.acquire()
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def _start(self) -> queue.SimpleQueue[_Job]:
        inbox: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        thread = threading.Thread(target=self._serve, args=(inbox,), name="cortex-sandbox", daemon=True)
        with self._starting:  # the stack size is a setting of the whole process
            before = threading.stack_size(self._stack_bytes)
            try:
                thread.start()
            finally:
                threading.stack_size(before)
        return inbox

    def _serve(self, inbox: queue.SimpleQueue[_Job]) -> None:
        self._mine.deep = True
        while True:
            job = inbox.get()
            job.run()
            del job
            self._idle.append(inbox)
