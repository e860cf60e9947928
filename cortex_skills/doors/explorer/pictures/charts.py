"""Charts with axes: points, lines, bars of one or more measures, how numbers are distributed, and places on the earth.

Rules kept here:
- a chart has its own size, so that its text is as large on every page;
- a series has a colour and a shape, and its name beside the chart; there are at most `SERIES` of them;
- what is not a finite number, or is beyond 10^100, is left out; names are cut in the middle;
- the outline of the land is `land.txt` (`build_steps/land_outline.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cortex_graph.namespace.labels import cut
from cortex_skills.doors.explorer.pictures.map import draw_mark
from cortex_skills.doors.explorer.pictures.svg import Element, Svg
from cortex_skills.doors.explorer.pictures.text_width import text_width

SERIES = 7
MAX_POINTS = 2000
MAX_ROWS = 100

_WIDTH, _HEIGHT = 900.0, 400.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 84.0, 24.0, 16.0, 46.0
_NAMES, _VALUES = 270.0, 90.0  # the columns of names and of numbers beside bars
_BAR, _BETWEEN = 13.0, 9.0
_NAME, _TEXT = 36, 12.0
_TITLED = 250  # points that each have a title
_TICKS = 6
_DAY = 86_400.0
_LARGEST = 1e100
_EARTH = 720.0  # the width of land.txt


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a chart: its numbers, and its name if it has one. A time is in seconds since 1970, UTC."""

    x: float
    y: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its name, and whether its numbers are times."""

    name: str
    is_time: bool = False


def points(series: Sequence[Series], x: Axis, y: Axis, summary: str, *, joined: bool = False) -> Svg | None:
    """Points at their numbers; None without two different ones.

    Args:
        series: the points.
        x: the axis to the right.
        y: the axis upwards.
        summary: what the chart shows.
        joined: whether the points of a series are joined by a line, in the order of `x`.
    """
    known = [Series(each.name, tuple(filter(_is_finite, each.points))) for each in series[:SERIES]]
    known = [each for each in known if each.points]
    every = [point for each in known for point in each.points]
    if len({(point.x, point.y) for point in every}) < 2:
        return None
    frame = _Frame(every, x, y, summary, with_names=len(known) > 1)
    for place, each in enumerate(known, 1):
        group = frame.chart.add("g", class_=f"k{place}")
        at = [(frame.x(point.x), frame.y(point.y), point) for point in each.points]
        if joined:
            at.sort(key=lambda one: one[0])
            line = "L".join(f"{left:.1f} {top:.1f}" for left, top, _ in at)
            frame.chart.add("path", group, class_="line", d=f"M{line}")
        if len(every) > _TITLED:
            dots = "".join(f"M{left:.1f} {top:.1f}h0" for left, top, _ in at)
            frame.chart.add("path", group, class_="dots", d=dots)
            continue
        for left, top, point in at:
            mark = frame.chart.add("g", group)
            shown = f"{x.name} {_shown(point.x, x)}, {y.name} {_shown(point.y, y)}"
            frame.chart.add("title", mark, f"{point.name}: {shown}" if point.name else shown)
            draw_mark(frame.chart, mark, place, complex(left, top), 3.2 if joined else 4.5)
    frame.legend([each.name for each in known])
    return frame.chart


def histogram(values: Sequence[float], name: str) -> Svg | None:
    """How often numbers occur, in bins of equal width with round borders; None without two different numbers."""
    known = sorted(filter(_can_be_drawn, values))
    if not known or _range(known) != (known[0], known[-1]):
        return None
    borders = _ticks(known[0], known[-1], 20)
    step = borders[1] - borders[0]
    first = borders[0] - step if known[0] < borders[0] else borders[0]
    counts = [0] * (math.floor((known[-1] - first) / step) + 1)
    for value in known:
        counts[min(len(counts) - 1, int((value - first) / step))] += 1
    ends = [Point(first, 0), Point(first + step * len(counts), max(counts))]
    median = known[len(known) // 2]
    summary = f"{len(known):,} values of {name} from {known[0]:.6g} to {known[-1]:.6g}, half of them below {median:.6g}"
    frame = _Frame(ends, Axis(name), Axis("How many"), summary)
    for place, count in enumerate(counts):
        low, high = first + place * step, first + (place + 1) * step
        left, top = frame.x(low), frame.y(count)
        bar = frame.chart.add("g", class_="k1")
        frame.chart.add("title", bar, f"{count:,} from {low:.6g} to {high:.6g}")
        width = max(1.0, frame.x(high) - left - 1.5)
        frame.chart.add("rect", bar, class_="bar", x=left, y=top, width=width, height=frame.y(0) - top)
    return frame.chart


def bars(rows: Sequence[tuple[str, Sequence[float | None]]], measures: Sequence[str], summary: str) -> Svg | None:
    """Bars below each other: each row with its name and one bar a measure; negative ones to the left of zero.

    Args:
        rows: the name of each, and its numbers, None for one that it has not.
        measures: the names of the numbers.
        summary: what the chart shows.
    """
    kept = [
        (name, [value if value is not None and _can_be_drawn(value) else None for value in values[:SERIES]])
        for name, values in rows[:MAX_ROWS]
    ]
    numbers = [value for _, values in kept for value in values if value is not None]
    if not numbers:
        return None
    low, high = min(0.0, *numbers), max(0.0, *numbers)
    column = min(_NAMES, 10 + max(text_width(cut(name, _NAME - 1), _TEXT) for name, _ in kept))
    wide = _WIDTH - column - _VALUES
    scale = wide / (high - low) if high - low > 1 / _LARGEST else 0.0
    tall, head = len(measures) * _BAR + _BETWEEN, 26.0 if len(measures) > 1 else 6.0
    chart = Svg(_WIDTH, head + len(kept) * tall + 4, summary, "chart", is_sized=True)
    if len(measures) > 1:
        _legend(chart, measures, column + 8)
    for row, (name, values) in enumerate(kept):
        top = head + row * tall
        middle = top + len(measures) * _BAR / 2 + 4.3
        chart.add("text", None, cut(name, _NAME - 1), x=column, y=middle, text_anchor="end")
        for place, value in enumerate(values):
            if value is None:
                continue
            start, end = sorted((-low * scale, (value - low) * scale))
            y = top + place * _BAR
            bar = chart.add("g", class_=f"k{place + 1}")
            chart.add(
                "rect", bar, class_="bar", x=column + 8 + start, y=y, width=max(0.5, end - start), height=_BAR - 2
            )
            chart.add("text", bar, f"{value:,.6g}", x=_WIDTH, y=y + 10, text_anchor="end")
    return chart


def places(series: Sequence[Series], summary: str) -> Svg | None:
    """Points on the outline of the land, by longitude (`x`) and latitude (`y`) in degrees; None without any."""
    known = [
        Series(each.name, tuple(point for point in each.points if _is_finite(point) and abs(point.y) <= 90))
        for each in series[:SERIES]
    ]
    known = [each for each in known if each.points]
    every = [point for each in known for point in each.points]
    if not every:
        return None
    scale = _WIDTH / _EARTH
    head = 26.0 if len(known) > 1 else 0.0
    chart = Svg(_WIDTH, head + _EARTH / 2 * scale, summary, "chart", is_sized=True)
    if len(known) > 1:
        _legend(chart, [each.name for each in known], 8)
    chart.add("path", class_="land", d=_land(), transform=f"translate(0 {head}) scale({scale})")
    free: list[tuple[float, float, float]] = []
    for place, each in enumerate(known, 1):
        group = chart.add("g", class_=f"k{place}")
        for point in each.points:
            left, top = ((point.x + 180) % 360) * 2 * scale, head + (90 - point.y) * 2 * scale
            mark = chart.add("g", group)
            chart.add("title", mark, f"{point.name} {point.y:.4g}, {point.x:.4g}".strip())
            draw_mark(chart, mark, place, complex(left, top), 4.5)
            name = cut(point.name, 24)
            width = text_width(name, _TEXT)
            is_left = left + 8 + width > _WIDTH
            start = left - 8 - width if is_left else left + 8
            # A name that would be over another one is in the title only.
            if (
                name
                and len(every) <= _TITLED
                and all(abs(top - y) > _TEXT + 3 or start > right + 4 or start + width < x - 4 for x, right, y in free)
            ):
                free.append((start, start + width, top))
                anchor = "end" if is_left else None
                chart.add("text", mark, name, x=left + (-8 if is_left else 8), y=top + 4, text_anchor=anchor)
    return chart


class _Frame:
    """A chart with two axes, whose numbers become places."""

    def __init__(self, every: Sequence[Point], x: Axis, y: Axis, summary: str, *, with_names: bool = False) -> None:
        top = _TOP + (26 if with_names else 0)
        self.chart = Svg(_WIDTH, _HEIGHT + top, summary, "chart", is_sized=True)
        xs = _scale([point.x for point in every], x, _LEFT, _WIDTH - _RIGHT)
        ys = _scale([point.y for point in every], y, top + _HEIGHT - _BOTTOM, top)
        self.x, self.y = xs.at, ys.at
        lines = self.chart.add("g")
        bottom = top + _HEIGHT - _BOTTOM
        for value, label in ys.ticks:
            at = ys.at(value)
            self.chart.add("line", lines, class_="grid", x1=_LEFT, y1=at, x2=_WIDTH - _RIGHT, y2=at)
            self.chart.add("text", lines, label, x=_LEFT - 8, y=at + 4, text_anchor="end")
        for value, label in xs.ticks:
            at = xs.at(value)
            self.chart.add("line", lines, class_="grid", x1=at, y1=bottom, x2=at, y2=bottom + 5)
            self.chart.add("text", lines, label, x=at, y=bottom + 19, text_anchor="middle")
        name = cut(x.name, _NAME)
        self.chart.add("text", lines, name, class_="axis", x=_WIDTH - _RIGHT, y=bottom + 38, text_anchor="end")
        self.chart.add("text", lines, cut(y.name, _NAME), class_="axis", x=2, y=top - 4 if with_names else 11)
        self._has_names = with_names

    def legend(self, names: Sequence[str]) -> None:
        """The names of the series, above the chart."""
        if self._has_names:
            _legend(self.chart, names, _LEFT)


@dataclass(frozen=True, slots=True)
class _Scale:
    at: Callable[[float], float]
    ticks: list[tuple[float, str]]


def _scale(values: Sequence[float], axis: Axis, start: float, end: float) -> _Scale:
    low, high = _range(values)
    ticks = _time_ticks(low, high) if axis.is_time else [(tick, _number(tick)) for tick in _ticks(low, high, _TICKS)]
    if not axis.is_time and ticks:
        step = ticks[1][0] - ticks[0][0] if len(ticks) > 1 else high - low
        low, high = min(low, ticks[0][0] if ticks[0][0] - low < step else low), max(high, ticks[-1][0])
    room = (end - start) * 0.02
    return _Scale(lambda value: start + room + (value - low) / (high - low) * (end - start - 2 * room), ticks)


def _ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers within a range, about so many."""
    rough = (high - low) / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    found = [place * step for place in range(first, last + 1)][: 4 * count]
    return found if len(found) > 1 else [low, high]


