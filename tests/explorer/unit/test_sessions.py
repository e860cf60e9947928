"""The rules of sessions, codes and tokens of forms, with a given clock."""

from __future__ import annotations

import pytest

from cortex_skills.doors.explorer.sessions import (
    ACTING_S,
    CODE_S,
    FAILURE_S,
    FAILURES,
    IDLE_S,
    LIFETIME_S,
    LOCAL,
    SESSIONS_OF_GRANT,
    Failures,
    Sessions,
)

TOKEN = "a" * 64


def test_a_code_begins_one_session() -> None:
    sessions = Sessions()
    code = sessions.new_code(TOKEN, 0)
    assert len(bytes.fromhex(code)) == 16
    assert sessions.is_waiting(code, 1)
    assert sessions.redeem(code, 1) == TOKEN
    assert not sessions.is_waiting(code, 1)
    assert sessions.redeem(code, 1) is None


def test_a_late_code_is_used_up() -> None:
    sessions = Sessions()
    code = sessions.new_code(LOCAL, 0)
    assert sessions.redeem(code, CODE_S) is None
    assert sessions.redeem(code, CODE_S - 1) is None


def test_a_wrong_code_begins_nothing() -> None:
    sessions = Sessions()
    code = sessions.new_code(LOCAL, 0)
    for wrong in ("", code[:-1], code + "0", code.upper() if code.upper() != code else "x", "x" * 100_000, "\ud800"):
        assert sessions.redeem(wrong, 1) is None
    assert sessions.redeem(code, 1) == LOCAL


def test_codes_that_wait_are_limited() -> None:
    sessions = Sessions()
    codes = [sessions.new_code(LOCAL, 0) for _ in range(300)]
    assert sum(sessions.is_waiting(code, 0) for code in codes) == 256


def test_a_session_ends_when_it_is_not_used() -> None:
    sessions = Sessions()
    cookie = sessions.begin(TOKEN, 0)
    assert sessions.find(cookie, IDLE_S - 1) is not None
    assert sessions.find(cookie, 2 * IDLE_S - 2) is not None
    assert sessions.find(cookie, 3 * IDLE_S - 2) is None
    assert sessions.find(cookie, 2 * IDLE_S) is None
    assert len(sessions) == 0


def test_a_session_ends_after_its_lifetime_however_often_it_is_used() -> None:
    sessions = Sessions()
    cookie = sessions.begin(TOKEN, 0)
    now = 0.0
    while now + IDLE_S / 2 < LIFETIME_S:
        now += IDLE_S / 2
        assert sessions.find(cookie, now) is not None
    assert sessions.find(cookie, LIFETIME_S) is None


def test_a_session_ends_when_it_is_ended() -> None:
    sessions = Sessions()
    cookie, other = sessions.begin(TOKEN, 0), sessions.begin(TOKEN, 0)
    session = sessions.find(cookie, 1)
    assert session is not None
    sessions.end(session)
    assert sessions.find(cookie, 1) is None
    assert sessions.find(other, 1) is not None


def test_neither_cookies_nor_codes_are_kept() -> None:
    sessions = Sessions()
    cookie, code = sessions.begin(TOKEN, 0), sessions.new_code(TOKEN, 0)
    kept = f"{vars(sessions)!r}"
    assert cookie not in kept
    assert code not in kept
    assert len(cookie) == 43


def test_a_further_session_of_a_token_ends_the_one_that_was_not_used_for_longest() -> None:
    sessions = Sessions()
    other = sessions.begin(LOCAL, 0)
    cookies = [sessions.begin(TOKEN, n) for n in range(SESSIONS_OF_GRANT)]
    assert sessions.find(cookies[0], 100) is not None
    sessions.begin(TOKEN, 101)
    assert sessions.find(cookies[1], 102) is None
    assert sessions.find(cookies[0], 102) is not None
    assert sessions.find(other, 102) is not None


def test_a_session_acts_only_for_a_while_after_it_was_confirmed() -> None:
    sessions = Sessions()
    cookie = sessions.begin(TOKEN, 0)
    session = sessions.find(cookie, 0)
    assert session is not None
    assert not session.may_act(0)
    assert sessions.confirm(session, 5).may_act(5)
    session = sessions.find(cookie, 6)
    assert session is not None
    assert session.may_act(6)
    assert not session.may_act(5 + ACTING_S)


def test_an_ended_session_cannot_be_confirmed() -> None:
    sessions = Sessions()
    cookie = sessions.begin(TOKEN, 0)
    session = sessions.find(cookie, 0)
    assert session is not None
    sessions.end(session)
    sessions.confirm(session, 1)
    assert sessions.find(cookie, 1) is None


def test_the_token_of_a_form_belongs_to_one_session_action_and_object() -> None:
    sessions = Sessions()
    one, two = (sessions.find(sessions.begin(TOKEN, 0), 0) for _ in range(2))
    assert one is not None
    assert two is not None
    token = one.form_token("approve", "7")
    assert one.is_form_token(token, "approve", "7")
    refused = [(two, token, "approve", "7"), (one, token, "reject", "7"), (one, token, "approve", "8")]
    refused += [(one, "", "approve", "7"), (one, token[:-1], "approve", "7"), (one, "é", "approve", "7")]
    refused += [(one, one.form_token("approve\0007"), "approve", "7\0")]
    assert [session.is_form_token(*rest) for session, *rest in refused] == [False] * 7


def test_five_failures_a_minute_block_an_address_and_no_other() -> None:
    failures = Failures()
    for at in range(FAILURES):
        assert failures.wait_s("a", at) == 0
        failures.add("a", at)
    assert failures.wait_s("a", FAILURES) == pytest.approx(FAILURE_S - FAILURES)
    assert failures.wait_s("b", FAILURES) == 0
    assert failures.wait_s("a", FAILURE_S) == 0


def test_the_addresses_that_are_counted_are_limited() -> None:
    failures = Failures()
    for number in range(5000):
        failures.add(f"a{number}", 0)
    assert len(vars(failures)["_times"]) == 4096
