"""Small plots: counts over time, and a share within its interval.

Rules kept here:
- at most `MAX_BARS` bars, whatever the data: more are joined;
- bars become wider with their box, and the texts of the axis do not;
- the summary states the numbers that a reader takes from the picture; labels are numbers, times and clipped texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cortex_graph.namespace.labels import cut
from cortex_skills.doors.explorer.pictures.svg import Svg

MAX_BARS = 120
_WIDTH = 640.0
_HEIGHT = 110.0
_BASE = 92.0
_LABEL = 24
_INTERVAL, _INTERVAL_HEIGHT, _POINT = 120.0, 14.0, 4.5


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: how many in all, and how many of them are marked (refused calls)."""

    total: int
    marked: int = 0


def stacked_bars(bars: Sequence[Bar], labels: tuple[str, str, str], summary: str) -> Svg:
    """Bars side by side, the marked part on top.

    Args:
        bars: in the order of time.
        labels: under the first, the middle and the last bar.
        summary: what they show.
    """
    bars = _joined(bars)
    picture = Svg(_WIDTH, _HEIGHT, summary, "plot", is_stretched=True)
    highest = max([bar.total for bar in bars] or [0]) or 1
    step = _WIDTH / max(1, len(bars))
    within = picture.stretched()
    for place, bar in enumerate(bars):
        whole, marked = (_BASE - 6) * bar.total / highest, (_BASE - 6) * bar.marked / highest
        x, wide, top = place * step, step * 0.8, _BASE - whole
        if bar.total > bar.marked:
            picture.add("rect", within, class_="b0", x=x, y=top + marked, width=wide, height=whole - marked)
        if bar.marked:
            picture.add("rect", within, class_="b1", x=x, y=top, width=wide, height=marked)
    picture.add("line", class_="grid", x1=0, y1=_BASE + 0.5, x2="100%", y2=_BASE + 0.5)
    for at, anchor, label in zip((None, "50%", "100%"), (None, "middle", "end"), labels, strict=True):
        picture.add("text", None, cut(label, _LABEL - 1), x=at, y=_HEIGHT - 3, text_anchor=anchor)
    return picture


def interval(low: float, high: float, value: float, summary: str) -> Svg:
    """A share as a point within its interval, on a line from 0 to 1."""
    picture = Svg(_INTERVAL, _INTERVAL_HEIGHT, summary, "interval")
    middle, width = _INTERVAL_HEIGHT / 2, _INTERVAL - 2 * _POINT
    left, right, x = (_POINT + share * width for share in (low, high, value))
    picture.add("line", class_="grid", x1=_POINT, y1=middle, x2=_POINT + width, y2=middle)
    picture.add("rect", class_="range", x=left, y=middle - 3, width=max(1.0, right - left), height=6, rx=3)
    picture.add("circle", class_="b0", cx=x, cy=middle, r=_POINT)
    return picture


def _joined(bars: Sequence[Bar]) -> list[Bar]:
    size = math.ceil(len(bars) / MAX_BARS) or 1
    parts = [bars[start : start + size] for start in range(0, len(bars), size)]
    return [Bar(sum(bar.total for bar in part), sum(bar.marked for bar in part)) for part in parts]
