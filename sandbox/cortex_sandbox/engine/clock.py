"""The thread that advances the engines' epochs while guests run, so that deadlines are noticed.

Rules kept here:
- the epoch follows the wall clock: late ticks are made up, so that a busy host does not extend a time limit, and they
  are not counted against a guest that starts meanwhile;
- while no guest runs the thread sleeps, except that it wakes up now and then in the second after the last guest ended:
  starting a thread or a tick for each short call would cost more;
- a forked child starts its own thread: threads do not survive a fork.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

TICK_S = 0.002
_IDLE_S = 0.02  # how late the first tick of a guest may be: an interruption takes effect within 50 ms
_LINGER_S = 1.0


class Ticker:
    """Calls `tick` every `TICK_S` seconds between `enter` and `leave`."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._running = 0
        self._origin = time.monotonic()
        self._done = 0
        self._parked = True
        self._thread: threading.Thread | None = None

    def enter(self) -> None:
        """A guest is about to run."""
        with self._lock:
            if self._parked:
                self._start()
            self._running += 1

    def leave(self) -> None:
        """A guest has stopped running."""
        with self._lock:
            self._running -= 1

    def ticks_for(self, seconds: float) -> int:
        """The number of ticks until a deadline, late ticks that will be made up included.

        One tick more, since the current one may be nearly over.
        """
        late = max(0, self._due() - self._done)
        return max(0, int(seconds / TICK_S)) + late + 2

    def _start(self) -> None:
        self._origin, self._done = time.monotonic(), 0
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="cortex-sandbox-clock", daemon=True)
            thread.start()
            self._thread = thread
        self._parked = False
        self._wake.notify()

    def _due(self) -> int:
        return int((time.monotonic() - self._origin) / TICK_S)

    def _run(self) -> None:
        last_busy = time.monotonic()
        while True:
            time.sleep(TICK_S if self._running else _IDLE_S)
            for _ in range(self._due() - self._done):
                self._tick()
                self._done += 1
            now = time.monotonic()
            if self._running:
                last_busy = now
            elif now - last_busy > _LINGER_S:
                with self._lock:
                    if not self._running:
                        self._parked = True
                        self._wake.wait_for(lambda: not self._parked)
                last_busy = time.monotonic()
