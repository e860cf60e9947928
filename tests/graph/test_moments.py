"""Moments as callers write them: RFC 3339, dates, and words for a time before now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_graph import InvalidArguments
from cortex_graph.checks.moments import absolute, check_moment

NOW = datetime(2026, 3, 1, 14, 30, 5, 123456, UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31t12:00:00.5z", datetime(2026, 1, 31, 12, 0, 0, 500_000, UTC)),
        ("2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("now", NOW),
        ("today", datetime(2026, 3, 1, tzinfo=UTC)),
        (" Yesterday ", datetime(2026, 2, 28, tzinfo=UTC)),
        ("24h", NOW - timedelta(days=1)),
        ("90 min ago", NOW - timedelta(minutes=90)),
        ("7d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(days=14)),
    ],
)
def test_a_moment_is_read(text: str, expected: datetime) -> None:
    assert check_moment(text, "since", NOW) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "24",
        "-1h",
        "1.5h",
        "24 hours",
        "٢٤h",
        "999999w",
        "2026-02-30",
        "2026-01-31T12:00:00",
        "h",
        "now\n1h",
    ],
)
def test_what_is_no_moment_is_refused_with_the_forms_that_there_are(text: str) -> None:
    with pytest.raises(InvalidArguments, match="which is not a moment") as raised:
        check_moment(text, "since", NOW)
    assert "`24h` for so long ago" in raised.value.hint


@settings(max_examples=100)
@given(st.text(max_size=30))
def test_any_text_is_a_moment_in_utc_or_refused(text: str) -> None:
    try:
        moment = check_moment(text, "since", NOW)
    except InvalidArguments:
        return
    assert moment.utcoffset() == timedelta(0)


@settings(max_examples=100)
@given(st.integers(0, 10_000), st.sampled_from("mhdw"))
def test_words_become_a_time_that_is_read_as_the_same_moment(count: int, unit: str) -> None:
    text = f"{count}{unit}"
    kept = absolute(text, "asOf", NOW)
    assert kept == absolute(kept, "asOf", NOW + timedelta(days=1))
    assert abs(check_moment(kept, "asOf") - check_moment(text, "asOf", NOW)) < timedelta(milliseconds=1)


@settings(max_examples=100)
@given(st.datetimes(timezones=st.builds(timezone, st.integers(-840, 840).map(lambda each: timedelta(minutes=each)))))
def test_what_is_written_with_a_zone_is_kept_as_it_is(moment: datetime) -> None:
    text = moment.isoformat(timespec="microseconds")
    try:
        read = check_moment(text, "asOf")
    except InvalidArguments:
        assert not 1 < moment.year < 9999
        return
    assert read == moment
    assert absolute(text, "asOf") == text
