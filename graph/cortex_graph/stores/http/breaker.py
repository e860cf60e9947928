"""The circuit breaker: a server that has failed is left in peace for a while.

Rules kept here:
- it opens after so many failures in a row; while it is open nobody asks the server;
- when its time is over, one call is let through. If that succeeds it closes, else it stays open as long again;
- a probe that never tells how it went is forgotten after the same time;
- time is the monotonic clock; every method may be called from any thread, and none of them waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class CircuitBreaker:
    """Whether a server may be asked.

    Args:
        threshold: how many failures in a row open it.
        rest_s: how long it stays open, in seconds.
        clock: the time, in seconds.

    """

    def __init__(self, threshold: int = 5, rest_s: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.threshold = threshold
        self.rest_s = rest_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._asked_again_at = 0.0  # while open: from when on one call is let through

    @property
    def failures(self) -> int:
        """How many failures there were in a row."""
        return self._failures

    def wait_s(self) -> float:
        """How many seconds the server is to be left in peace; 0.0 when the caller may ask it now, as the probe if open.

        A caller who got 0.0 tells how it went: `succeeded` or `failed`.
        """
        with self._lock:
            if self._failures < self.threshold:
                return 0.0
            now = self._clock()
            if now < self._asked_again_at:
                return self._asked_again_at - now
            self._asked_again_at = now + self.rest_s
            return 0.0

    def succeeded(self) -> None:
        """The server answered."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """The server did not answer, or said that it cannot."""
        with self._lock:
            self._failures += 1
            if self._failures >= self.threshold:
                self._asked_again_at = self._clock() + self.rest_s
