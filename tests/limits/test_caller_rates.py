"""A limit for each caller, and one for all in fair shares."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.policy.caller_rates import SHARED, CallerRates


def taken(rates: CallerRates, caller: str, attempts: int, limit: int = 20, what: str = "x") -> int:
    """How many of a number of calls are permitted."""
    count = 0
    for _ in range(attempts):
        with suppress(CortexError):
            rates.acquire(what, caller, limit)
            count += 1
    return count


def test_a_caller_uses_up_its_own_limit_of_one_thing_and_nothing_of_others() -> None:
    rates = CallerRates(lambda: 0.0)
    assert taken(rates, "eve", 50) == 20
    assert taken(rates, "ada", 50) == 20
    assert taken(rates, "eve", 50, what="y") == 20


def test_when_all_together_are_at_the_limit_only_callers_below_their_share_go_on() -> None:
    rates = CallerRates(lambda: 0.0)
    for number in range(SHARED):
        assert taken(rates, f"c{number}", 30) == 20
    assert taken(rates, "late", 30) == 20 * SHARED // (SHARED + 1)
    with pytest.raises(CortexError, match="with all other callers"):
        rates.acquire("x", "late", 20)


def test_a_minute_later_the_calls_do_not_count_and_the_refusal_states_when() -> None:
    now = [0.0]
    rates = CallerRates(lambda: now[0])
    taken(rates, "eve", 10)
    now[0] = 30.0
    taken(rates, "eve", 10)
    with pytest.raises(CortexError) as refused:
        rates.acquire("x", "eve", 20, "actions.perMinute")
    assert refused.value.details == {"retryAfterMs": 30_000, "limit": 20}
    assert "actions.perMinute in cortex.yaml" in refused.value.hint
    now[0] = 60.0
    assert taken(rates, "eve", 20) == 10


def test_callers_that_are_idle_are_forgotten() -> None:
    now = [0.0]
    rates = CallerRates(lambda: now[0])
    for number in range(1_000):
        rates.acquire("x", f"c{number}", 1_000)
    now[0] = 61.0
    rates.acquire("x", "ada", 1_000)
    assert list(rates._calls["x"]) == ["ada"]
