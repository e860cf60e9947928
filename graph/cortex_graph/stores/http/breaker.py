"""The circuit breaker: a failing server is not contacted for a while.

Rules kept here:
- it opens after a number of consecutive failures; while it is open the server is not contacted;
- after `rest_s` one call, the probe, is let through. If it succeeds the breaker closes, else it stays open as long
  again;
- a probe without a reported outcome is forgotten after the same time;
- time is the monotonic clock; every method may be called from any thread, and none waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class CircuitBreaker:
    """Decides whether a server may be contacted.

    Args:
        threshold: the number of consecutive failures that opens it.
        rest_s: how long it stays open, in seconds.
        clock: the time, in seconds.
    """

    def __init__(self, threshold: int = 5, rest_s: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.threshold = threshold
        self.rest_s = rest_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._reason = ""
        self._probe_at = 0.0  # the time of the next probe, while open

    @property
    def failures(self) -> int:
        """The number of consecutive failures."""
        return self._failures

    @property
    def reason(self) -> str:
        """What the last failure was; empty where that is not known."""
        return self._reason

    def wait_s(self) -> float:
        """Return the seconds until the server may be contacted; 0.0 when the caller may do so now.

        A caller that got 0.0 reports the outcome with `succeeded` or `failed`.
        """
        with self._lock:
            if self._failures < self.threshold:
                return 0.0
            now = self._clock()
            if now < self._probe_at:
                return self._probe_at - now
            self._probe_at = now + self.rest_s
            return 0.0

    def succeeded(self) -> None:
        """Report that the server answered."""
        with self._lock:
            self._failures = 0

    def failed(self, reason: str = "") -> None:
        """Report that the server did not answer, or could not, and why."""
        with self._lock:
            self._failures += 1
            self._reason = reason
            if self._failures >= self.threshold:
                self._probe_at = self._clock() + self.rest_s
