"""One Node.js process with its pipes: requests to it, calls from it, its end.

Rules kept here:
- every wait has a deadline, also while writing, and however much the process sends;
- messages of the process are checked: a malformed one ends it. When it ends, every wait ends, and its process group is
  killed;
- it never outlives its owner: it is killed and reaped when the owner is closed, garbage-collected or exits, and kills
  itself when the owner was killed; a forked child of the owner does not affect it.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from cortex_sandbox.errors import SandboxError, SandboxTimeout

_HEAD_BYTES = 5
_CHUNK_BYTES = 1 << 16
_MAX_LINE_BYTES = 8192
_CHECK_S = 1.0  # how often a silent process is checked
_NO_DEBUGGER = 12  # the exit status of Node.js and the runner when the debugger's port cannot be opened
CALL, LOG, OUTCOME, UNLOADABLE = b"c", b"l", b"o", b"u"
LOAD, HOOK = b"l", b"h"


class NodeProcess:
    """A running Node.js.

    Args:
        command: makes the command line from the descriptors of the runner's pipes.
        folder: its working directory.
        environment: its whole environment.
        max_bytes: the maximum size of a message from it.
        on_call: answers a call of the guest.
        on_log: gets a log line: the level, a line break, the text.

    Raises:
        OSError: when it cannot be started.
    """

    def __init__(
        self,
        command: Callable[[Sequence[int]], Sequence[str]],
        folder: Path,
        environment: Mapping[str, str],
        *,
        max_bytes: int,
        on_call: Callable[[bytes], bytes],
        on_log: Callable[[bytes], object],
    ) -> None:
        self._max_bytes = max_bytes
        self._on_call, self._on_log = on_call, on_log
        self._received = bytearray()
        with ExitStack() as undo:
            runner_ends, own_ends = _pipes(undo)
            self._selector = undo.enter_context(selectors.DefaultSelector())
            self._popen = subprocess.Popen(  # noqa: S603 - the user's `node`, arguments as a list
                command(runner_ends),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=runner_ends,
                start_new_session=True,
            )
            streams = [stream for stream in (self._popen.stdout, self._popen.stderr) if stream is not None]
            self._kill_lock = threading.Lock()
            self._end = weakref.finalize(
                self, _end, self._popen, self._kill_lock, [*streams, self._selector], own_ends, os.getpid()
            )
            undo.pop_all()
        for fd in runner_ends:
            os.close(fd)
        self._requests, self._answers, output, _ = own_ends
        self._unsent = {self._requests: bytearray(), self._answers: bytearray()}
        self._rest = {stream.fileno(): b"" for stream in streams}
        self._levels = dict(zip(self._rest, (b"info", b"warning"), strict=True))
        self._output = output
        for fd in (output, *self._rest):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        """Its process id, which is also the id of its process group."""
        return self._popen.pid

    def send_setup(self, text: bytes) -> None:
        """Send a text on the pipe of the answers, before the process calls."""
        self._send(self._answers, b"a", text)

    def request(self, kind: bytes, text: bytes, deadline: float) -> tuple[bytes, bytes]:
        """The response to a request: `OUTCOME` or `UNLOADABLE`, and a text. Calls and logs are served meanwhile.

        Args:
            kind: `LOAD` or `HOOK`.
            text: the request.
            deadline: in monotonic seconds; infinity for none.

        Raises:
            SandboxTimeout: past the deadline.
            SandboxError: it ended, or sent a malformed message.
        """
        self.pump()
        self._send(self._requests, kind, text)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise SandboxTimeout("stopped: the time limit was reached", "Timeout")
            message = self._next_message()
            if message is None:
                self._step(None if left == float("inf") else left)
            elif message[0] == CALL:
                self._send(self._answers, b"a", self._on_call(message[1]))
            elif message[0] == LOG:
                self._on_log(message[1])
            else:
                self._step(0)  # output that it wrote before this message
                return message

    def pump(self) -> None:
        """Read log lines while no request is pending.

        Raises:
            SandboxError: it ended, or sent another message.
        """
        self._step(0)
        while (message := self._next_message()) is not None:
            if message[0] != LOG:
                raise _no_message()
            self._on_log(message[1])

    def kill(self) -> None:
        """Kill it and its process group, from any thread; a pending request raises an error."""
        with self._kill_lock:
            if self._end.alive:
                _kill(self._popen)

    def end(self) -> None:
        """Kill it, reap it, and close every pipe. A second call has no effect."""
        self._end()

    # --- inside

    def _step(self, timeout_s: float | None) -> None:
        """Wait until a pipe is ready, and read or write it."""
        ready = self._selector.select(_CHECK_S if timeout_s is None else min(timeout_s, _CHECK_S))
        if not ready and self._popen.poll() is not None:  # a program started by the skill may hold the pipes open
            raise self._ended()
        for key, _ in ready:
            fd = key.fd
            if fd in self._unsent:
                self._write(fd)
            elif fd in self._rest:
                self._read_lines(fd)
            elif chunk := _read(fd):
                self._received += chunk
            elif chunk is not None:
                raise self._ended()

    def _send(self, fd: int, kind: bytes, text: bytes) -> None:
        self._unsent[fd] += kind + len(text).to_bytes(4, "big") + text
        self._write(fd)

    def _write(self, fd: int) -> None:
        unsent = self._unsent[fd]
        with suppress(BlockingIOError, BrokenPipeError):  # reading will show that it ended
            del unsent[: os.write(fd, unsent)]
        registered = fd in self._selector.get_map()
        if unsent and not registered:
            self._selector.register(fd, selectors.EVENT_WRITE)
        elif registered and not unsent:
            self._selector.unregister(fd)

    def _next_message(self) -> tuple[bytes, bytes] | None:
        if len(self._received) < _HEAD_BYTES:
            return None
        kind, length = bytes(self._received[:1]), int.from_bytes(self._received[1:_HEAD_BYTES], "big")
        if kind not in (CALL, LOG, OUTCOME, UNLOADABLE) or length > self._max_bytes:
            raise _no_message()
        end = _HEAD_BYTES + length
        if len(self._received) < end:
            return None
        text = bytes(self._received[_HEAD_BYTES:end])
        del self._received[:end]
        return kind, text

    def _read_lines(self, fd: int) -> None:
        """Log lines that were written directly to standard output or standard error."""
        chunk = _read(fd)
        if chunk is None:
            return
        *lines, rest = (self._rest[fd] + chunk).split(b"\n")
        if rest and (not chunk or len(rest) > _MAX_LINE_BYTES):
            lines, rest = [*lines, rest], b""
        self._rest[fd] = rest
        for line in lines:
            self._on_log(self._levels[fd] + b"\n" + line[:_MAX_LINE_BYTES])
        if not chunk:
            self._selector.unregister(fd)

    def _ended(self) -> SandboxError:
        """The error for a process that has ended; reaps it and reads its last output."""
        _kill(self._popen)
        status = self._popen.wait()
        for fd in self._rest:
            if fd in self._selector.get_map():
                self._read_lines(fd)
        if status == _NO_DEBUGGER:
            return SandboxError("Node.js could not open the port for the debugger: is it in use?", "ProcessEnded")
        how = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        return SandboxError(f"Node.js ended before it answered ({how})", "ProcessEnded")


def _pipes(undo: ExitStack) -> tuple[list[int], list[int]]:
    """The runner's ends and the own ends of four pipes: requests, answers, messages of the runner, and its lifetime."""
    runner_ends, own_ends = [], []
    for is_output in (False, False, True, False):
        read, write = os.pipe()
        undo.callback(os.close, read)
        undo.callback(os.close, write)
        runner_ends.append(write if is_output else read)
        own_ends.append(read if is_output else write)
    for fd in own_ends:
        os.set_blocking(fd, False)
    return runner_ends, own_ends


def _read(fd: int) -> bytes | None:
    """The available data; empty at the end, None when there is none yet."""
    try:
        return os.read(fd, _CHUNK_BYTES)
    except BlockingIOError:
        return None


def _kill(popen: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for a group that has ended
        os.killpg(popen.pid, signal.SIGKILL)


def _end(
    popen: subprocess.Popen[bytes], lock: threading.Lock, streams: Iterable[object], pipes: Iterable[int], owner: int
) -> None:
    if os.getpid() != owner:
        return
    with lock:
        _kill(popen)
        popen.wait()
    for stream in streams:
        stream.close()  # type: ignore[attr-defined]
    for fd in pipes:
        os.close(fd)


def _no_message() -> SandboxError:
    return SandboxError("Node.js sent a malformed message: the skill wrote to a pipe of the runner", "ProtocolBroken")
