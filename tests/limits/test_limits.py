"""The rate window and the budgets."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.errors import CortexError
from cortex_skills.policy.budgets import Budgets, RateWindow


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def refused(call, *arguments, **keywords):
    with pytest.raises(CortexError) as caught:
        call(*arguments, **keywords)
    assert caught.value.hint
    return caught.value.code, caught.value.details


def budgets(queries=3, assertions=2, writes=2):
    return Budgets(max_graph_queries=queries, max_assertions=assertions, max_writes=writes)


def in_threads(work, count=16):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_window_allows_its_number_of_calls_and_reports_the_wait():
    clock = Clock()
    window = RateWindow(2, clock=clock)
    window.acquire("a")
    clock.now += 10
    window.acquire("a")
    clock.now += 10
    assert refused(window.acquire, "a") == ("rate_limited", {"retryAfterMs": 40_000, "limit": 2})


def test_the_window_slides():
    clock = Clock()
    window = RateWindow(2, clock=clock)
    window.acquire("a")
    clock.now += 30
    window.acquire("a")
    clock.now += 30
    window.acquire("a")
    assert refused(window.acquire, "a")[1]["retryAfterMs"] == 30_000


def test_a_refused_call_does_not_count():
    clock = Clock()
    window = RateWindow(1, window_s=1, clock=clock)
    window.acquire("a")
    for _ in range(100):
        refused(window.acquire, "a")
    clock.now += 1
    window.acquire("a")


def test_each_skill_has_a_separate_window():
    window = RateWindow(1, clock=Clock())
    window.acquire("a")
    window.acquire("b")
    assert refused(window.acquire, "a")[0] == "rate_limited"


@given(st.integers(1, 5), st.lists(st.floats(0, 30), max_size=60))
def test_no_window_contains_more_calls_than_allowed(max_calls, steps):
    clock = Clock()
    window = RateWindow(max_calls, clock=clock)
    accepted = []
    for step in steps:
        clock.now += step
        recent = [at for at in accepted if at > clock.now - 60]
        if len(recent) < max_calls:
            window.acquire("a")
            accepted.append(clock.now)
        else:
            wait_s = refused(window.acquire, "a")[1]["retryAfterMs"] / 1000
            assert 0 < wait_s <= 60.001


def test_concurrent_threads_get_no_more_calls_than_the_window_allows():
    window = RateWindow(500, clock=Clock())
    got = []

    def work():
        for _ in range(100):
            try:
                window.acquire("a")
            except CortexError:
                continue
            got.append(1)

    in_threads(work)
    assert len(got) == 500


def test_used_up_queries_are_reported_with_their_limit():
    spent = budgets()
    for used in range(3):
        assert spent.queries_used("a") == used
        spent.query("a")
    assert refused(spent.query, "a") == ("query_limit", {"used": 3, "limit": 3})
    assert spent.queries_used("a") == 3


def test_the_manifests_limit_comes_before_the_default():
    spent = budgets()
    spent.query("a", limit=1)
    assert refused(spent.query, "a", limit=1) == ("query_limit", {"used": 1, "limit": 1})


def test_a_skill_with_a_high_limit_takes_what_the_others_have_not_reserved():
    spent = budgets(queries=3)
    active = {"greedy": 100, "modest": 1, "safety": None}
    for _ in range(5):  # its own share, and what the limit of `modest` leaves of its share
        spent.query("greedy", 100, active)
    assert refused(spent.query, "greedy", 100, active) == ("query_limit", {"used": 5, "limit": 9})
    for _ in range(3):
        spent.query("safety", None, active)
    spent.query("modest", 1, active)
    assert refused(spent.query, "modest", 1, active) == ("query_limit", {"used": 1, "limit": 1})
    spent.query("greedy", 100, {**active, "newcomer": 2})


def test_no_skill_can_silence_another_that_asks_late():
    spent = budgets(queries=2)
    active = {"safety": None, **{f"greedy{n}": 1000 for n in range(4)}}
    for name in active:
        if name != "safety":
            for _ in range(2):
                spent.query(name, 1000, active)
            assert refused(spent.query, name, 1000, active)[0] == "query_limit"
    for _ in range(2):
        spent.query("safety", None, active)
    assert refused(spent.query, "safety", None, active)[0] == "query_limit"


@given(
    st.integers(0, 4),
    st.lists(st.one_of(st.none(), st.integers(1, 9)), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=60),
)
def test_each_skill_gets_its_share_and_all_together_no_more_than_the_sum(share, limits, order):
    spent = budgets(queries=share)
    active = {str(n): limit for n, limit in enumerate(limits)}
    for number in order:
        name = str(number % len(limits))
        limit = share if active[name] is None else active[name]
        used = spent.queries_used(name)
        try:
            spent.query(name, active[name], active)
        except CortexError:
            assert used >= min(share, limit)
        else:
            assert used < limit
    assert sum(spent.queries_used(name) for name in active) <= share * len(active)


def test_the_share_of_an_unloaded_skill_ends():
    spent = budgets(queries=2)
    spent.query("gone")
    spent.query("gone")
    spent.query("b", active={"b": None})


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failed_attempt_gives_its_slot_back(error):
    spent = budgets()
    slot = spent.query("a")
    assert spent.queries_used("a") == 1
    with pytest.raises(error), slot:
        raise error
    assert spent.queries_used("a") == 0


def test_a_successful_attempt_keeps_its_slot():
    spent = budgets()
    with spent.query("a"):
        pass
    assert spent.queries_used("a") == 1


def test_a_slot_is_returned_once():
    spent = budgets()
    spent.assertion("a")
    slot = spent.assertion("a")
    slot.refund()
    slot.refund()
    with pytest.raises(RuntimeError), slot:
        raise RuntimeError
    assert spent.assertions_used("a") == 1


def test_assertions_and_writes_have_separate_codes_and_counts():
    spent = budgets(assertions=1, writes=0)
    with spent.assertion("a"):
        pass
    assert refused(spent.assertion, "a") == ("assertion_limit", {"used": 1, "limit": 1})
    assert refused(spent.write, "a") == ("write_limit", {"used": 0, "limit": 0})
    spent.assertion("b")
    assert (spent.queries_used("a"), spent.assertions_used("a"), spent.writes_used("a")) == (0, 1, 0)


def test_concurrent_threads_count_each_slot_once():
    spent = budgets(queries=400)
    got = []

    def work():
        for number in range(60):
            try:
                slot = spent.query("a", limit=400)
            except CortexError:
                continue
            if number % 3 == 0:
                slot.refund()
            else:
                got.append(slot)

    in_threads(work)
    assert spent.queries_used("a") == len(got) <= 400
    while spent.queries_used("a") < 400:
        spent.query("a", limit=400)
    refused(spent.query, "a", limit=400)
    in_threads(lambda: [slot.refund() for slot in got])
    assert spent.queries_used("a") == 400 - len(got)