def _time_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round moments within a range: hours, days, months or years."""
    span = high - low
    if span > 500 * _DAY:
        first, last = _moment(low).year, _moment(high).year
        step = max(1, math.ceil((last - first) / _TICKS))
        years = range(first + (-first % step), last + 1, step)
        found = [(datetime(year, 1, 1, tzinfo=UTC).timestamp(), str(year)) for year in years if year > 0]
    elif span > 60 * _DAY:
        begin = _moment(low)
        months = range(begin.year * 12 + begin.month - 1, begin.year * 12 + begin.month + 18)
        step = max(1, math.ceil(span / (30 * _DAY) / _TICKS))
        days = [datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in months if month % step == 0]
        found = [(day.timestamp(), day.strftime("%b %Y")) for day in days]
    else:
        steps = (60, 300, 900, 3600, 10_800, 21_600, 43_200, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY)
        size = next((each for each in steps if span / each <= _TICKS), 14 * _DAY)
        form = "%d %b" if size >= _DAY else "%d %b %H:%M" if span > _DAY else "%H:%M"
        first = math.ceil(low / size)
        found = [(place * size, _moment(place * size).strftime(form)) for place in range(first, first + 2 * _TICKS)]
    within = [tick for tick in found if low <= tick[0] <= high]
    return within or [(low, _moment(low).strftime("%Y-%m-%d")), (high, _moment(high).strftime("%Y-%m-%d"))]


def _moment(seconds: float) -> datetime:
    """The moment; the nearest one that a calendar has."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return datetime(9999 if seconds > 0 else 1, 1, 1, tzinfo=UTC)


