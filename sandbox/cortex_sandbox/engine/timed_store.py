"""A store of WebAssembly with a deadline, in which one guest runs.

Rules kept here:
- the engine calls back every twentieth of a second: a guest is stopped at once after an interruption from another
  thread, when a callback raised an exception, which `run` raises again, and past its deadline;
- when the interpreter exits, running guests are stopped first: a thread that dies inside a guest would crash the
  process;
- one thread at a time (the owner holds a lock); while a guest runs, its store is the current call of that thread
  (`reentrancy.py`).
"""

from __future__ import annotations

import atexit
import ctypes
import time
from collections.abc import Callable
from typing import Any, TypeVar

import wasmtime
from wasmtime import _ffi as ffi

from cortex_sandbox.engine.clock import ASK_TICKS
from cortex_sandbox.engine.engine import Engine
from cortex_sandbox.engine.reentrancy import PendingCall, current, enter
from cortex_sandbox.errors import SandboxError, SandboxTimeout

T = TypeVar("T")

# It keeps the interpreter lock: it is short, and getting the lock back can take far longer.
_error_new = ctypes.PyDLL(ffi.dll._name).wasmtime_error_new
_error_new.restype, _error_new.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)

_all_running: set[TimedStore] = set()
# Ticks; wasmtime adds this to the current epoch.
_NEVER = 1 << 40
# A guest that calls its host in a loop releases the interpreter lock for too short a time for other threads to wake up,
# the clock's included. So it regularly releases the lock for longer.
_GIVE_WAY_EVERY_S = 0.01
_GIVE_WAY_S = 1e-4
_GO_ON = 0  # WASMTIME_UPDATE_DEADLINE_CONTINUE
_AT_EXIT_S = 2.0


class TimedStore:
    """A store whose guest can be stopped.

    Args:
        engine: the engine of the guest.
        limits: the arguments of `wasmtime.Store.set_limits`.
    """

    def __init__(self, engine: Engine, **limits: int) -> None:
        self._engine = engine
        self._store = wasmtime.Store(engine.wasm)
        self._store.set_limits(**limits)
        self._store.set_epoch_deadline(_NEVER)
        ffi.wasmtime_store_epoch_deadline_callback(self._store.ptr(), _may_go_on, None, _NO_FINALIZER)
        self.deadline = 0.0
        self._gives_way_at = 0.0
        self.outer: PendingCall | None = None
        self.stopped: SandboxError | None = None
        self._kept: BaseException | None = None

    def run(self, work: Callable[[], T], deadline: float, outer: PendingCall | None = None) -> T:
        """What `work()` returns.

        Args:
            work: calls the guest.
            deadline: when the guest is stopped, in monotonic seconds.
            outer: the call whose host function makes this call, when that is on another thread.
        """
        self._engine.clock.enter()
        before = enter(self)
        self.outer = outer or before
        self._gives_way_at = time.monotonic() + _GIVE_WAY_EVERY_S
        self.keep_to(deadline)
        _all_running.add(self)
        try:
            return work()
        finally:
            _all_running.discard(self)
            enter(before)
            self.outer = None
            self._engine.clock.leave()
            if self._kept is not None:
                kept, self._kept = self._kept, None
                raise kept

    def keep_to(self, deadline: float) -> None:
        """Change the deadline, in monotonic seconds."""
        self.deadline = deadline
        self._store.set_epoch_deadline(self._ticks())

    def stop_with(self, error: BaseException) -> None:
        """Stop the guest at its next step; `run` then raises `error`."""
        self._kept = error
        self._store.set_epoch_deadline(0)

    def give_way(self) -> None:
        """Let other threads of the host run, when it is time, and stop a guest whose time is over.

        Called at every call that the guest makes.
        """
        now = time.monotonic()
        if now >= self._gives_way_at:
            time.sleep(_GIVE_WAY_S)
            self._gives_way_at = now + _GIVE_WAY_EVERY_S
            if now >= self.deadline:  # it does not have to wait for the clock
                self._store.set_epoch_deadline(0)

    def interrupt(self) -> None:
        """Stop the guest soon, from any thread; `run` raises a `SandboxError` named `Interrupted`."""
        self.stopped = SandboxError("stopped: it was interrupted", "Interrupted")

    def ticks_left(self) -> int:
        """For how many more ticks the guest may run; 0 to stop it."""
        if self.stopped is not None or self._kept is not None:
            return 0
        if time.monotonic() < self.deadline:
            return self._ticks()
        self.stopped = SandboxTimeout("stopped: the time limit was reached", "Timeout")
        return self.ask_to_end()

    def ask_to_end(self) -> int:
        """Ask the guest to end by itself, as its deadline has passed; for how many more ticks it may run."""
        return 0

    def _ticks(self) -> int:
        return min(self._engine.clock.ticks_for(self.deadline - time.monotonic()), ASK_TICKS)


def _on_epoch(_context: Any, _data: Any, delta: Any, kind: Any) -> int:
    """Called by the engine on the guest's thread when its ticks have passed."""
    instance = current()
    ticks = 0
    if isinstance(instance, TimedStore):
        try:
            ticks = instance.ticks_left()
        except BaseException as error:  # a signal handler raised it here
            instance.stop_with(error)
    if not ticks:
        return int(_error_new(b"stopped") or 0)
    delta[0] = ticks
    kind[0] = _GO_ON
    return 0


_NO_FINALIZER = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))
_may_go_on = ffi.dll.wasmtime_store_epoch_deadline_callback.argtypes[1](_on_epoch)


@atexit.register
def _stop_all() -> None:
    """Stop every running guest before the interpreter exits."""
    deadline = time.monotonic() + _AT_EXIT_S
    while _all_running and time.monotonic() < deadline:
        for instance in list(_all_running):
            instance.interrupt()
        time.sleep(0.01)
