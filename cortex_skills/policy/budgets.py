"""The rate window and the budgets of skills.

Rules kept here:
- everything is counted by skill name, so that the counts survive a reload; one `Budgets` is one session;
- a slot is checked and taken in one step, under a lock;
- a failed attempt returns its slot, and so does one that changed nothing (`created: False`); a call that takes several
  units takes all of them or none;
- a refusal names the setting that raises the limit, and a slot states what is left when that is less than a fifth; of
  the writes of a skill's code, the answer that it ran for states it;
- a skill's queries are limited by its own limit, and those of all active skills together by
  `max_graph_queries × active skills`; assertions and writes from inside a sandbox are limited for each skill;
- of the limit of all, `max_graph_queries` are reserved for each active skill (fewer if its own limit is lower), so no
  skill can use up the queries of another; a skill with a higher limit takes what no other has reserved;
- a refused call does not count towards the rate.

>>> budgets = Budgets(max_graph_queries=2, max_assertions=1, max_writes=1)
>>> with budgets.query("verify-kyc"):
...     budgets.queries_used("verify-kyc")
1
>>> with budgets.query("crawler", 100, {"crawler": 100, "verify-kyc": None}):
...     budgets.queries_used("crawler")
1
>>> with budgets.assertion("verify-kyc") as slot:
...     slot.refund()  # the triple exists already
>>> budgets.assertions_used("verify-kyc")
0
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from threading import Lock
from types import MappingProxyType, TracebackType
from typing import Any

from cortex_skills.errors import CortexError

# The code of a refusal, and the setting of the limit.
_BUDGETS = {
    "queries": ("query_limit", "skillSandbox.maxGraphQueries"),
    "assertions": ("assertion_limit", "skillSandbox.maxAssertions"),
    "writes": ("write_limit", "skillSandbox.maxWrites"),
    "units of cost": ("cost_limit", "actions.costBudget"),
}
_ALONE: Mapping[str, int | None] = MappingProxyType({})


class RateWindow:
    """At most `max_calls` calls of a skill within any `window_s` seconds (a sliding window).

    Args:
        max_calls: the limit, at least 1; each call in the window takes the memory of one number.
        window_s: the length of the window in seconds.
        clock: returns seconds, and never goes backwards.
        setting: the one that raises the limit, for the hint of a refusal.
    """

    def __init__(
        self,
        max_calls: int,
        window_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        setting: str = "",
    ) -> None:
        self.max_calls = max_calls
        self.setting = setting
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
            hint=f"try again in {wait_s:.1f} s" + (f"; {raised_by(self.setting)}" if self.setting else ""),
            details={"retryAfterMs": math.ceil(wait_s * 1000), "limit": self.max_calls},
        )


class Slot:
    """Units of a budget, one unless stated, already taken. As a context manager returned when the block raises."""

    __slots__ = ("_budget", "_counts", "_held", "_limit", "_lock", "_skill")

    def __init__(
        self, counts: Counter[str], skill: str, lock: Lock, units: int = 1, limit: float = math.inf, budget: str = ""
    ) -> None:
        self._counts = counts
        self._skill = skill
        self._lock = lock
        self._held = units
        self._limit = limit
        self._budget = budget

    @classmethod
    def free(cls) -> Slot:
        """A slot for a call that no budget limits."""
        return cls(Counter(), "", Lock())

    def refund(self, units: int | None = None) -> None:
        """Return so many units, as far as they are held; all of them by default."""
        with self._lock:
            returned = self._held if units is None else min(units, self._held)
            self._held -= returned
            self._counts[self._skill] -= returned

    def low(self) -> dict[str, Any] | None:
        """What is left of the budget, `{of, left, limit}`, when that is less than a fifth; else None."""
        with self._lock:
            left = self._limit - self._counts[self._skill]
        return {"of": self._budget, "left": max(0, left), "limit": self._limit} if left * 5 < self._limit else None

    def __enter__(self) -> Slot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.refund()


class Budgets:
    """The budgets of the skills of one session.

    Args:
        max_graph_queries: queries of a skill whose manifest has no limit, and the share of each active skill in
            the limit of all of them.
        max_assertions: assertions of one skill.
        max_writes: writes of one skill's code, from inside its sandbox.

    Each may be infinite.
    """

    def __init__(self, *, max_graph_queries: float, max_assertions: float, max_writes: float) -> None:
        self.max_graph_queries = max_graph_queries
        self.max_assertions = max_assertions
        self.max_writes = max_writes
        self._queries: Counter[str] = Counter()
        self._assertions: Counter[str] = Counter()
        self._writes: Counter[str] = Counter()
        self._costs: Counter[str] = Counter()
        self._lock = Lock()

    def query(self, skill: str, limit: int | None = None, active: Mapping[str, int | None] = _ALONE) -> Slot:
        """Take a slot for a query of `skill`.

        Args:
            skill: the acting skill.
            limit: its manifest's `maxQueries`; None when it has none.
            active: the same of each active skill, by name; `skill` counts as active in any case.

        Raises:
            CortexError: `query_limit`, with `used` and `limit` in its details.
        """
        limits = {**active, skill: limit}
        with self._lock:
            used = self._queries[skill]
            if self._reserve(limit) <= used < self._limit(limit):
                limit_of_all = self.max_graph_queries * len(limits)
                taken = sum(max(self._queries[name], self._reserve(own)) for name, own in limits.items())
                if taken >= limit_of_all:
                    raise _all_spent(skill, used, limit_of_all)
            return self._take(self._queries, skill, self._limit(limit), "queries")

    def assertion(self, skill: str, units: int = 1) -> Slot:
        """Take a slot for so many assertions of `skill`; raises `assertion_limit` when there are not so many."""
        with self._lock:
            return self._take(self._assertions, skill, self.max_assertions, "assertions", units)

    def write(self, skill: str) -> Slot:
        """Take a slot for a write of the code of `skill`; raises `write_limit` when there is none."""
        with self._lock:
            return self._take(self._writes, skill, self.max_writes, "writes")

    def cost(self, skill: str, units: int, limit: int) -> Slot:
        """Take the cost of an action of `skill`.

        Args:
            skill: the acting skill.
            units: what the action costs.
            limit: what all actions of the skill may cost in a session.

        Raises:
            CortexError: `cost_limit`, with `used` and `limit` in its details.
        """
        with self._lock:
            return self._take(self._costs, skill, limit, "units of cost", units)

    def low_writes(self, skill: str, before: int) -> dict[str, Any] | None:
        """What is left of the writes (`Slot.low`), if the code of `skill` has used more than before; else None."""
        if self.writes_used(skill) <= before:
            return None
        return Slot(self._writes, skill, self._lock, 0, self.max_writes, "writes").low()

    def queries_used(self, skill: str) -> int:
        """The queries that `skill` has used in this session."""
        return self._used(self._queries, skill)

    def assertions_used(self, skill: str) -> int:
        """The assertions that `skill` has used in this session."""
        return self._used(self._assertions, skill)

    def writes_used(self, skill: str) -> int:
        """The writes that the code of `skill` has used in this session."""
        return self._used(self._writes, skill)

    def _limit(self, limit: int | None) -> float:
        return self.max_graph_queries if limit is None else limit

    def _reserve(self, limit: int | None) -> float:
        return min(self.max_graph_queries, self._limit(limit))

    def _used(self, counts: Counter[str], skill: str) -> int:
        with self._lock:
            return counts[skill]

    def _take(self, counts: Counter[str], skill: str, limit: float, budget: str, units: int = 1) -> Slot:
        """Take a slot; the caller holds the lock."""
        used = counts[skill]
        if used + units > limit:
            raise _spent(skill, budget, used, limit, units)
        counts[skill] += units
        return Slot(counts, skill, self._lock, units, limit, budget)


def raised_by(setting: str) -> str:
    """How the owner raises a limit."""
    words = re.sub(r"(?=[A-Z])", "_", setting).upper().replace(".", "__")
    return f"the owner raises the limit: {setting} in cortex.yaml, or CORTEX_{words}"


def _spent(skill: str, budget: str, used: int, limit: float, units: int) -> CortexError:
    code, setting = _BUDGETS[budget]
    needed = "" if units <= 1 else f", and this call needs {units}"
    manifest = "; or maxQueries in the SKILL.md of the skill, where it is given" if budget == "queries" else ""
    return CortexError(
        code,
        f"{skill} has used {used} {budget} of {limit} in this session{needed}",
        hint=f"{raised_by(setting)}{manifest}; a new session begins at 0",
        details={"used": used, "limit": limit},
    )


def _all_spent(skill: str, used: int, limit_of_all: float) -> CortexError:
    return CortexError(
        "query_limit",
        f"{skill} used {used} queries in this session, and the rest of the {limit_of_all} of all active skills is used "
        "or reserved for others",
        hint=f"{raised_by(_BUDGETS['queries'][1])}; a new session begins at 0",
        details={"used": used, "limit": limit_of_all},
    )
