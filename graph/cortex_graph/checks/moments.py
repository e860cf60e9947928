"""A moment as callers write it.

    2026-01-31T12:00:00Z        a date and time of RFC 3339 §5.6, with its zone
    2026-01-31                  a date: its beginning in UTC
    now, today, yesterday       the beginning of the day in UTC
    30m, 24h, 7d, 2w            so long ago, also `24h ago`

Rules kept here:
- this is the one parser, for every interface that takes a moment;
- words stand for a moment of the clock when they are read; `absolute` writes it, so that links and pages keep it;
- of the fraction of a second six digits count.
"""

from __future__ import annotations

import re
import reprlib
from datetime import UTC, datetime, timedelta
from typing import Any

from cortex_graph.checks.datetimes import date_time, to_milliseconds
from cortex_graph.exceptions import invalid

HINT = "a date and time with its zone, such as 2026-01-31T12:00:00Z, a date, `yesterday`, or `24h` for so long ago"
MAX_MOMENT = 64  # characters

_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?", re.ASCII
)
_AGO = re.compile(r"(\d{1,6}) ?(m|min|h|d|w)(?: ago)?", re.ASCII)
_DAYS = {"now": None, "today": 0, "yesterday": 1}
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def check_moment(given: Any, field: str, now: datetime | None = None) -> datetime:
    """Return a moment in UTC.

    Args:
        given: a text of one of the forms of this module, or a `datetime` with a time zone.
        field: named by the error.
        now: the clock; that of the system when omitted.

    Raises:
        InvalidArguments: it is no moment.
    """
    moment = _of_text(given, now) if isinstance(given, str) else given
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise invalid(field, f"is {_short(given)}, which is not a moment", hint=HINT)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise invalid(field, f"is {_short(given)}, which is out of range", hint=HINT) from None


def absolute(given: str, field: str, now: datetime | None = None) -> str:
    """Return a moment as text that means the same later: words as a time in UTC to the millisecond, others as they are.

    Raises:
        InvalidArguments: it is no moment.
    """
    moment = check_moment(given, field, now)
    return given if _MOMENT.fullmatch(given) else date_time(to_milliseconds(moment))


def _of_text(given: str, now: datetime | None) -> datetime | None:
    """The moment of a text; None for any other text."""
    try:
        if _MOMENT.fullmatch(given):
            moment = datetime.fromisoformat(given.upper())
            return moment.replace(tzinfo=UTC) if len(given) == len("2026-01-31") else moment
        words, today = given.strip().lower(), now or datetime.now(UTC)
        if (ago := _AGO.fullmatch(words)) is not None:
            return today - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        if words not in _DAYS:
            return None
        days = _DAYS[words]
        return today if days is None else _begun(today) - timedelta(days=days)
    except (ValueError, OverflowError):
        return None


def _begun(moment: datetime) -> datetime:
    """The beginning of the day of a moment."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _short(given: Any) -> str:
    text = given if isinstance(given, str) else reprlib.repr(given)  # bounded, at any depth
    return text if len(text) <= 80 else f"{text[:79]}…"
