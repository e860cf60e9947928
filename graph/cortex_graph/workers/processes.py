"""Worker processes that can be killed: Python programs of this product, with framed messages over pipes.

    pool = ProcessPool("cortex_graph.sparql.query_worker", "queries", memory_bytes=1 << 30)
    process = pool.acquire(time.monotonic() + 30)
    reusable = False
    try:
        process.kill_at(time.monotonic() + 5)
        process.send(b"Q", request)
        kind, content = process.receive()              # EOFError when the process has ended
        reusable = True
    finally:
        pool.release(process, reusable=reusable)

The module that is named has a function `main()` without arguments, which makes a `WorkerChannel`
(`cortex_graph.workers.worker_channel`) and answers its messages until the process ends.

Rules kept here:
- a process is ended by killing it, from any thread; it is never asked to stop;
- a process inherits no environment except the module search path, and ends when this process ends;
- a pool starts at most `size` processes; `waiting` more callers may wait for one, and further callers get `GraphBusy`;
- a released process is used again only when the caller states that it can be; one that is idle for `IDLE_S` is ended;
- a fork of this process never uses or ends a worker of its parent: a pool starts workers of its own there.
"""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from cortex_graph.cancellation import Cancellation, interruptible
from cortex_graph.exceptions import GraphBusy, GraphUnavailable

FRAME = struct.Struct(">cI")  # kind, length of the content
IDLE_S = 60.0
MAX_FRAME_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 20


