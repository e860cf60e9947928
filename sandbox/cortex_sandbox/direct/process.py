"""One process of Node.js with its pipes: questions to it, calls from it, its death.

Rules kept here:
- whoever waits, waits until a deadline and no longer, also while writing, and however fast the process talks;
- what it says is checked: a message that is none ends it. Nothing is waited for after its end, and its whole process
  group ends with it;
- it never outlives its owner: it is killed and reaped when the owner is closed, collected or exits, and ends itself
  when the owner was killed; a fork of the owner has no say in it.
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
_LOOK_S = 1.0  # how often it is looked for when it is silent
_NO_DEBUGGER = 12  # how Node.js and the runner end when the debugger's port cannot be opened
CALL, LOG, OUTCOME, UNLOADABLE = b"c", b"l", b"o", b"u"
LOAD, HOOK = b"l", b"h"


class NodeProcess:
    """A running Node.js.

    Args:
        command: makes the command from the descriptors of the runner's pipes.
        folder: where it runs.
        environment: all of it.
        max_bytes: the longest message that it may send.
        on_call: answers a call of the guest's.
        on_log: takes a line: its level, a line break, its text.

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
            theirs, ours = _pipes(undo)
            self._selector = undo.enter_context(selectors.DefaultSelector())
            self._popen = subprocess.Popen(  # noqa: S603 - the user's own `node`, arguments as a list
                command(theirs),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=theirs,
                start_new_session=True,
            )
            streams = [stream for stream in (self._popen.stdout, self._popen.stderr) if stream is not None]
            self._kill_lock = threading.Lock()
            self._end = weakref.finalize(
                self, _end, self._popen, self._kill_lock, [*streams, self._selector], ours, os.getpid()
            )
            undo.pop_all()
        for fd in theirs:
            os.close(fd)
        self._requests, self._answers, output, _ = ours
        self._unsent = {self._requests: bytearray(), self._answers: bytearray()}
        self._rest = {stream.fileno(): b"" for stream in streams}
        self._levels = dict(zip(self._rest, (b"info", b"warning"), strict=True))
        self._output = output
        for fd in (output, *self._rest):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        """Its process id, which is that of its process group too."""
        return self._popen.pid

    def tell(self, text: bytes) -> None:
        """Put a text into its inbox of answers, before it asks."""
        self._send(self._answers, b"a", text)

    def ask(self, kind: bytes, text: bytes, deadline: float) -> tuple[bytes, bytes]:
        """Its answer to a request: `OUTCOME` or `UNLOADABLE`, and a text. Calls and logs are served on the way.

        Args:
            kind: `LOAD` or `HOOK`.
            text: the request.
            deadline: in monotonic seconds; infinity for none.

        Raises:
            SandboxTimeout: past the deadline.
            SandboxError: it ended, or sends what is no message.

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
                self._step(0)  # what it wrote beside, before this
                return message

    def pump(self) -> None:
        """Take what it logged while nobody asked.

        Raises:
            SandboxError: it ended, or sends what is no message now.

        """
        self._step(0)
        while (message := self._next_message()) is not None:
            if message[0] != LOG:
                raise _no_message()
            self._on_log(message[1])

    def kill(self) -> None:
        """Kill it and its group, from any thread; whoever waits for it learns that it ended."""
        with self._kill_lock:
            if self._end.alive:
                _kill(self._popen)

    def end(self) -> None:
        """Kill it, reap it, and close every pipe. Twice is fine."""
        self._end()

    # --- inside

    def _step(self, timeout_s: float | None) -> None:
        """Wait until something can be read or written, and do it."""
        ready = self._selector.select(_LOOK_S if timeout_s is None else min(timeout_s, _LOOK_S))
        if not ready and self._popen.poll() is not None:  # a program that the skill started holds its pipes open
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
        with suppress(BlockingIOError, BrokenPipeError):  # that it ended shows when it is listened to
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
        """Take what was written to standard output or standard error, past the runner, as lines of the log."""
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
        """What to say of a process that ended by itself, when it has been reaped and its last words were read."""
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
    """The runner's ends and ours of four pipes: requests, answers, what it sends, and one that only ends."""
    theirs, ours = [], []
    for is_output in (False, False, True, False):
        read, write = os.pipe()
        undo.callback(os.close, read)
        undo.callback(os.close, write)
        theirs.append(write if is_output else read)
        ours.append(read if is_output else write)
    for fd in ours:
        os.set_blocking(fd, False)
    return theirs, ours


def _read(fd: int) -> bytes | None:
    """What can be read now; nothing at the end, None when nothing is there yet."""
    try:
        return os.read(fd, _CHUNK_BYTES)
    except BlockingIOError:
        return None


def _kill(popen: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group that has ended
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
    return SandboxError("Node.js sent what is no message: the skill wrote to a pipe of the runner's", "ProtocolBroken")
