"""The processes of esbuild, as the host sees them.

Rules kept here:
- a process answers one request at a time; threads that bundle at the same time have one each. One that is idle for
  `_IDLE_S` seconds is ended, and so are all when this process ends or exits;
- a request that is late, interrupted or answered with anything but one whole answer ends the process and its children;
- a forked child of the host closes its copies of the pipes: the processes belong to the parent.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import wasmtime

from cortex_sandbox.engine.child_program import command
from cortex_sandbox.engine.code_cache import NativeCode, Used, use_code
from cortex_sandbox.engine.engine import BUNDLER, SETTINGS, bundler_dimensions
from cortex_sandbox.engine.guests import manifest, read_guest
from cortex_sandbox.errors import SandboxError
from cortex_sandbox.esbuild.program import HEAD, LATE, READY, SIZE, STOPPED, UNUSABLE

_IDLE_S = 10.0
_START_S = 60.0
# How long after its deadline a request is ended from here: a child that runs is ended in time by the kernel.
_GRACE_S = 1.0
_MAX_REASON = 1024


class _Process:
    """A running process of esbuild.

    Args:
        code: the native code of esbuild, or its file.

    Raises:
        wasmtime.WasmtimeError: the code does not run here.
        OSError: the process cannot be started.
    """

    def __init__(self, code: NativeCode) -> None:
        self._killed = False
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a function of this package
            command("cortex_sandbox.esbuild.program"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=Path(__file__).anchor,
            env=_environment(),
            start_new_session=True,  # the host handles an interrupt from the keyboard, and ends it with its children
        )
        parts = [os.fsencode(code)] if isinstance(code, Path) else [b"", code]
        kind, reason = self._exchange(parts, _START_S, 2 * _MAX_REASON)
        if kind == READY:
            return
        self.end()
        text = reason.decode("utf-8", "replace")[:_MAX_REASON] if kind == UNUSABLE else "esbuild does not start with it"
        raise wasmtime.WasmtimeError(text)

    def ask(self, request: bytes, timeout_s: float, most: int) -> tuple[bytes, bytes]:
        """The kind of the answer to a request, and what it contains; `end` it when that is `STOPPED` or `LATE`.

        Args:
            request: as `program.py` reads it.
            timeout_s: the deadline, in seconds from now.
            most: the maximum size of the answer.
        """
        return self._exchange([request], timeout_s + _GRACE_S, most)

    def _exchange(self, parts: Sequence[bytes | bytearray], timeout_s: float, most: int) -> tuple[bytes, bytes]:
        late = threading.Event()

        def end() -> None:
            late.set()
            self._kill()

        timer = threading.Timer(timeout_s, end)
        timer.daemon, timer.name = True, "cortex-sandbox-esbuild-deadline"
        timer.start()
        try:
            for part in parts:
                _write(self._process.stdin, SIZE.pack(len(part)) + part)
            head = _read(self._process.stdout, HEAD.size)
            kind, size = HEAD.unpack(head) if len(head) == HEAD.size else (STOPPED, 0)
            content = _read(self._process.stdout, size) if size <= most else b""
            if late.is_set() or len(content) != size:
                self._kill()
                return (LATE if late.is_set() else STOPPED), b""
            return kind, content
        except OSError:  # it has ended
            self._kill()
            return (LATE if late.is_set() else STOPPED), b""
        except BaseException:  # a signal handler raised it here
            self._kill()
            raise
        finally:
            timer.cancel()

    @property
    def runs(self) -> bool:
        """Whether it can take a request."""
        return not self._killed and self._process.poll() is None

    def _kill(self) -> None:
        self._killed = True
        if self._process.returncode is None:
            _kill_all(self._process)

    def end(self) -> None:
        """End it, with its children, and wait for that."""
        self._kill()
        self._process.wait()
        self.forget()

    def forget(self) -> None:
        """Close the pipes; in a forked child of the host, that is all."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children, which are in its group."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _write(pipe: IO[bytes] | None, data: bytes | bytearray) -> None:
    left = memoryview(data)
    while left:
        left = left[pipe.write(left) :]  # type: ignore[union-attr]


