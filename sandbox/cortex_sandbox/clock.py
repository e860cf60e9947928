"""One thread that moves the engines' epochs on while guests run, so that deadlines are noticed.

Rules kept here:
- the epoch follows the wall clock: a tick that comes late is made up for, so a busy host does not stretch a limit;
- nothing wakes up while no guest runs (after a second of lingering, so that a busy host pays for no starts);
- a fork starts anew in the child: threads do not survive it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

TICK_S = 0.002
_LINGER_S = 1.0


def ticks_for(seconds: float) -> int:
    """How many ticks ahead a deadline lies; the tick under way may be nearly over, hence one more."""
    return max(0, int(seconds / TICK_S)) + 2


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
        self._parked = True
        self._thread: threading.Thread | None = None

    def enter(self) -> None:
        """A guest is about to run."""
        with self._lock:
            self._running += 1
            if not self._parked:
                return
            self._parked = False
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cortex-sandbox-clock", daemon=True)
                self._thread.start()
            else:
                self._wake.notify()

    def leave(self) -> None:
        """A guest has stopped running."""
        with self._lock:
            self._running -= 1

    def _run(self) -> None:
        origin = last_busy = time.monotonic()
        done = 0
        while True:
            time.sleep(TICK_S)
            now = time.monotonic()
            due = int((now - origin) / TICK_S)
            for _ in range(due - done):
                self._tick()
            done = due
            if self._running:
                last_busy = now
            elif now - last_busy > _LINGER_S:
                with self._lock:
                    if not self._running:
                        self._parked = True
                        self._wake.wait_for(lambda: not self._parked)
                origin = last_busy = time.monotonic()
                done = 0