def _shown(value: float, axis: Axis) -> str:
    return _moment(value).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00") if axis.is_time else f"{value:,.6g}"


def _number(value: float) -> str:
    return f"{value:,.10g}" if abs(value) < 1e9 else f"{value:.3g}"


def _can_be_drawn(value: float) -> bool:
    """Whether a number is finite, and so are differences and quotients of such numbers."""
    return -_LARGEST < value < _LARGEST


def _is_finite(point: Point) -> bool:
    return _can_be_drawn(point.x) and _can_be_drawn(point.y)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The least and the largest of some numbers; a little around them if they are one, or nearly."""
    low, high = min(values), max(values)
    least = max(max(abs(low), abs(high)) * 1e-9, 1 / _LARGEST)
    if high - low > least:
        return low, high
    around = max(abs(low), abs(high)) * 1e-3 if max(abs(low), abs(high)) > 1e-9 else 1.0
    return low - around, high + around


def _legend(chart: Svg, names: Iterable[str], left: float) -> None:
    for place, name in enumerate(names, 1):
        group: Element = chart.add("g", class_=f"k{place}")
        shown = cut(name, 20)
        draw_mark(chart, group, place, complex(left + 6, 11), 5)
        chart.add("text", group, shown, x=left + 17, y=15)
        left += text_width(shown, _TEXT) + 36


@cache
def _land() -> str:
    return Path(__file__).with_name("land.txt").read_text().strip()
