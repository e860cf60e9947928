"""Times for a reader: how long ago, beside the exact time.

Rules kept here:
- times are UTC, to the minute or the second; what is no time is shown as it is. The script of the pages shows them in
  the zone that the reader chose (`src/zone.ts`);
- a time is relative for a day; then it is yesterday's, then the day alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_IN_WORDS = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)(?: UTC)?", re.ASCII)


def exact(text: str) -> str:
    """A time as the attribute `datetime` of HTML takes it (HTML §2.3.5.7); empty for what is none."""
    when = _read(text)
    return "" if when is None else f"{when:%Y-%m-%dT%H:%M:%SZ}"


def moment(text: str) -> str:
    """A time in words: `2026-01-31 12:00:00 UTC`."""
    when = _read(text)
    return text if when is None else f"{when:%Y-%m-%d %H:%M:%S} UTC"


def with_times(words: str) -> Iterator[tuple[str, str]]:
    """Words of a page, never of data, in parts: each time has its moment, other words none."""
    end = 0
    for found in _IN_WORDS.finditer(words):
        yield words[end : found.start()], ""
        yield found[0], exact(found[1])
        end = found.end()
    yield words[end:], ""


def ago(text: str, now: datetime | None = None) -> str:
    """How long ago a time was, or in how long it will be.

    Args:
        text: ISO 8601, or `YYYY-MM-DD HH:MM UTC`.
        now: by default the present.
    """
    when, now = _read(text), now or datetime.now(UTC)
    if when is None:
        return text
    distance = abs(now - when)
    if distance < _MINUTE:
        return "just now" if when <= now else "in a minute"
    if distance < _DAY:
        size, unit = (distance // _MINUTE, "min") if distance < _HOUR else (distance // _HOUR, "h")
        return f"{size} {unit} ago" if when < now else f"in {size} {unit}"
    days = (when.date() - now.date()).days
    if abs(days) == 1:
        return f"{'yesterday' if days < 0 else 'tomorrow'} {when:%H:%M}"
    return f"{when.day} {when:%b}{'' if when.year == now.year else f' {when.year}'}"


def _read(text: str) -> datetime | None:
    try:
        when = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
