"""Standard output as the protocol's own.

Rules kept here:
- it carries the protocol and nothing else: while it is claimed, what anything prints goes to standard error, also what
  is still held back at the end;
- the event loop never waits for whoever reads: what a pipe has room for is written at once, the rest by a thread;
- nobody's settings of the pipe are changed: others may hold the same one.
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
def claimed() -> Iterator[Output | None]:
    """Standard output; None where the SDK has to claim it: on Windows, or when it is no descriptor of its own."""
    if sys.platform == "win32" or not _is_standard():
        yield None
        return
    import fcntl

    sys.stdout.flush()
    descriptor = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    os.dup2(2, 1)
    try:
        yield Output(descriptor)
    finally:
        with suppress(OSError, ValueError):  # nobody reads what went wrong
            sys.stdout.flush()
        os.dup2(descriptor, 1)  # which stays open: a thread may still write to it


def _is_standard() -> bool:
    try:
        os.fstat(2)
        return sys.stdout.fileno() == 1
    except (AttributeError, OSError, ValueError):
        return False


class Output:
    """What the SDK writes messages to, one after the other.

    Args:
        descriptor: where they go.

    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        mode = os.fstat(descriptor).st_mode
        self._tells_of_room = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)

    async def write(self, text: str) -> None:
        """Write a text.

        Raises:
            OSError: nobody reads any more.

        """
        left = memoryview(text.encode())
        while left and self._has_room():
            left = left[os.write(self._descriptor, left[: select.PIPE_BUF]) :]
        if left:
            await anyio.to_thread.run_sync(self._write_all, left)

    async def flush(self) -> None:
        """Nothing is held back."""

    def _has_room(self) -> bool:
        """Whether so much can be written without waiting as is atomic (`poll(2)`, `pipe(7)`); or that nobody reads."""
        return self._tells_of_room and bool(self._poll.poll(0))

    def _write_all(self, left: memoryview) -> None:
        while left:
            self._poll.poll()
            left = left[os.write(self._descriptor, left) :]
