"""Calls in time: as many bars as minutes, the refused calls on top."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from cortex_skills.audit.minute_counts import MinuteCount
from cortex_skills.audit.recent_calls import EVERY, MAX_PAGE, CallFilter, CallReader
from cortex_skills.doors.explorer.pictures.plots import Bar, stacked_bars
from cortex_skills.doors.explorer.pictures.svg import Svg

HOUR = 60
_MOST_PAGES = 10  # that are read of calls with a filter


def calls_by_minute(calls: CallReader, now: datetime, minutes: int, which: CallFilter | None = None) -> tuple[Svg, str]:
    """The calls of the last minutes as a picture and in words.

    Args:
        calls: those that are kept.
        now: the end of the last minute.
        minutes: how many.
        which: a filter; without one the counts are kept, and all calls are in them.
    """
    begin = now.replace(second=0, microsecond=0) - timedelta(minutes=minutes - 1)
    counts, some = (
        (calls.by_minute(begin, minutes), "") if which in (None, EVERY) else _read(calls, begin, minutes, which)
    )
    total, refused, cleaned = (sum(getattr(each, name) for each in counts) for name in ("total", "refused", "cleaned"))
    words = f"{some}{total:,} calls, {some}{refused:,} refused, {some}{cleaned:,} values cleaned out of answers"
    middle = begin + timedelta(minutes=minutes / 2)
    labels = (f"{begin:%H:%M}", f"{middle:%H:%M}", f"{now:%H:%M}")
    bars = [Bar(each.total, each.refused) for each in counts]
    return stacked_bars(bars, labels, words), words


def _read(calls: CallReader, begin: datetime, minutes: int, which: CallFilter) -> tuple[list[MinuteCount], str]:
    """The counts of calls that match, and a word if there are more than were read."""
    counts, first = [MinuteCount() for _ in range(minutes)], int(begin.timestamp() // 60)
    wanted = replace(which, since=begin if which.since is None else max(begin, which.since))
    cursor = None
    for _ in range(_MOST_PAGES):
        page = calls.page(wanted, limit=MAX_PAGE, cursor=cursor)
        for call in page.calls:
            count = counts[min(minutes - 1, int(datetime.fromisoformat(call.record.time).timestamp() // 60) - first)]
            count.total += 1
            count.refused += call.record.is_refused
            count.cleaned += call.record.stripped
        cursor = page.next_cursor
        if cursor is None:
            return counts, ""
    return counts, "at least "
