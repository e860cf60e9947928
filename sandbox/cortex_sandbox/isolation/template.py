"""The process that workers are forked from: it has loaded and tried everything that they need, and nothing else.

Rules kept here:
- it never sees a skill's code or data: it makes workers, and the pipe to each goes straight to the host;
- started by the host as a program of its own, so that nothing of the host's memory, environment or descriptors is in
  it or in what is forked from it;
- one worker is always forked ahead, which hides the cost of the fork;
- it ends when the host closes its socket or ends; the system collects its dead.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
from dataclasses import dataclass
from typing import NoReturn

from cortex_sandbox.limits import MAX_MEMORY_BYTES, MIN_MEMORY_BYTES
from cortex_sandbox.threads import stack_size

from .processes import open_process
from .worker import serve, try_out

# What the host reads from the socket: a worker, with two descriptors, or why there is none.
WORKER, FAILURE = b"w", b"!"
MAX_REASON_BYTES = 4096


@dataclass(frozen=True)
class _Worker:
    """A process that waits for its configuration: the host's end of its pipe, and a descriptor of itself."""

    pipe: socket.socket
    process: int


def main(descriptor: int) -> NoReturn:
    """Make workers for the host at the other end of a socket, until it closes."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the host's to handle
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    stack_size()  # asks the system for it, which a worker could not
    for memory_bytes in (MIN_MEMORY_BYTES, MAX_MEMORY_BYTES):  # each kind of image
        try_out(memory_bytes)
    gc.freeze()
    with contextlib.suppress(ConnectionError):  # the host ended while it was spoken to
        while True:
            _serve_one(control)
    os._exit(0)


def _serve_one(control: socket.socket) -> None:
    """Fork a worker, and hand it over when the host asks for it."""
    try:
        worker = _fork(control)
    except OSError as error:
        worker, reason = None, str(error).encode()[:MAX_REASON_BYTES]
    if not control.recv(1):
        os._exit(0)
    if worker is None:
        control.send(FAILURE + reason)
        return
    socket.send_fds(control, [WORKER], [worker.pipe.fileno(), worker.process])
    worker.pipe.close()
    os.close(worker.process)


def _fork(control: socket.socket) -> _Worker:
    own, theirs = socket.socketpair()
    template = os.getpid()
    child = os.fork()
    if not child:
        try:
            own.close()
            control.close()
            os.dup2(0, 2)  # what it could say on the host's terminal, it says to nobody
            serve(theirs.detach(), template)
        finally:
            os._exit(1)
    theirs.close()
    return _Worker(own, open_process(child))
