"""The host's end of the pipe to one worker, and the handle of its process.

Rules kept here:
- every read and write has a deadline;
- the host spins for a moment before it sleeps, when no other thread of this process waits for a worker;
- the worker is killed through a process descriptor, never by a process id that may have been reused;
- a forked child of the host closes its copies: the worker belongs to the parent.
"""

from __future__ import annotations

import math
import os
import select
import socket
import threading
import time
import weakref
from functools import partial

from cortex_sandbox.isolation.processes import kill_process
from cortex_sandbox.isolation.spin_wait import SpinWait
from cortex_sandbox.isolation.wire import ERROR, HOST_CALL, LOG, READY, RESULT, Frames, frame

_READ_BYTES = 1 << 16
# About the time to wake a worker and make a small call.
_AWAKE_S = 5e-4
# How long after the deadline data that has arrived is still read.
_LAST_S = 0.25
_END_MS = 1000


class WorkerLateError(Exception):
    """The worker did not read or answer in time."""


class WorkerGoneError(Exception):
    """The worker's process has ended."""


class WorkerLink:
    """A worker's pipe and process.

    Args:
        pipe: a stream socket.
        process: a descriptor of the process (pidfd), which this object closes.
        limit: the maximum size of a payload from the worker, in bytes.
    """

    def __init__(self, pipe: socket.socket, process: int, limit: int) -> None:
        self._pipe = pipe
        self._process = process
        self._frames = Frames((READY, RESULT, ERROR, HOST_CALL, LOG), limit)
        self._spin_wait = SpinWait(pipe, _AWAKE_S)
        self._readable = select.poll()
        self._readable.register(pipe, select.POLLIN)
        self._ending = threading.Lock()
        self.open = True
        _links.add(self)

    def send(self, kind: bytes, payload: bytes, until: float) -> None:
        """Send one frame.

        Raises:
            WorkerLateError: when it is not sent at `until`, in monotonic seconds.
            WorkerGoneError: when the worker has ended.
        """
        left = memoryview(frame(kind, payload))
        try:
            while left:
                try:
                    left = left[self._pipe.send(left, socket.MSG_DONTWAIT) :]
                except BlockingIOError:
                    writable = select.poll()
                    writable.register(self._pipe, select.POLLOUT)
                    if not writable.poll(_milliseconds(until)):
                        raise WorkerLateError from None
        except ConnectionError:
            raise WorkerGoneError from None

    def receive(self, until: float) -> tuple[bytes, bytes]:
        """The kind and payload of the next frame.

        Raises:
            WorkerLateError: when it has not arrived at `until`, in monotonic seconds.
            WorkerGoneError: when the worker has ended.
            WireError: when the worker violates the protocol.
        """
        _receiving.add(self)
        try:
            while (taken := self._frames.take()) is None:
                data = self._data(until)
                if not data:
                    raise WorkerGoneError
                self._frames.feed(data)
            return taken
        except ConnectionError:
            raise WorkerGoneError from None
        finally:
            _receiving.discard(self)

    def _data(self, until: float) -> bytes:
        left = until - time.monotonic()
        if left < -_LAST_S:
            raise WorkerLateError
        if left <= 0 or len(_receiving) > 1:  # other threads need the processors more than this one needs to spin
            return self._read(until, _READ_BYTES)
        return self._spin_wait.read(_READ_BYTES, partial(self._read, until))

    def _read(self, until: float, most: int) -> bytes:
        if not self._readable.poll(_milliseconds(until)):
            raise WorkerLateError
        return self._pipe.recv(most)

    def stop(self) -> None:
        """Kill the worker's process, without waiting for its end."""
        with self._ending:
            if self.open:
                kill_process(self._process)

    def kill(self) -> None:
        """Kill the worker's process and wait until it has ended."""
        if not self.open:
            return
        self.stop()
        ended = select.poll()
        ended.register(self._process, select.POLLIN)
        ended.poll(_END_MS)
        self.let_go()

    def let_go(self) -> None:
        """Close the descriptors of the worker."""
        with self._ending:
            if self.open:
                self.open = False
                self._pipe.close()
                os.close(self._process)

    def after_fork(self) -> None:
        """In a forked child: leave the worker to the parent."""
        self._ending = threading.Lock()
        self.let_go()


_links: weakref.WeakSet[WorkerLink] = weakref.WeakSet()
_receiving: set[WorkerLink] = set()


def _after_fork() -> None:
    _receiving.clear()
    for link in list(_links):
        link.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def _milliseconds(until: float) -> int:
    return max(0, math.ceil((until - time.monotonic()) * 1000))
