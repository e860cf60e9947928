"""What the frame of every page shows: times, the navigation and its keys, and the numbers of the inbox."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from cortex_skills.doors.explorer.inbox import Attention, numbers_of
from cortex_skills.doors.explorer.page import pages
from cortex_skills.doors.explorer.times import ago, exact

NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-28 11:59:30 UTC", "just now"),
        ("2026-11-28T12:00:30Z", "in a minute"),
        ("2026-11-28 11:48", "12 min ago"),
        ("2026-11-28T14:00:00+01:00", "in 1 h"),
        ("2026-11-27 17:20 UTC", "18 h ago"),
        ("2026-11-27 09:41 UTC", "yesterday 09:41"),
        ("2026-11-29 12:01 UTC", "tomorrow 12:01"),
        ("2026-09-03 10:00", "3 Sep"),
        ("2024-02-29", "29 Feb 2024"),
        ("not a time\u202e", "not a time\u202e"),
    ],
)
def test_a_time_is_relative_for_a_day_and_exact_beside(text: str, shown: str) -> None:
    assert ago(text, NOW) == shown


def test_what_is_no_time_has_no_exact_one() -> None:
    assert (exact("2026-11-28 11:48 UTC"), exact("soon")) == ("2026-11-28T11:48:00Z", "")


def test_no_two_pages_share_a_shortcut() -> None:
    keys = Counter(page.keys for page in pages() if page.keys)
    assert [key for key, number in keys.items() if number > 1] == []
    assert [page.name for page in pages() if page.label and not page.keys] == []


def test_the_overview_has_the_number_of_all_that_waits() -> None:
    inbox = (
        Attention("warn", "medium risk", "asks for", "x", "/explore/approvals/x", "approvals"),
        Attention("bad", "changed", "in the store", "approvals", "/explore/approvals", "approvals", 2),
        Attention("bad", "refuted", "verifications", "proofs", "/explore/mayros/proofs"),
    )
    assert numbers_of(inbox) == {"approvals": 3, "overview": 4}
    assert numbers_of(())["approvals"] == 0
