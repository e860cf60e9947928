"""Calls in time: as many bars as minutes, the refused calls on top."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from cortex_skills.audit.recent_calls import EVERY, MAX_PAGE, CallFilter, CallReader
from cortex_skills.doors.explorer.pictures.plots import Bar, stacked_bars
from cortex_skills.doors.explorer.pictures.svg import Svg

HOUR = 60
_MOST_PAGES = 10  # as many calls as are kept


def calls_by_minute(
    calls: CallReader, now: datetime, minutes: int, which: CallFilter | None = None, *, width: float = 640
) -> tuple[Svg, str]:
    """The calls of the last minutes as a picture and in words.

    Args:
        calls: those that are kept.
        now: the end of the last minute.
        minutes: how many.
        which: a filter; its `since` is replaced.
        width: of the picture.
    """
    begin = now - timedelta(minutes=minutes)
    given = which or EVERY
    wanted = replace(given, since=begin)
    total, refused = [0] * minutes, [0] * minutes
    cleaned, cursor = 0, None
    for _ in range(_MOST_PAGES):
        page = calls.page(wanted, limit=MAX_PAGE, cursor=cursor)
        for call in page.calls:
            passed = (datetime.fromisoformat(call.record.time) - begin).total_seconds() / 60
            place = min(minutes - 1, max(0, int(passed)))
            total[place] += 1
            refused[place] += call.record.is_refused
            cleaned += call.record.stripped
        cursor = page.next_cursor
        if cursor is None:
            break
    words = f"{sum(total):,} calls, {sum(refused):,} refused, {cleaned:,} values cleaned out of answers"
    middle = begin + timedelta(minutes=minutes / 2)
    labels = (f"{begin:%H:%M}", f"{middle:%H:%M}", f"{now:%H:%M}")
    bars = [Bar(*counts) for counts in zip(total, refused, strict=True)]
    return stacked_bars(bars, labels, words, width=width), words
