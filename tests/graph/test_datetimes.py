"""Times are written as their canonical `xsd:dateTime`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Store

from cortex_graph.checks.datetimes import date_time, to_milliseconds

_ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_MOMENTS = st.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30), timezones=_ZONES)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 11, 22, 0, 2, 16, 860730, UTC), "2026-11-22T00:02:16.86073Z"),
        (datetime(2026, 11, 22, 0, 2, 16, 500000, UTC), "2026-11-22T00:02:16.5Z"),
        (datetime(2026, 11, 22, 0, 2, 10, 0, UTC), "2026-11-22T00:02:10Z"),
        (datetime(2026, 11, 22, 2, 0, 0, 1, timezone(timedelta(hours=2))), "2026-11-22T00:00:00.000001Z"),
    ],
)
def test_a_time_is_in_utc_and_its_fraction_ends_with_no_zero(moment: datetime, text: str) -> None:
    assert date_time(moment) == text


@given(_MOMENTS)
def test_a_time_is_read_back_as_the_same_instant(moment: datetime) -> None:
    assert datetime.fromisoformat(date_time(moment)) == moment


@given(_MOMENTS)
def test_an_engine_that_keeps_values_and_not_spellings_gives_the_same_text(moment: datetime) -> None:
    """The cast of a string: Oxigraph writes its own spelling of what it read."""
    text = date_time(moment)
    query = f'SELECT (STR(<http://www.w3.org/2001/XMLSchema#dateTime>("{text}")) AS ?t) {{}}'
    assert [row["t"].value for row in Store().query(query)] == [text]  # type: ignore[union-attr]


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        date_time(datetime(2026, 11, 22))


def test_what_is_finer_than_a_millisecond_is_cut_off() -> None:
    assert to_milliseconds(datetime(2026, 1, 1, 0, 0, 0, 999999, UTC)) == datetime(2026, 1, 1, 0, 0, 0, 999000, UTC)
