"""How often callers may do something: a limit for each caller, and one for all of them, in fair shares.

Rules kept here:
- of a thing that is limited, a caller does at most its limit within a minute, and no other caller uses that up;
- all callers together do at most `SHARED` times that; when they have, a caller that has had less than its share (the
  limit of all, divided by the callers of the last minute) still gets it, and every other one is refused;
- a refused call does not count; a caller that has been idle for a minute is forgotten.

>>> rates = CallerRates(clock=lambda: 0.0)
>>> rates.acquire("fs_read", "ada", 1)
>>> rates.acquire("fs_read", "bob", 1)
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from threading import Lock

from cortex_skills.errors import CortexError
from cortex_skills.policy.budgets import raised_by

SHARED = 10
_WINDOW_S = 60.0


class CallerRates:
    """The calls of the last minute, by what is called and by caller. Safe to use from several threads.

    Args:
        clock: returns seconds, and never goes backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: dict[str, dict[str, deque[float]]] = {}
        self._lock = Lock()

    def acquire(self, what: str, caller: str, limit: int, setting: str = "") -> None:
        """Count a call.

        Args:
            what: is called.
            caller: who calls it.
            limit: of one caller in a minute.
            setting: the one that raises the limit, for the hint of a refusal.

        Raises:
            CortexError: `rate_limited`, with `retryAfterMs` and `limit` in its details.
        """
        with self._lock:
            now = self._clock()
            callers = self._calls.setdefault(what, {})
            for name in [name for name, calls in callers.items() if calls[-1] <= now - _WINDOW_S]:
                del callers[name]
            own = callers.get(caller, deque())
            while own and own[0] <= now - _WINDOW_S:
                own.popleft()
            total = sum(map(len, callers.values()))
            share = limit * SHARED // len({*callers, caller})
            if len(own) < limit and (total < limit * SHARED or len(own) < share):
                own.append(now)
                callers[caller] = own
                return
            wait_s = (own[0] if own else now) + _WINDOW_S - now
            by_all = "" if len(own) >= limit else " with all other callers"
        raise CortexError(
            "rate_limited",
            f"{caller} has called {what} as often as it may{by_all}: {limit} times in {_WINDOW_S:g} s each",
            hint=f"try again in {wait_s:.1f} s" + (f"; {raised_by(setting)}" if setting else ""),
            details={"retryAfterMs": math.ceil(wait_s * 1000), "limit": limit},
        )
