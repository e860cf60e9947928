"""A run in time: a lane for each kind of step, a mark for each step, and a line from a call to what came of it.

Rules kept here:
- at most `MAX_MARKS` marks: of more, the ones in the middle are left out, and the summary states how many are shown;
- marks are placed by percentages: a wider box spreads them, and texts and marks keep their size;
- a lane has its own shape of mark, so that nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cortex_skills.doors.explorer.pictures.svg import Svg

MAX_MARKS = 300
LANES = ("Calls", "Changes", "Asked", "Decided", "Done", "Refused")
_WIDTH, _TOP, _LANE = 960.0, 14.0, 34.0
_LEFT, _RIGHT = 11.0, 98.0  # per cent of the width
_TICKS = 5
_SECONDS = timedelta(minutes=10)  # a run that is shorter has ticks with seconds


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """A step: its lane, when it was, and the place of the mark that it came from; None for none."""

    lane: int
    when: datetime
    after: int | None = None


def timeline(marks: Sequence[TimelineMark], summary: str) -> Svg:
    """The picture of a run, of at least one mark."""
    shown = marks
    if len(marks) > MAX_MARKS:
        shown, summary = marks[:MAX_MARKS], f"{summary}; the first {MAX_MARKS} steps are drawn"
    bottom = _TOP + len(LANES) * _LANE
    picture = Svg(_WIDTH, bottom + 22, summary, "plot run", is_stretched=True)
    begin, end = min(mark.when for mark in shown), max(mark.when for mark in shown)
    whole = max((end - begin).total_seconds(), 1.0)
    for lane, name in enumerate(LANES):
        y = _y(lane)
        picture.add("text", None, name, y=y + 4)
        picture.add("line", class_="grid", x1=_at(0), y1=y, x2=_at(1), y2=y)
    for tick in range(_TICKS):
        share = tick / (_TICKS - 1)
        when = begin + timedelta(seconds=whole * share)
        text = f"{when:%H:%M:%S}" if whole < _SECONDS.total_seconds() else f"{when:%H:%M}"
        anchor = {0: None, _TICKS - 1: "end"}.get(tick, "middle")
        picture.add("text", None, text, x=_at(share), y=bottom + 14, text_anchor=anchor)
    places = [(_at((mark.when - begin).total_seconds() / whole), _y(mark.lane)) for mark in shown]
    for mark, (x, y) in zip(shown, places, strict=True):
        if mark.after is not None and mark.after < len(places):
            from_x, from_y = places[mark.after]
            picture.add("line", class_=f"came l{mark.lane}", x1=from_x, y1=from_y, x2=x, y2=y)
    for mark, (x, y) in zip(shown, places, strict=True):
        _mark(picture, mark.lane, x, y)
    return picture


def _at(share: float) -> str:
    return f"{_LEFT + (_RIGHT - _LEFT) * share:.2f}%"


def _y(lane: int) -> float:
    return _TOP + lane * _LANE + _LANE / 2


def _mark(picture: Svg, lane: int, x: str, y: float) -> None:
    kind = f"l{lane}"
    if lane == 1:
        picture.add("circle", class_=kind, cx=x, cy=y, r=6)
        return
    outline = {
        0: "-2 -7 2 -7 2 7 -2 7",
        2: "0 -7 7 6 -7 6",
        3: "-6 -6 6 -6 0 7",
        4: "-6 -6 6 -6 6 6 -6 6",
        5: "0 -7 7 0 0 7 -7 0",
    }[lane]
    picture.add("path", picture.add("svg", x=x, y=y), class_=kind, d=f"M{outline}z")


def changes_in_time(asserted: Sequence[datetime], withdrawn: Sequence[datetime], end: datetime) -> Svg:
    """When statements were made, above a line from the first one to an end, and withdrawn, below it.

    Args:
        asserted: at least one moment.
        withdrawn: moments.
        end: of the line.
    """
    begin = min([*asserted, *withdrawn])
    whole = max((end - begin).total_seconds(), 1.0)
    summary = f"{len(asserted):,} asserted and {len(withdrawn):,} withdrawn from {begin:%Y-%m-%d} to {end:%Y-%m-%d}"
    picture = Svg(640, 62, summary, "plot run history", is_stretched=True)
    picture.add("line", class_="grid", x1=0, y1=24, x2="100%", y2=24)
    for kind, moments, low in (("l4", asserted, 6), ("l5", withdrawn, 26)):
        for moment in moments:
            x = f"{(moment - begin).total_seconds() / whole * 99:.2f}%"
            picture.add("rect", class_=kind, x=x, y=low, width=4, height=16, rx=1)
    picture.add("text", None, f"{begin:%Y-%m-%d}", y=58)
    picture.add("text", None, f"{end:%Y-%m-%d}", x="100%", y=58, text_anchor="end")
    return picture
