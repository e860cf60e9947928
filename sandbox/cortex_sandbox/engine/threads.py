"""Pools of threads: with a large stack for guests, and for functions that may be abandoned.

Rules kept here:
- the native code of a guest needs up to 32 times the guest's own stack, and overflowing a thread's stack would kill the
  process: guests that may need much run on threads with large stacks, one guest per thread at a time;
- the stack size of a host thread is what the system reports;
- the caller of a guest waits until it has ended; when the caller is interrupted, the guest is interrupted too, so that
  no guest runs on without a caller; when the guest is half a second late, the caller sees to its end itself;
- the caller of `run_until` waits until its deadline and no longer; an abandoned function runs on, and its result is
  dropped;
- threads are made when needed, kept while idle, and are daemon threads;
- a host function runs in the context variables of the caller, on any thread;
- a forked child starts with no threads.
"""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast

from cortex_sandbox.errors import SandboxError

T = TypeVar("T")

# Enough for any guest and the Python frames below it.
DEEP_STACK_BYTES = 32 << 20

# How late a guest may be until its caller acts, and how often the caller does.
_LATE_S, _AGAIN_S = 0.5, 0.1

_this_thread = threading.local()
_PTHREAD_ATTR_BYTES = 256  # more than sizeof(pthread_attr_t) on any Linux


def stack_size() -> int:
    """The size in bytes of this thread's stack; 0 when the system does not report it."""
    known: int | None = getattr(_this_thread, "stack_bytes", None)
    if known is None:
        known = _this_thread.stack_bytes = _ask_stack_size()
    return known


def _ask_stack_size() -> int:
    try:
        libc = ctypes.CDLL(None)
        libc.pthread_self.restype = ctypes.c_void_p
        thread = ctypes.c_void_p(libc.pthread_self())
        if sys.platform == "darwin":
            libc.pthread_get_stacksize_np.restype = ctypes.c_size_t
            return int(libc.pthread_get_stacksize_np(thread))
        attributes = ctypes.create_string_buffer(_PTHREAD_ATTR_BYTES)
        size = ctypes.c_size_t()
        if libc.pthread_getattr_np(thread, attributes):
            return 0
        libc.pthread_attr_getstacksize(attributes, ctypes.byref(size))
        libc.pthread_attr_destroy(attributes)
        return size.value
    except (AttributeError, OSError, TypeError):  # no pthreads
        return 0


_setting = threading.Lock()
os.register_at_fork(before=_setting.acquire, after_in_parent=_setting.release, after_in_child=_setting.release)


@contextmanager
def threads_have(stack_bytes: int) -> Iterator[None]:
    """Threads started during the block have stacks of this size. The setting is process-wide, so blocks take turns."""
    with _setting:
        before = threading.stack_size(stack_bytes)
        try:
            yield
        finally:
            threading.stack_size(before)


class LateError(Exception):
    """The function did not end in time."""


class _Job(Generic[T]):
    """One call that a thread of a pool makes."""

    def __init__(self, work: Callable[[], T], context: contextvars.Context) -> None:
        self.work = work
        self.context = context
        self.result: T | None = None
        self.error: BaseException | None = None
        self.has_ended = False
        self._begun = threading.Lock()
        self._ended = threading.Lock()
        self._ended.acquire()

    def run(self, before_end: Callable[[], None]) -> None:
        """Do the work, unless the caller has given up; `before_end` is called before the caller continues."""
        if not self.claim():
            before_end()
            return
        try:
            self.result = self.context.run(self.work)
        except BaseException as error:
            self.error = error
        before_end()
        self.has_ended = True
        self._ended.release()

    def claim(self) -> bool:
        """Whether the job had not begun; true only for the first call."""
        return self._begun.acquire(blocking=False)

    def wait(self, timeout_s: float = -1) -> None:
        """Wait until it has ended, or for a time.

        A signal handler may raise here, even when the lock was just acquired: `has_ended` is the reliable state.
        """
        if not self.has_ended:
            self._ended.acquire(timeout=timeout_s)

    def wait_for_end(self, deadline: float, when_late: Callable[[], None]) -> None:
        """Wait until it has ended; from half a second after the deadline on, call `when_late` repeatedly."""
        if deadline == math.inf:
            self.wait()
            return
        self.wait(max(0.0, deadline + _LATE_S - time.monotonic()))
        while not self.has_ended:
            when_late()
            self.wait(_AGAIN_S)

    def outcome(self) -> T:
        """What it returned or raised."""
        if self.error is not None:
            raise self.error
        return cast("T", self.result)


class ThreadPool:
    """Daemon threads; their number grows with the number of concurrent calls.

    Args:
        stack_bytes: the size of their stacks; 0 for the default of the system.
    """

    def __init__(self, stack_bytes: int) -> None:
        self._stack_bytes = stack_bytes
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._idle: list[queue.SimpleQueue[_Job[Any]]] = []

    def run(
        self,
        work: Callable[[], T],
        interrupt: Callable[[], None] | None = None,
        *,
        deadline: float = math.inf,
        when_late: Callable[[], None] = lambda: None,
    ) -> T:
        """Run `work()` on a thread of the pool, in a copy of this context, and wait for it; what it returns or raises.

        Args:
            work: the function to call.
            interrupt: makes it end soon; called when this thread is interrupted.
            deadline: when it should have ended, in monotonic seconds.
            when_late: called repeatedly from half a second after the deadline on, until it has ended.
        """
        job = _Job(work, contextvars.copy_context())
        inbox = self._inbox()
        raised: BaseException | None = None
        try:
            inbox.put(job)
            job.wait_for_end(deadline, when_late)
        except BaseException as error:  # from a signal handler
            raised = error
        if raised is not None and job.claim():
            raise raised  # the work had not begun, and will not
        while not job.has_ended:
            try:
                if interrupt is not None:
                    interrupt()
                job.wait_for_end(deadline, when_late)
            except BaseException as error:
                raised = error
        if raised is not None:
            raise raised
        return job.outcome()

    def run_until(self, work: Callable[[], T], context: contextvars.Context, until: float) -> T:
        """Run `work()` on a thread of the pool, in a context, and wait until a deadline; what it returns or raises.

        Raises:
            LateError: when it has not ended at `until`, in monotonic seconds.
        """
        job = _Job(work, context)
        self._inbox().put(job)
        job.wait(max(0.0, until - time.monotonic()))
        if not job.has_ended:
            raise LateError
        return job.outcome()

    def _inbox(self) -> queue.SimpleQueue[_Job[Any]]:
        """The queue of an idle thread."""
        if sys.is_finalizing():  # daemon threads no longer run
            raise SandboxError("the interpreter is ending", "SandboxClosed")
        try:
            return self._idle.pop()
        except IndexError:
            return self._start()

    def _start(self) -> queue.SimpleQueue[_Job[Any]]:
        inbox: queue.SimpleQueue[_Job[Any]] = queue.SimpleQueue()
        with threads_have(self._stack_bytes):
            # `Thread.start` waits for the thread, and breaks when a signal handler raises meanwhile.
            _thread.start_new_thread(self._serve, (inbox,))
        return inbox

    def _serve(self, inbox: queue.SimpleQueue[_Job[Any]]) -> None:
        threading.current_thread().name = "cortex-sandbox"
        if self._stack_bytes:
            _this_thread.stack_bytes = self._stack_bytes

        def be_idle() -> None:  # before the caller continues, so that its next job reuses this thread
            self._idle.append(inbox)

        while True:
            job = inbox.get()
            job.run(be_idle)
            del job