class WorkerProcess:
    """A running worker process.

    Args:
        module: its `main()` is called in the process.
        memory_bytes: the bound of its memory, where the system has one (RLIMIT_DATA).
        stderr: receives its standard error; discarded when None.
        environment: added to its otherwise empty environment.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(
        self,
        module: str,
        memory_bytes: int,
        *,
        stderr: IO[bytes] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.memory_bytes = memory_bytes
        self.timed_out = False
        self.was_killed = False
        self.on_timeout: Callable[[WorkerProcess], None] | None = None
        self.reads: tuple[str, int] | None = None  # the copy that it has open, and how many changes it made in it
        self._lock = threading.Lock()
        self._deadline: float | None = None
        self._timer: threading.Timer | None = None
        self._rings_at = 0.0
        self._unread = bytearray()
        self._popen = subprocess.Popen(  # noqa: S603 - this interpreter and a module of this product
            [
                *(sys.executable, "-P", "-s", "-c", f"from {module} import main; main()"),
                *(str(memory_bytes), str(os.getpid())),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr or subprocess.DEVNULL,
            env=_environment() | (environment or {}),
            bufsize=0,
            start_new_session=True,  # Ctrl-C in a terminal does not reach it
        )
        self._input = cast(IO[bytes], self._popen.stdin)
        self._output = cast(IO[bytes], self._popen.stdout)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._popen.poll() is None

    def send(self, kind: bytes, content: bytes = b"") -> None:
        """Send a frame of a kind (one byte).

        Raises:
            BrokenPipeError: the process has ended.
        """
        left = memoryview(FRAME.pack(kind, len(content)) + content)
        while left:  # a signal can interrupt a long write
            left = left[self._input.write(left) :]

    def receive(self, max_bytes: int = MAX_FRAME_BYTES) -> tuple[bytes, bytes]:
        """Return the kind and the content of the next frame.

        Raises:
            EOFError: the process has ended.
            ValueError: the frame is longer than `max_bytes`.
        """
        kind, length = FRAME.unpack(self._read(FRAME.size))
        if length > max_bytes:
            raise ValueError(f"a frame of {length} bytes is longer than {max_bytes}")
        return kind, self._read(length)

    def kill_at(self, deadline: float | None) -> None:
        """Kill the process at a time of `time.monotonic`; replaces an earlier deadline. None removes it."""
        with self._lock:
            self._deadline = deadline
            if deadline is None:
                return  # the timer goes on: the next call, often with a later deadline, needs no thread for another one
            if self._timer is not None and deadline < self._rings_at:
                self._timer.cancel()
                self._timer = None
            if self._timer is None:
                self._start_timer(deadline)

    def kill(self) -> None:
        """Kill the process. May be called from any thread, any number of times."""
        self.was_killed = True
        self._popen.kill()

    def wait(self) -> int:
        """Wait for the end of the process and return its status; negative for a signal."""
        return self._popen.wait()

    def close(self) -> int:
        """Kill the process, release its resources and return its status."""
        with self._lock:
            timer, self._timer, self._deadline = self._timer, None, None
        if timer is not None:
            timer.cancel()
        self._popen.kill()
        status = self._popen.wait()
        self._close_pipes()
        return status

    def abandon(self) -> None:
        """Release the resources without ending the process, which belongs to the process that forked this one."""
        self._popen.returncode = 0
        self._close_pipes()

    def _start_timer(self, deadline: float) -> None:
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._expire)
        self._rings_at = deadline
        self._timer.daemon, self._timer.name = True, "cortex-worker-deadline"
        self._timer.start()

    def _expire(self) -> None:
        with self._lock:
            if threading.current_thread() is not self._timer:
                return
            if self._deadline is None:
                self._timer = None
                return
            if time.monotonic() < self._deadline:  # it was extended
                self._start_timer(self._deadline)
                return
            self.timed_out = True
        self.kill()
        if self.on_timeout is not None:
            self.on_timeout(self)

    def _read(self, length: int) -> bytes:
        while len(self._unread) < length:
            piece = self._output.read(_CHUNK_BYTES)
            if not piece:
                raise EOFError
            self._unread += piece
        taken = bytes(self._unread[:length])
        del self._unread[:length]
        return taken

    def _close_pipes(self) -> None:
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()


@dataclass
class _State:
    """The processes of a pool; apart from it, so that they can be ended when the pool is collected."""

    idle: list[tuple[WorkerProcess, float]] = field(default_factory=list)  # and since when
    busy: set[WorkerProcess] = field(default_factory=set)
    starting: int = 0
    waiting: int = 0
    closed: bool = False
    owner: int = field(default_factory=os.getpid)

    def all(self) -> list[WorkerProcess]:
        return [*(process for process, _ in self.idle), *self.busy]


class ProcessPool:
    """A pool of worker processes of one module. Safe to use from several threads.

    Args:
        module: see `WorkerProcess`.
        purpose: what the processes do, for error messages: "queries".
        memory_bytes: see `WorkerProcess`.
        size: how many processes may run at once; None for the number of processors, at least 3 and at most 4.
        waiting: how many callers may wait for a process.
        prepare: called with a process that was started, before its first use. It may raise any error.
        environment: see `WorkerProcess`.
    """

    _idle_timer: threading.Timer | None

    def __init__(
        self,
        module: str,
        purpose: str,
        *,
        memory_bytes: int,
        size: int | None = None,
        waiting: int = 32,
        prepare: Callable[[WorkerProcess], None] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.size = size or min(4, max(3, os.cpu_count() or 1))
        self._module = module
        self._purpose = purpose
        self._memory_bytes = memory_bytes
        self._waiting = waiting
        self._prepare = prepare
        self._environment_added = environment
        self._reset()
        _POOLS.add(self)

    def acquire(self, deadline: float, cancel: Cancellation | None = None) -> WorkerProcess:
        """Return a process that no other caller uses, until `release`; started when there is none.

        Args:
            deadline: until when to wait, by `time.monotonic`. The start of a process is not bounded by it.
            cancel: cancels the wait.

        Raises:
            GraphBusy: all processes are busy.
            GraphUnavailable: no process can be started, or the pool is closed.
        """
        if (process := self._reserve(deadline, cancel)) is None:
            try:
                process = self._start()
            finally:
                with self._changed:
                    self._state.starting -= 1
                    if process is not None:
                        self._state.busy.add(process)
                        if self._state.closed:
                            process.kill()
                    self._changed.notify()
        return process

    def release(self, process: WorkerProcess, *, reusable: bool) -> None:
        """Return a process to the pool; it is ended unless it is reusable."""
        process.kill_at(None)
        with self._changed:
            keep = reusable and not process.was_killed and not self._state.closed and process in self._state.busy
            self._state.busy.discard(process)
            if keep:
                self._state.idle.append((process, time.monotonic()))
                self._watch_idle()
            self._changed.notify()
        if not keep:
            process.close()

    def pids(self) -> list[int]:
        """The ids of the processes of the pool."""
        with self._changed:
            return [process.pid for process in self._state.all()]

    def close(self) -> None:
        """Kill all processes; `acquire` fails from then on."""
        with self._changed:
            self._state.closed = True
            self._changed.notify_all()
        if (timer := self._idle_timer) is not None:
            timer.cancel()
        _end_processes(self._state)

    def end_idle(self) -> None:
        """End the processes that were idle for long."""
        with self._changed:
            oldest = time.monotonic() - IDLE_S / 2
            ended = [process for process, since in self._state.idle if since < oldest]
            self._state.idle = [(process, since) for process, since in self._state.idle if since >= oldest]
            self._idle_timer = None
            if self._state.idle:
                self._watch_idle()
        for process in ended:
            process.close()

    def after_fork(self) -> None:
        """Abandon the processes, which belong to the parent."""
        for process in self._state.all():
            process.abandon()
        self._reset()

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._state = _State()
        self._idle_timer = None
        # A worker may ask the kernel to be killed with the thread that started it: this thread lasts.
        self._spawner = ThreadPoolExecutor(1, f"cortex-{self._purpose}")
        weakref.finalize(self, _end_processes, self._state)

    def _reserve(self, deadline: float, cancel: Cancellation | None) -> WorkerProcess | None:
        """Reserve a place and return an idle process, or None when a process is to be started."""
        cancelled = threading.Event()

        def interrupt() -> None:
            cancelled.set()
            with self._changed:
                self._changed.notify_all()

        with interruptible(cancel, interrupt), self._changed:
            state = self._state
            if not self._has_place():
                if state.waiting >= self._waiting:
                    raise self._all_busy()
                state.waiting += 1
                try:
                    found = self._changed.wait_for(
                        lambda: state.closed or cancelled.is_set() or self._has_place(),
                        max(0.0, deadline - time.monotonic()),
                    )
                finally:
                    state.waiting -= 1
                if not found or cancelled.is_set():
                    raise self._all_busy()
            if state.closed:
                raise GraphUnavailable("the store is closed", hint="open it again")
            while state.idle:
                process, _ = state.idle.pop()
                if process.is_alive:
                    state.busy.add(process)
                    return process
                process.close()
            state.starting += 1
            return None

    def _has_place(self) -> bool:
        return len(self._state.busy) + self._state.starting < self.size

    def _start(self) -> WorkerProcess:
        try:
            process = self._spawner.submit(
                WorkerProcess, self._module, self._memory_bytes, environment=self._environment_added
            ).result()
        except OSError as error:
            raise GraphUnavailable(
                f"no process for {self._purpose} can be started: {error.strerror or error}",
                hint="see whether the machine allows more processes and open files",
            ) from error
        process.on_timeout = _weakly(self.give_up_place)  # the processes must not keep the pool from being collected
        if self._prepare is not None:
            try:
                self._prepare(process)
            except BaseException:
                process.close()
                raise
        return process

    def give_up_place(self, process: WorkerProcess) -> None:
        """Free the place of a process that was killed; its caller may not read from it for a while."""
        with self._changed:
            self._state.busy.discard(process)
            self._changed.notify()

    def _all_busy(self) -> GraphBusy:
        return GraphBusy(
            f"all {self.size} processes for {self._purpose} are busy",
            hint="try again later, or close results that are no longer read",
        )

    def _watch_idle(self) -> None:
        if self._idle_timer is None:
            self._idle_timer = threading.Timer(IDLE_S, _weakly(self.end_idle))
            self._idle_timer.daemon, self._idle_timer.name = True, f"cortex-{self._purpose}-idle"
            self._idle_timer.start()


_POOLS: weakref.WeakSet[ProcessPool] = weakref.WeakSet()


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    environment = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    if "SYSTEMROOT" in os.environ:  # Windows starts no program without it
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    return environment


def _end_processes(state: _State) -> None:
    if state.owner != os.getpid():  # in a fork; the processes belong to the parent
        return
    for process in state.all():
        process.kill()
    for process, _ in state.idle:
        process.close()
    state.idle.clear()


def _weakly(method: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls a bound method while its object exists."""
    reference = weakref.WeakMethod(method)

    def call(*args: object) -> None:
        if (found := reference()) is not None:
            found(*args)

    return call


def _after_fork() -> None:
    for pool in list(_POOLS):
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
