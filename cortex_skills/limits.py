"""How often, and how much: the rate window and the budgets.

Rules kept here:
- everything is counted by skill name, so that the counts survive a reload; one `Budgets` is one session;
- a slot is taken in one step together with the check (under 16 threads none is lost and none is given twice);
- a failed attempt gives its slot back, and so does one that changed nothing (`created: False`);
- a skill's queries are limited by its own limit, and those of all active skills together by
  `max_graph_queries × active skills`; assertions and writes from inside a sandbox are limited for each skill;
- a refused call does not count towards the rate.

Nothing here does any input or output; the clock is handed in.

>>> budgets = Budgets(max_graph_queries=2, max_assertions=1, max_writes=1)
>>> with budgets.query("verify-kyc"):
...     budgets.queries_used("verify-kyc")
1
>>> with budgets.assertion("verify-kyc") as slot:
...     slot.refund()  # the triple was there already
>>> budgets.assertions_used("verify-kyc")
0
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Collection
from threading import Lock
from types import TracebackType

from cortex_skills.errors import CortexError


class RateWindow:
    """At most `max_calls` calls of a skill within any `window_s` seconds (a sliding window).

    Args:
        max_calls: how many calls, at least 1; the memory kept for a skill is one number for each.
        window_s: the length of the window in seconds.
        clock: seconds that never go backwards.

    """

    def __init__(self, max_calls: int, window_s: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_calls = max_calls
        self.window_s = window_s
        self._clock = clock
        self._calls: dict[str, deque[float]] = {}
        self._lock = Lock()

    def acquire(self, skill: str) -> None:
        """Count a call of `skill`.

        Raises:
            CortexError: `rate_limited`, with `retryAfterMs` and `limit` in its details.

        """
        with self._lock:
            now = self._clock()
            calls = self._calls.setdefault(skill, deque())
            while calls and calls[0] <= now - self.window_s:
                calls.popleft()
            if len(calls) < self.max_calls:
                calls.append(now)
                return
            wait_s = calls[0] + self.window_s - now
        raise CortexError(
            "rate_limited",
            f"{skill} has made {self.max_calls} calls in the last {self.window_s:g} s, which is its limit",
            hint=f"try again in {wait_s:.1f} s",
            details={"retryAfterMs": math.ceil(wait_s * 1000), "limit": self.max_calls},
        )


class Slot:
    """One unit of a budget, already taken. As a context manager it goes back when the block raises."""

    __slots__ = ("_counts", "_held", "_lock", "_skill")

    def __init__(self, counts: Counter[str], skill: str, lock: Lock) -> None:
        self._counts = counts
        self._skill = skill
        self._lock = lock
        self._held = True

    @classmethod
    def free(cls) -> Slot:
        """A slot of what is not counted."""
        return cls(Counter(), "", Lock())

    def refund(self) -> None:
        """Give the slot back; a second time does nothing."""
        with self._lock:
            if self._held:
                self._held = False
                self._counts[self._skill] -= 1

    def __enter__(self) -> Slot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.refund()


class Budgets:
    """What the skills may still do in this session.

    Args:
        max_graph_queries: queries of a skill that states no limit of its own, and the share of each active
            skill in the limit over all of them.
        max_assertions: assertions of a skill.
        max_writes: writes of a skill's own code, from inside its sandbox.

    """

    def __init__(self, *, max_graph_queries: int, max_assertions: int, max_writes: int) -> None:
        self.max_graph_queries = max_graph_queries
        self.max_assertions = max_assertions
        self.max_writes = max_writes
        self._queries: Counter[str] = Counter()
        self._assertions: Counter[str] = Counter()
        self._writes: Counter[str] = Counter()
        self._lock = Lock()

    def query(self, skill: str, limit: int | None = None, active: Collection[str] = ()) -> Slot:
        """Take a slot for a query of `skill`.

        Args:
            skill: the acting skill.
            limit: its manifest's `maxQueries`, if it states one.
            active: the names of the active skills; `skill` is counted in, whether it is among them or not.

        Raises:
            CortexError: `query_limit`, with `used` and `limit` in its details.

        """
        own_limit = self.max_graph_queries if limit is None else limit
        everyone = {skill, *active}
        limit_of_all = self.max_graph_queries * len(everyone)
        with self._lock:
            used_by_all = sum(self._queries[name] for name in everyone)
            if used_by_all >= limit_of_all and self._queries[skill] < own_limit:
                who = "the active skills together have"
                raise _spent("query_limit", who, "queries", used_by_all, limit_of_all)
            return self._take(self._queries, skill, own_limit, "query_limit", "queries")

    def assertion(self, skill: str) -> Slot:
        """Take a slot for an assertion of `skill`; raises `assertion_limit` when there is none."""
        with self._lock:
            return self._take(self._assertions, skill, self.max_assertions, "assertion_limit", "assertions")

    def write(self, skill: str) -> Slot:
        """Take a slot for a write of the code of `skill`; raises `write_limit` when there is none."""
        with self._lock:
            return self._take(self._writes, skill, self.max_writes, "write_limit", "writes")

    def queries_used(self, skill: str) -> int:
        """How many queries of `skill` count in this session."""
        return self._used(self._queries, skill)

    def assertions_used(self, skill: str) -> int:
        """How many assertions of `skill` count in this session."""
        return self._used(self._assertions, skill)

    def writes_used(self, skill: str) -> int:
        """How many writes of the code of `skill` count in this session."""
        return self._used(self._writes, skill)

    def _used(self, counts: Counter[str], skill: str) -> int:
        with self._lock:
            return counts[skill]

    def _take(self, counts: Counter[str], skill: str, limit: int, code: str, noun: str) -> Slot:
        """Take a slot; the lock is held by the caller."""
        if counts[skill] >= limit:
            raise _spent(code, f"{skill} has", noun, counts[skill], limit)
        counts[skill] += 1
        return Slot(counts, skill, self._lock)


def _spent(code: str, who: str, noun: str, used: int, limit: int) -> CortexError:
    return CortexError(
        code,
        f"{who} used {used} {noun} of {limit} in this session",
        hint=f"start a new session, or raise the limit on {noun}",
        details={"used": used, "limit": limit},
    )
