"""The latest audit records: which are kept, which a filter finds, and how they are paged."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest

from cortex_skills import CortexError
from cortex_skills.audit.call_records import AuditRecord, Removed
from cortex_skills.audit.recent_calls import MAX_PAGE, CallFilter, RecentCall, RecentCalls

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def entry(minute: int = 0, **given: object) -> AuditRecord:
    time = (NOON + timedelta(minutes=minute)).isoformat(timespec="milliseconds")
    values = {
        "time": time,
        "tool": "skill_assert",
        "skill": "probe",
        "agent": "a1",
        "outcome": "ok",
        "milliseconds": 1.0,
    }
    return AuditRecord(**values | given)  # type: ignore[arg-type]


def kept(calls: RecentCalls, **wanted: object) -> list[int]:
    return numbers(calls.page(CallFilter(**wanted)).calls)  # type: ignore[arg-type]


def numbers(calls: Iterable[RecentCall]) -> list[int]:
    return [int(call.id.partition("-")[2]) for call in calls]


@pytest.fixture
def calls() -> RecentCalls:
    """Five calls, a minute apart, with the ids 1 to 5."""
    calls = RecentCalls()
    calls.record(entry(0))
    calls.record(entry(1, outcome="permission_denied", agent="a2"))
    calls.record(entry(2, tool="skill_graph_query", stripped=3, removed=(Removed("override", "/note", 3),)))
    calls.record(entry(3, skill=None, outcome="skill_not_found"))
    calls.record(entry(4, skill="other", session="5e5510", inputs={"note": ["Straße"]}))
    return calls


def test_the_newest_call_is_first(calls: RecentCalls) -> None:
    assert kept(calls) == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"outcome": "ok"}, [5, 3, 1]),
        ({"outcome": "refused"}, [4, 2]),
        ({"outcome": "permission_denied"}, [2]),
        ({"skill": "probe"}, [3, 2, 1]),
        ({"agent": "a2"}, [2]),
        ({"tool": "skill_graph_query"}, [3]),
        ({"cleaned": True}, [3]),
        ({"cleaned": False, "outcome": "ok"}, [5, 1]),
        ({"since": NOON + timedelta(minutes=1), "until": NOON + timedelta(minutes=3)}, [4, 3, 2]),
        ({"skill": "nothing"}, []),
        ({"session": "5e5510"}, [5]),
        ({"text": "STRASSE"}, [5]),
        ({"text": "QUERY"}, [3]),
    ],
)
def test_a_filter_selects_calls(calls: RecentCalls, wanted: dict[str, object], ids: list[int]) -> None:
    assert kept(calls, **wanted) == ids


def test_pages_are_not_shifted_by_calls_that_are_added_between_them(calls: RecentCalls) -> None:
    first = calls.page(CallFilter(skill="probe"), limit=2)
    calls.record(entry(5))
    second = calls.page(CallFilter(skill="probe"), limit=2, cursor=first.next_cursor)
    assert numbers(first.calls + second.calls) == [3, 2, 1]
    assert second.next_cursor is None


def test_a_page_that_is_exactly_full_is_the_last(calls: RecentCalls) -> None:
    assert calls.page(limit=5).next_cursor is None


def test_only_the_latest_calls_are_kept_and_ids_go_on() -> None:
    calls = RecentCalls(capacity=3)
    for minute in range(5):
        calls.record(entry(minute))
    assert kept(calls) == [5, 4, 3]
    series = calls.page().calls[0].id.partition("-")[0]
    found = {number: calls.get(f"{series}-{number}") for number in (0, 2, 3, 5, 6)}
    assert {number: call and call.record.time[14:16] for number, call in found.items()} == {
        0: None,
        2: None,
        3: "02",
        5: "04",
        6: None,
    }
    assert calls.page(cursor=f"{series}-4").calls == (calls.get(f"{series}-3"),)
    assert calls.page(cursor=f"{series}-1").calls == ()
    assert numbers(calls.page(cursor=f"{series}-9").calls) == [5, 4, 3]
    assert calls.get("00000000-3") is None


@pytest.mark.parametrize("cursor", ["", "3", "00000000-3", "x" * 5000, "\ud800", "-"])
def test_a_cursor_of_another_audit_is_refused(calls: RecentCalls, cursor: str) -> None:
    with pytest.raises(CortexError) as raised:
        calls.page(cursor=cursor)
    assert raised.value.code == "invalid_arguments"
    assert raised.value.details == {"field": "cursor"}


@pytest.mark.parametrize("limit", [0, -1, MAX_PAGE + 1])
def test_a_limit_out_of_range_is_refused(calls: RecentCalls, limit: int) -> None:
    with pytest.raises(CortexError, match="`limit` must be 1 to 1,000"):
        calls.page(limit=limit)


def test_calls_are_counted_by_tool_agent_and_outcome(calls: RecentCalls) -> None:
    counts = calls.counts()
    assert counts.total == 5
    assert counts.by_tool == {"skill_assert": 4, "skill_graph_query": 1}
    assert counts.by_agent == {"a1": 4, "a2": 1}
    assert counts.by_outcome == {"ok": 3, "permission_denied": 1, "skill_not_found": 1}


def test_threads_lose_no_record() -> None:
    calls = RecentCalls()
    threads = [Thread(target=lambda: [calls.record(entry()) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept(calls)[:3] == [800, 799, 798]
    assert calls.counts().total == 800
