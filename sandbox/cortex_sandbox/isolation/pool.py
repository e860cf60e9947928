"""Starts workers, by one template process per host process, which is started when first needed.

Rules kept here:
- the template is a separate program in a separate session: it has no memory, environment or descriptor of the host;
- a forked child of the host starts its own template;
- a template that has ended is replaced; when that fails too, the error has the reason;
- the template ends with the host, at the latest when its socket closes.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import threading

from cortex_sandbox.engine.cache import cache_folder
from cortex_sandbox.engine.child_program import command
from cortex_sandbox.errors import SandboxError
from cortex_sandbox.isolation.link import WorkerLink

# Includes the time to compile the guests, once per machine.
_START_S = 120.0
_FORK_S = 10.0
_END_S = 5.0
_REASON_BYTES = 4097
_DESCRIPTORS = 2


class _Template:
    """A running template process."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a fixed program
                command("cortex_sandbox.isolation.template", theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env=_environment(),
                start_new_session=True,
            )
        self._control.settimeout(_START_S)

    def worker(self, limit: int) -> WorkerLink:
        """A worker that waits for its configuration.

        Raises:
            ConnectionError, TimeoutError: when the template has ended or does not answer.
            SandboxError: when it cannot fork a worker.
        """
        self._control.send(b"w")
        answer, descriptors, _flags, _address = socket.recv_fds(
            self._control, _REASON_BYTES, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not answer:
            raise ConnectionResetError("the template of the workers has ended")
        if len(descriptors) != _DESCRIPTORS:
            raise _unavailable(answer[1:].decode("utf-8", "replace"))
        self._control.settimeout(_FORK_S)
        pipe, process = descriptors
        return WorkerLink(socket.socket(fileno=pipe), process, limit)

    def end(self) -> None:
        """Stop it and wait until it has ended."""
        self._control.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """In a forked child: leave it to the parent."""
        self._control.close()
        self._process.returncode = 0  # not a child of this process: nothing to wait for


class _Pool:
    """The template of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._template: _Template | None = None

    def take(self, limit: int) -> WorkerLink:
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


def take_worker(limit: int) -> WorkerLink:
    """A new worker.

    Args:
        limit: the maximum size of a payload from the worker, in bytes.

    Raises:
        SandboxError: when no worker can be started.
    """
    return _pool.take(limit)


def _unavailable(reason: str) -> SandboxError:
    return SandboxError(f"no worker process could be started: {reason}", "SandboxUnavailable")


def _environment() -> dict[str, str]:
    """What the interpreter needs to start, and the cache folder; one malloc arena keeps the address space small."""
    environment = {"MALLOC_ARENA_MAX": "1"}
    if libraries := os.environ.get("LD_LIBRARY_PATH"):
        environment["LD_LIBRARY_PATH"] = libraries
    if folder := cache_folder():
        environment["CORTEX_SANDBOX_CACHE"] = str(folder)
    return environment
