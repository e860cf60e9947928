"""The process that workers are forked from, with everything that they need loaded and warmed up.

Rules kept here:
- it never sees a skill's code or data: the pipe to each worker goes straight to the host;
- the host starts it as a separate program, so that neither it nor a worker has memory, environment or descriptors of
  the host;
- one worker is always forked in advance, which hides the cost of the fork; one that was killed or stopped while it
  waited is replaced;
- it ends when the host closes its socket or ends; the system reaps its children.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
from dataclasses import dataclass
from typing import NoReturn

from cortex_sandbox.engine.threads import stack_size
from cortex_sandbox.isolation.processes import is_running, kill_process, open_process
from cortex_sandbox.isolation.worker import serve, warm_up
from cortex_sandbox.limits import MAX_MEMORY_BYTES, MIN_MEMORY_BYTES

# The answers on the socket: a worker, with two descriptors, or the reason why there is none.
WORKER, FAILURE = b"w", b"!"
MAX_REASON_BYTES = 4096


@dataclass(frozen=True)
class _Worker:
    """A process that waits for its configuration: the host's end of its pipe, and its process descriptor."""

    pipe: socket.socket
    process: int

    def close(self) -> None:
        """Close the descriptors of this process."""
        self.pipe.close()
        os.close(self.process)

    def end(self) -> None:
        """Kill it, whether it runs or not, and close the descriptors."""
        kill_process(self.process)
        self.close()


def main(descriptor: int) -> NoReturn:
    """Fork workers for the host at the other end of a socket, until it closes."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host handles an interrupt from the keyboard
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    stack_size()  # cached here, since a worker may not make the system call
    for memory_bytes in (MIN_MEMORY_BYTES, MAX_MEMORY_BYTES):  # both images
        warm_up(memory_bytes)
    gc.freeze()
    with contextlib.suppress(ConnectionError):  # the host ended
        while True:
            _serve_one(control)
    os._exit(0)


def _serve_one(control: socket.socket) -> None:
    """Fork a worker, and send it to the host on request."""
    worker = _tried(control)
    if not control.recv(1):
        os._exit(0)
    if not isinstance(worker, _Worker) or not is_running(worker.process):
        if isinstance(worker, _Worker):
            worker.end()
        worker = _tried(control)
    if isinstance(worker, _Worker):
        socket.send_fds(control, [WORKER], [worker.pipe.fileno(), worker.process])
        worker.close()
    else:
        control.send(FAILURE + worker)


def _tried(control: socket.socket) -> _Worker | bytes:
    """A new worker, or the reason why there is none."""
    try:
        return _fork(control)
    except OSError as error:
        return str(error).encode()[:MAX_REASON_BYTES]


def _fork(control: socket.socket) -> _Worker:
    own, theirs = socket.socketpair()
    template = os.getpid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a child that ends at once keeps its number until it is opened
    try:
        child = os.fork()
        if not child:
            try:
                own.close()
                control.close()
                os.dup2(0, 2)  # nothing is written to the host's terminal
                serve(theirs.detach(), template)
            finally:
                os._exit(1)
        theirs.close()
        return _Worker(own, open_process(child))
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        _reap()


def _reap() -> None:
    """Reap what ended while the system did not."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
