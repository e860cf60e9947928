"""The processes that evaluate shapes, seen from here: started when they are needed, killed when their time is over.

Rules kept here:
- one evaluation at a time in a process; as many processes as there may be evaluations at once, and whoever finds none
  free waits, within its own time;
- a time limit is kept by killing the process. Starting one is not the rules' time;
- a process is answered what is in the namespace's graph and nothing else, and only so many questions and quads;
- a process that was killed, failed or said something strange is not used again; one that nobody asks for a minute ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from cortex_skills.errors import CortexError
from cortex_skills.proofs.logic.findings import told
from cortex_skills.stopping import Stop

MAX_READS = 2_000
MAX_QUADS = 200_000
MEMORY_BYTES = 512 << 20
START_S = 60.0
IDLE_S = 60.0
_SIZE = 2
_MAX_FRAME = 8 << 20
_PROGRAM = Path(__file__).with_name("worker.py")
_LENGTH_BYTES = 4
_OWN_SESSION = {"start_new_session": True} if os.name == "posix" else {}  # Ctrl-C in a terminal is not for it

# What answers a pattern of three terms as N-Triples has them, None for any, with lines of N-Triples.
Reader = Callable[[Sequence[str | None]], list[str]]


@dataclass(frozen=True, slots=True)
class Said:
    """What the shapes of one rule set say of a statement.

    Attributes:
        applied: how many of them have one of its nodes as a target.
        conforms: whether no violation was found.
        results: what was found: `{severity, rule, message, node, path}`.

    """

    applied: int
    conforms: bool
    results: list[dict[str, str]]


class _Process:
    """A process that evaluates shapes, and the pipe to it."""

    def __init__(self, spawner: ThreadPoolExecutor) -> None:
        self.timed_out = False
        # The kernel ends the process with the thread that started it, so that must be one that stays.
        self._process: subprocess.Popen[bytes] = spawner.submit(_started).result()
        self._input = cast(IO[bytes], self._process.stdin)
        self._output = cast(IO[bytes], self._process.stdout)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        left = memoryview(len(content).to_bytes(_LENGTH_BYTES, "big") + content)
        while left:
            left = left[self._input.write(left) :]

    def receive(self) -> dict[str, Any]:
        """The next frame. EOFError when the process has ended, ValueError when it says something strange."""
        length = int.from_bytes(self._take(_LENGTH_BYTES), "big")
        if length > _MAX_FRAME:
            raise ValueError("a frame is too long")
        document = json.loads(self._take(length))
        if not isinstance(document, dict):
            raise ValueError("a frame is no object")
        return document

    def kill(self, *, timed_out: bool = False) -> None:
        """End it; to be called from any thread, any number of times."""
        self.timed_out = self.timed_out or timed_out
        self._process.kill()

    def close(self) -> int:
        """End it and let go of what belongs to it; the status that it ended with."""
        self._process.kill()
        status = self._process.wait()
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()
        return status

    def abandon(self) -> None:
        """Let go of it without ending it: this is a fork of the process that it belongs to."""
        self._process.returncode = 0

    def _take(self, length: int) -> bytes:
        pieces = []
        while length:
            piece = self._output.read(min(length, 1 << 16))
            if not piece:
                raise EOFError
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)


class Engine:
    """A pool of processes that evaluate shapes. Safe to use from several threads."""

    def __init__(self) -> None:
        self._begin()

    def evaluate(
        self, statement: str, shapes: Sequence[str], read: Reader, *, timeout_s: float, stop: Stop | None = None
    ) -> list[Said]:
        """What the shapes of some rule sets say of a statement in its graph.

        Args:
            statement: the triple, as a line of N-Triples.
            shapes: of each rule set, the Turtle.
            read: what the graph has; the statement need not be in it.
            timeout_s: how long it may take once a process is there, in seconds.
            stop: ends it early.

        Raises:
            CortexError: `proof_timeout`; `proof_failed`: the shapes cannot be applied, or look at too much;
                `cancelled`; `graph_unavailable`: no process can be started.

        """
        stop = stop or Stop()
        process = self._acquire(timeout_s)
        timer = threading.Timer(timeout_s, process.kill, kwargs={"timed_out": True})
        timer.daemon = True
        timer.start()
        good = False
        try:
            with stop.interrupts(process.kill):
                process.send({"statement": statement, "shapes": list(shapes)})
                said = _answered(process, read, len(shapes))
            good = not process.timed_out and not stop.is_set
            return said
        except (EOFError, BrokenPipeError):
            stop.check()
            raise _ended(process, timeout_s) from None
        except (ValueError, KeyError, TypeError) as error:
            message = f"the process that evaluates shapes said something strange: {str(error)[:200]}"
            raise CortexError("proof_failed", message) from None
        finally:
            timer.cancel()
            self._release(process, good=good)

    def pids(self) -> list[int]:
        """The ids of the processes that are there."""
        with self._changed:
            return [process.pid for process in (*(process for process, _ in self._idle), *self._busy)]

    def close(self) -> None:
        """End all processes that nobody uses."""
        if self._owner != os.getpid():  # a fork; the processes are its parent's
            return
        with self._changed:
            idle = list(self._idle)
            self._idle.clear()
        for process, _ in idle:
            process.close()

    def _begin(self) -> None:
        self._owner = os.getpid()
        self._changed = threading.Condition()
        self._idle: list[tuple[_Process, float]] = []
        self._busy: set[_Process] = set()
        self._starting = 0
        self._spawner = ThreadPoolExecutor(1, "shapes")
        self._watch: threading.Timer | None = None

    def _acquire(self, timeout_s: float) -> _Process:
        if self._owner != os.getpid():  # a fork; the processes are its parent's
            for theirs in (*(idle for idle, _ in self._idle), *self._busy):
                theirs.abandon()
            self._begin()
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._busy) + self._starting < _SIZE, timeout_s):
                hint = "try again in a while"
                raise CortexError("proof_timeout", "all processes that evaluate shapes are busy", hint=hint)
            while self._idle:
                idle, _ = self._idle.pop()
                if idle.is_alive:
                    self._busy.add(idle)
                    return idle
                idle.close()
            self._starting += 1
        process: _Process | None = None
        try:
            process = self._start()
        finally:
            with self._changed:
                self._starting -= 1
                if process is not None:
                    self._busy.add(process)
                self._changed.notify()
        return process

    def _start(self) -> _Process:
        """A process that has loaded what it needs, and is confined."""
        try:
            process = _Process(self._spawner)
        except OSError as error:
            message = f"no process that evaluates shapes can be started: {error.strerror or error}"
            raise CortexError("graph_unavailable", message, hint="see whether the machine allows more") from error
        timer = threading.Timer(START_S, process.kill)
        timer.daemon = True
        timer.start()
        try:
            process.receive()["ready"]
        except (EOFError, ValueError, KeyError) as error:
            status = process.close()
            message = f"the process that evaluates shapes did not start (status {status})"
            raise CortexError("graph_unavailable", message, hint="see whether pyshacl is installed here") from error
        finally:
            timer.cancel()
        return process

    def _release(self, process: _Process, *, good: bool) -> None:
        with self._changed:
            self._busy.discard(process)
            if good:
                self._idle.append((process, time.monotonic()))
                self._watch_idle()
            self._changed.notify()
        if not good:
            process.close()

    def _watch_idle(self) -> None:
        if self._watch is None:
            self._watch = threading.Timer(IDLE_S, self._end_idle)
            self._watch.daemon = True
            self._watch.start()

    def _end_idle(self) -> None:
        with self._changed:
            long_ago = time.monotonic() - IDLE_S / 2
            ended = [process for process, since in self._idle if since < long_ago]
            self._idle = [(process, since) for process, since in self._idle if since >= long_ago]
            self._watch = None
            if self._idle:
                self._watch_idle()
        for process in ended:
            process.close()


# One for all plugins of this process: a process of the pool keeps nothing of whom it worked for but parsed shapes.
ENGINE = Engine()
atexit.register(ENGINE.close)


def _started() -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    environment = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    if "SYSTEMROOT" in os.environ:  # Windows starts no program without it
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-P", "-s", str(_PROGRAM), str(MEMORY_BYTES), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        bufsize=0,
        **cast(Any, _OWN_SESSION),
    )


def _answered(process: _Process, read: Reader, count: int) -> list[Said]:
    """The process's answer, after all that it asked was answered."""
    reads = quads = 0
    while True:
        frame = process.receive()
        if "read" not in frame:
            break
        reads += 1
        lines = read(frame["read"])
        quads += len(lines)
        if reads > MAX_READS or quads > MAX_QUADS:
            raise CortexError(
                "proof_failed",
                f"the shapes look at more of the graph than they may ({MAX_READS} patterns, {MAX_QUADS} statements)",
                hint="let them begin at the statement's own nodes, and bind more in their queries",
            )
        process.send({"triples": "\n".join(lines)})
    if "failed" in frame:
        raise CortexError("proof_failed", f"the shapes cannot be applied: {told(str(frame['failed']), 500)}")
    said = [Said(int(each["applied"]), bool(each["conforms"]), list(each["results"])) for each in frame["sets"]]
    if len(said) != count:
        raise ValueError("it answers with another number of rule sets than it was sent")
    return said


def _ended(process: _Process, timeout_s: float) -> CortexError:
    """Why a process has ended in the middle of its work."""
    if process.timed_out:
        hint = "let the shapes reach less of the graph, or raise skillSandbox.proofTimeoutMs"
        return CortexError("proof_timeout", f"the shapes took longer than {timeout_s:g} s and were stopped", hint=hint)
    status = process.close()
    if -status in (signal.SIGABRT, signal.SIGSEGV):
        return CortexError("proof_failed", "the shapes need too much memory, or nest too deeply")
    message = f"the process that evaluates shapes has ended (status {status})"
    return CortexError("proof_failed", message, hint="try again; the machine may be out of memory")
