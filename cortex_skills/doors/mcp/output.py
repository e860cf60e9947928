"""Standard output, reserved for the protocol.

Rules kept here:
- while it is claimed, everything else that is printed goes to standard error, also what is still buffered at the end;
- the event loop never waits for the reader: what fits into the pipe is written at once, the rest by a thread;
- the mode of the pipe is not changed, because other processes may share it.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import anyio.to_thread


@contextmanager
def claimed() -> Iterator[ProtocolOutput | None]:
    """Standard output; None where the SDK has to claim it: on Windows, or if it is not descriptor 1."""
    if sys.platform == "win32" or not _is_standard():
        yield None
        return
    import fcntl

    sys.stdout.flush()
    descriptor = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    os.dup2(2, 1)
    try:
        yield ProtocolOutput(descriptor)
    finally:
        with suppress(OSError, ValueError):  # there is no reader
            sys.stdout.flush()
        os.dup2(descriptor, 1)  # the copy stays open: a thread may still write to it


def _is_standard() -> bool:
    try:
        os.fstat(2)
        return sys.stdout.fileno() == 1
    except (AttributeError, OSError, ValueError):
        return False


class ProtocolOutput:
    """The stream that the SDK writes messages to, one after the other.

    Args:
        descriptor: the file descriptor.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        mode = os.fstat(descriptor).st_mode
        self._is_pollable = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    async def write(self, text: str) -> None:
        """Write a text.

        Raises:
            OSError: there is no reader any more.
        """
        left = memoryview(text.encode())
        while left and self._has_room():
            left = left[os.write(self._descriptor, left[: select.PIPE_BUF]) :]
        if left:
            await anyio.to_thread.run_sync(self._write_all, left)

    async def flush(self) -> None:
        """Do nothing: writes are not buffered."""

    def _has_room(self) -> bool:
        """Whether `PIPE_BUF` bytes can be written without waiting, or there is no reader (`poll(2)`, `pipe(7)`)."""
        return self._is_pollable and bool(self._poll.poll(0))

    def _write_all(self, left: memoryview) -> None:
        while left:
            self._poll.poll()
            left = left[os.write(self._descriptor, left) :]
