"""Threads with a known, large stack, for guests whose call stack does not fit on the caller's thread.

Rules kept here:
- native code of a guest needs up to 32 times the guest's own stack, and running out of a thread's stack would kill
  the process: what may need much runs on threads that have it, and each of them runs one guest at a time;
- a thread of the host's counts as large only when the system says so;
- whoever waits for a job waits until it has ended; when interrupted, the job is told to end soon: a guest never runs
  on unwatched;
- threads are made when needed, kept while idle, and never outlive the interpreter's wish to end;
- a host function runs in the context variables of the caller, whatever thread that is on;
- a fork starts anew in the child.
"""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .errors import SandboxError

T = TypeVar("T")

# Any guest fits on a thread with a stack of this size, with room for what is below it.
DEEP_STACK_BYTES = 32 << 20

_this_thread = threading.local()
_PTHREAD_ATTR_BYTES = 256  # more than pthread_attr_t takes on any Linux


def stack_size() -> int:
    """The size in bytes of the stack that this thread was given; 0 when the system does not tell."""
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
    except (AttributeError, OSError, TypeError):  # no pthreads here
        return 0


_setting = threading.Lock()
os.register_at_fork(before=_setting.acquire, after_in_parent=_setting.release, after_in_child=_setting.release)


@contextmanager
def threads_have(stack_bytes: int) -> Iterator[None]:
    """Meanwhile, threads that begin have stacks of this size: a setting of the whole process, one at a time."""
    with _setting:
        before = threading.stack_size(stack_bytes)
        try:
            yield
        finally:
            threading.stack_size(before)


class _Job:
    """One call on its way to a thread and back."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.context = contextvars.copy_context()
        self.result: object = None
        self.error: BaseException | None = None
        self.has_ended = False
        self._begun = threading.Lock()
        self._ended = threading.Lock()
        self._ended.acquire()

    def run(self, over: Callable[[], None]) -> None:
        """Do the work, unless nobody waits for it any more; `over` is called before anybody hears that it has ended."""
        if not self.claim():
            over()
            return
        try:
            self.result = self.context.run(self.work)
        except BaseException as error:
            self.error = error
        over()
        self.has_ended = True
        self._ended.release()

    def claim(self) -> bool:
        """Whether the job had not begun; whoever hears so first has it alone."""
        return self._begun.acquire(blocking=False)

    def wait(self) -> None:
        """Wait until it has ended.

        A signal's handler may raise here, also when the lock was just taken: `has_ended` says whether it has.
        """
        if not self.has_ended:
            self._ended.acquire()


class DeepThreads:
    """A pool of daemon threads with `stack_bytes` each; it grows with the number of calls under way."""

    def __init__(self, stack_bytes: int) -> None:
        self._stack_bytes = stack_bytes
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._idle: list[queue.SimpleQueue[_Job]] = []

    def run(self, work: Callable[[], T], hurry: Callable[[], None] | None = None) -> T:
        """What `work()` returns or raises, run on a deep thread of its own; on the way, this thread waits.

        Args:
            work: what to do.
            hurry: makes it end soon, when this thread is interrupted.

        """
        if sys.is_finalizing():  # no thread of ours would ever answer
            raise SandboxError("the interpreter is ending", "SandboxClosed")
        job = _Job(work)
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = self._start()
        interrupt: BaseException | None = None
        try:
            inbox.put(job)
            job.wait()
        except BaseException as error:  # a signal's handler raised
            interrupt = error
        if interrupt is not None and job.claim():
            raise interrupt  # before the work began: it never will
        while not job.has_ended:
            try:
                if hurry is not None:
                    hurry()
                job.wait()
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def _start(self) -> queue.SimpleQueue[_Job]:
        inbox: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        with threads_have(self._stack_bytes):
            # `Thread.start` waits for the thread, and breaks when a signal's handler raises meanwhile.
            _thread.start_new_thread(self._serve, (inbox,))
        return inbox

    def _serve(self, inbox: queue.SimpleQueue[_Job]) -> None:
        threading.current_thread().name = "cortex-sandbox"
        _this_thread.stack_bytes = self._stack_bytes

        def be_idle() -> None:  # before the caller goes on: its next job finds this thread, and not a new one
            self._idle.append(inbox)

        while True:
            job = inbox.get()
            job.run(be_idle)
            del job