def _read(pipe: IO[bytes] | None, size: int) -> bytes:
    """So many bytes, or fewer when the output ends."""
    found = bytearray()
    while len(found) < size and (piece := pipe.read(size - len(found))):  # type: ignore[union-attr]
        found += piece
    return bytes(found)


def _environment() -> dict[str, str]:
    """What the interpreter needs to start."""
    names = ("LD_LIBRARY_PATH", "SYSTEMROOT")
    return {name: os.environ[name] for name in names if name in os.environ}


class _Pool:
    """The processes of this host."""

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self.end)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._all: set[_Process] = set()
        self._idle: list[_Process] = []
        self._timer: threading.Timer | None = None
        self._code: NativeCode | None = None  # where it cannot be kept in a file

    def _after_fork(self) -> None:
        processes, code = self._all, self._code
        self._reset()
        self._code = code
        for process in processes:
            process.forget()

    def take(self) -> _Process:
        """A process that runs and is not in use.

        Raises:
            SandboxError: as `compile_apart`.
        """
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.runs:
                    return process
                self._drop(process)
            code = self._code
        process = self._start(code) if code is not None else self._load()
        with self._lock:
            self._all.add(process)
        return process

    def _load(self) -> _Process:
        try:
            return _use_code(self._start)
        except (OSError, wasmtime.WasmtimeError) as error:
            raise SandboxError(
                f"esbuild cannot be started: {error}. Its process needs 5 GB of address space (ulimit -v), of which it "
                "uses a hundredth",
                "SandboxUnavailable",
            ) from None

    def _start(self, code: NativeCode) -> _Process:
        process = _Process(code)
        if not isinstance(code, Path):
            self._code = code
        return process

    def give_back(self, process: _Process) -> None:
        """Keep a process for the next request, for a time."""
        with self._lock:
            self._idle.append(process)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_IDLE_S, self.end_idle)
            self._timer.daemon, self._timer.name = True, "cortex-sandbox-esbuild-idle"
            self._timer.start()

    def end_idle(self) -> None:
        """End the processes that are not in use."""
        with self._lock:
            while self._idle:
                self._drop(self._idle.pop())

    def drop(self, process: _Process) -> None:
        """End a process."""
        with self._lock:
            self._drop(process)

    def _drop(self, process: _Process) -> None:
        self._all.discard(process)
        process.end()

    def end(self) -> None:
        """End all processes."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._idle.clear()
            while self._all:
                self._drop(next(iter(self._all)))


def _use_code(use: Callable[[NativeCode], Used]) -> Used:
    digest = manifest()["sha256"]["esbuild.wasm"].encode()
    wasm = partial(read_guest, "esbuild.wasm")
    return use_code(use, bundler_dimensions(), "esbuild", SETTINGS[BUNDLER], wasm, digest)


_pool = _Pool()


def answer(request: list[Any], timeout_s: float, most: int) -> tuple[bytes, bytes]:
    """The kind and the content of the answer of a process of esbuild.

    Args:
        request: the files, the entry, the packages and the options (`program.py`).
        timeout_s: wall-clock seconds, without the start of the process.
        most: the maximum size of the answer.

    Raises:
        SandboxError: named `SandboxUnavailable` or `Interrupted`: no process can be started.
    """
    text = json.dumps([*request, timeout_s, most]).encode()
    process = _pool.take()
    kept = False
    try:
        kind, content = process.ask(text, timeout_s, most)
        # Without `fork` it ends after each answer, and so may one that has not answered.
        kept = hasattr(os, "fork") and kind != STOPPED and process.runs
        return kind, content
    finally:
        if kept:
            _pool.give_back(process)
        else:
            _pool.drop(process)


def prepare() -> None:
    """Compile esbuild, if that was not done on this machine."""
    _use_code(lambda code: code)
