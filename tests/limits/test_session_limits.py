"""The limits of sessions: each has its own, and their number is bounded."""

from __future__ import annotations

from cortex_skills.config.core_settings import SkillSandbox
from cortex_skills.policy.session_limits import MAX_SESSIONS, AllLimits


def test_a_session_has_limits_of_its_own_and_keeps_them():
    limits = AllLimits(SkillSandbox(max_assertions=3, max_graph_queries=4, max_writes=5, max_calls_per_minute=6))
    mine = limits.of("mine")
    mine.budgets.assertion("kyc")
    assert limits.of("mine") is mine
    assert [limits.of(other).budgets.assertions_used("kyc") for other in ("mine", "yours", None)] == [1, 0, 0]
    assert limits.of(None) is limits.own
    budgets = limits.of("yours").budgets
    found = (budgets.max_assertions, budgets.max_graph_queries, budgets.max_writes, mine.rate.max_calls)
    assert found == (3, 4, 5, 6)


def test_the_session_that_was_not_used_for_the_longest_time_is_forgotten():
    limits = AllLimits(SkillSandbox(), most=2)
    one = limits.of("one")
    limits.of("two").budgets.assertion("kyc")
    assert limits.of("one") is one
    limits.of("three")
    assert limits.of("one") is one
    assert limits.of("two").budgets.assertions_used("kyc") == 0


def test_as_many_sessions_are_kept_as_a_server_has_open():
    from cortex_skills.doors.mcp.http import SESSIONS

    assert 2 * SESSIONS[0] <= MAX_SESSIONS
