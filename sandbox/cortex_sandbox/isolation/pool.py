"""Where a host gets its workers: one template process for each process that asks, started when first needed.

Rules kept here:
- the template is a program of its own in a session of its own: no memory, environment or descriptor of the host's;
- a fork of the host's forgets the template and gets one of its own;
- a template that is gone is replaced; when that fails too, the error says why;
- the template ends with the host, at the latest when its socket closes.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from cortex_sandbox.cache import cache_folder
from cortex_sandbox.errors import SandboxError

from .link import Link

# Long enough to compile the guests for this machine, which happens once.
_START_S = 120.0
_FORK_S = 10.0
_END_S = 5.0
_REASON_BYTES = 4097
_DESCRIPTORS = 2
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[2:]; from cortex_sandbox.isolation.template import main; main(int(sys.argv[1]))"
)


class _Template:
    """A running template process."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that runs this, and words of ours
                [sys.executable, "-I", "-c", _PROGRAM, str(theirs.fileno()), *_import_path()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env=_environment(),
                start_new_session=True,
            )
        self._control.settimeout(_START_S)

    def worker(self, limit: int) -> Link:
        """A worker that waits for its configuration.

        Raises:
            ConnectionError, TimeoutError: when the template is gone or does not answer.
            SandboxError: when it cannot make one.

        """
        self._control.send(b"w")
        told, descriptors, _flags, _address = socket.recv_fds(
            self._control, _REASON_BYTES, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not told:
            raise ConnectionResetError("the template of the workers has ended")
        if len(descriptors) != _DESCRIPTORS:
            raise _unavailable(told[1:].decode("utf-8", "replace"))
        self._control.settimeout(_FORK_S)
        pipe, process = descriptors
        return Link(socket.socket(fileno=pipe), process, limit)

    def end(self) -> None:
        """End it, and wait for that."""
        self._control.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Leave it to the process that this one was forked from."""
        self._control.close()
        self._process.returncode = 0  # not this process's child: there is nothing to wait for


class _Pool:
    """The template of the process that asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._template: _Template | None = None

    def take(self, limit: int) -> Link:
        with self._lock:
            try:
                return self._running().worker(limit)
            except OSError:
                self._drop()
            try:
                return self._running().worker(limit)
            except OSError as error:
                self._drop()
                raise _unavailable(str(error)) from None

    def _running(self) -> _Template:
        if self._template is None:
            self._template = _Template()
        return self._template

    def _drop(self) -> None:
        template, self._template = self._template, None
        if template is not None:
            template.end()

    def end(self) -> None:
        with self._lock:
            self._drop()

    def after_fork(self) -> None:
        self._lock = threading.Lock()
        template, self._template = self._template, None
        if template is not None:
            template.forget()


_pool = _Pool()
os.register_at_fork(after_in_child=_pool.after_fork)
atexit.register(_pool.end)


def take_worker(limit: int) -> Link:
    """A fresh worker.

    Args:
        limit: the largest payload, in bytes, that it may send.

    Raises:
        SandboxError: where workers cannot be had.

    """
    return _pool.take(limit)


def _unavailable(reason: str) -> SandboxError:
    return SandboxError(f"no worker process could be started: {reason}", "SandboxUnavailable")


def _import_path() -> list[str]:
    own = str(Path(__file__).parents[2])
    return [*(path for path in sys.path if Path(path).is_absolute()), own]


def _environment() -> dict[str, str]:
    """What the interpreter itself needs to start, and where compiled guests lie; one heap keeps address space small."""
    environment = {"MALLOC_ARENA_MAX": "1"}
    if libraries := os.environ.get("LD_LIBRARY_PATH"):
        environment["LD_LIBRARY_PATH"] = libraries
    if folder := cache_folder():
        environment["CORTEX_SANDBOX_CACHE"] = str(folder)
    return environment
