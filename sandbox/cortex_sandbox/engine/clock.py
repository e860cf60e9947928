"""The threads that advance the engines' epochs while guests run, so that deadlines are noticed.

Rules kept here:
- no deadline depends on one thread: a second one looks four times a second whether the first has advanced the epoch,
  and a host thread that waits for a late guest advances it itself (`advance`);
- the epoch follows the wall clock: late ticks are made up, so that a busy host does not extend a time limit, and they
  are not counted against a guest that starts meanwhile;
- while no guest runs the thread sleeps, except that it wakes up now and then in the second after the last guest ended:
  starting a thread or a tick for each short call would cost more;
- a forked child starts its own threads: threads do not survive a fork.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

TICK_S = 0.002
_IDLE_S = 0.02  # how late the first tick of a guest may be: an interruption takes effect within 50 ms
_LINGER_S = 1.0
_LOOK_S = 0.25
# A guest runs for at most this many ticks until it is asked whether it may go on.
ASK_TICKS = 25


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
        self._threads: dict[Callable[[], None], threading.Thread] = {}

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

    def advance(self) -> None:
        """Ask every running guest now whether it may go on; for a thread that waits for a late one."""
        for _ in range(ASK_TICKS + 1):
            self._tick()

    def _start(self) -> None:
        self._origin, self._done = time.monotonic(), 0
        for work in (self._run, self._watch):
            if work not in self._threads or not self._threads[work].is_alive():
                thread = threading.Thread(target=work, name="cortex-sandbox-clock", daemon=True)
                thread.start()
                self._threads[work] = thread
        self._parked = False
        self._wake.notify_all()

    def _due(self) -> int:
        return int((time.monotonic() - self._origin) / TICK_S)

    def _watch(self) -> None:
        """Advance the epoch in place of `_run` where that does not."""
        seen = -1
        while True:
            time.sleep(_LOOK_S)
            if not self._running:
                with self._lock:
                    self._wake.wait_for(lambda: not self._parked)
            elif seen == self._done:
                self.advance()
            seen = self._done

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
