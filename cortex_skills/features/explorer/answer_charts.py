"""Which charts the rows of an answer can be, and how they are drawn.

Rules kept here:
- a column is of numbers, of times, of places or of names, as all of its values are that are not empty;
- the first chart that fits is shown, and the others are links: places; lines over time; bars of each name; points of
  two numbers; how one number is distributed;
- a column of a few names that occur several times makes series.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import Literal

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_skills.doors.explorer.pictures.charts import (
    MAX_ROWS,
    SERIES,
    Axis,
    Point,
    Series,
    bars,
    histogram,
    places,
    points,
)
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.features.explorer.query_answers import Solutions

HINT = "A chart needs a column of numbers, of times with numbers, or of coordinates"
_XSD = WELL_KNOWN_VOCABULARIES["xsd"]
_NUMBERS = frozenset(
    f"{_XSD}{name}"
    for name in (
        *("integer", "decimal", "double", "float", "int", "long", "short", "byte", "nonNegativeInteger"),
        *("positiveInteger", "nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort"),
        *("unsignedByte", "string"),  # numbers of data that has no datatypes
    )
)
# What makes a date of each.
_TIMES = {f"{_XSD}dateTime": "", f"{_XSD}date": "", f"{_XSD}gYearMonth": "-01", f"{_XSD}gYear": "-01-01"}
_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
# Without a system of coordinates, or with CRS84: longitude first (OGC GeoSPARQL 1.1, §8.5.1.2).
_POINT = re.compile(
    r"\s*(?:<http://www\.opengis\.net/def/crs/OGC/1\.3/CRS84>\s*)?POINT\s*Z?\s*\(\s*(-?[\d.]+(?:e-?\d+)?)\s+(-?[\d.]+(?:e-?\d+)?)",
    re.IGNORECASE,
)
_LATITUDE = re.compile(r"lat(itude)?|.*_lat", re.IGNORECASE)
_LONGITUDE = re.compile(r"lon|long|lng|longitude|.*_(lon|long|lng)", re.IGNORECASE)
_LONGEST_NUMBER = 64  # characters
_MOST_NUMBERS = 3  # measures of bars, and lines over one time

Called = Callable[[object], str]


@dataclass(frozen=True, slots=True)
class AnswerChart:
    """A chart of an answer.

    Attributes:
        kind: which one it is.
        kinds: which ones the answer can be.
        picture: it; None if there is too little to draw.
        words: what it shows.
    """

    kind: str
    kinds: tuple[str, ...]
    picture: Svg | None
    words: str


def chart_of(found: Solutions, called: Called, wanted: str | None = None) -> AnswerChart | None:
    """The chart of an answer; None if it can be none.

    Args:
        found: the answer.
        called: shows a term.
        wanted: the kind of chart that the reader chose.
    """
    table = _Table(found, called)
    kinds = table.kinds()
    if not kinds:
        return None
    kind = wanted if wanted in kinds else kinds[0]
    picture, words = {
        "places": table.places,
        "lines": table.lines,
        "bars": table.bars,
        "points": table.points,
        "histogram": table.histogram,
    }[kind]()
    return AnswerChart(kind, kinds, picture, words)


def number_of(term: object) -> float | None:
    """The finite number that a literal is; None for any other term."""
    if not isinstance(term, Literal) or term.datatype.value not in _NUMBERS or len(term.value) > _LONGEST_NUMBER:
        return None
    try:
        value = float(term.value)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def seconds_of(term: object) -> float | None:
    """The moment of a literal in seconds since 1970, UTC; None for any other term."""
    form = _TIMES.get(term.datatype.value) if isinstance(term, Literal) else None
    if form is None or not isinstance(term, Literal):
        return None
    try:
        moment = datetime.fromisoformat(f"{term.value}{form}")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def place_of(term: object) -> tuple[float, float] | None:
    """The longitude and latitude of a `geo:wktLiteral` that is a point; None for any other term."""
    if not isinstance(term, Literal) or term.datatype.value != _WKT or not (found := _POINT.match(term.value[:500])):
        return None
    try:
        return float(found[1]), float(found[2])
    except ValueError:
        return None


class _Table:
    """The columns of an answer by what they are."""

    def __init__(self, found: Solutions, called: Called) -> None:
        self._rows, self._names, self._called = found.rows, found.variables, called
        columns = range(len(found.variables))
        self._numbers = [column for column in columns if self._is_of(column, number_of)]
        self._times = [column for column in columns if self._is_of(column, seconds_of)]
        self._places = [column for column in columns if self._is_of(column, place_of)]
        other = {*self._numbers, *self._times, *self._places}
        self._texts = [column for column in columns if column not in other]
        self._latitude = self._named(_LATITUDE)
        self._longitude = self._named(_LONGITUDE)

    def kinds(self) -> tuple[str, ...]:
        """The charts that fit, the best first."""
        has_places = self._places or (self._latitude is not None and self._longitude is not None)
        is_distinct = self._texts and len({row[self._texts[0]] for row in self._rows}) > len(self._rows) / 2
        fits = (
            ("places", has_places),
            ("lines", self._times and self._numbers),
            ("points", len(self._numbers) > 1 and not is_distinct),
            ("bars", self._texts and self._numbers),
            ("points", len(self._numbers) > 1),
            ("histogram", self._numbers),
        )
        return tuple(dict.fromkeys(kind for kind, does_fit in fits if does_fit))

    def places(self) -> tuple[Svg | None, str]:
        """Points on the earth."""
        if self._places:
            column = self._places[0]
            found = [(row, place_of(row[column])) for row in self._rows]
        else:
            x, y = self._longitude or 0, self._latitude or 0
            found = [(row, _pair(number_of(row[x]), number_of(row[y]))) for row in self._rows]
        known = [(row, at) for row, at in found if at is not None]
        words = f"{len(known):,} place{'' if len(known) == 1 else 's'}"
        return places(self._series([(row, *at) for row, at in known]), words), words

    def lines(self) -> tuple[Svg | None, str]:
        """Numbers over a time: a line for each name, or for each column of numbers."""
        time, columns = self._times[0], self._numbers[:_MOST_NUMBERS]
        if len(columns) > 1:
            series = [Series(self._names[column], self._over(time, column)) for column in columns]
            value = Axis("")
        else:
            rows = [(row, seconds_of(row[time]), number_of(row[columns[0]])) for row in self._rows]
            series = self._series([(row, x, y) for row, x, y in rows if x is not None and y is not None])
            value = Axis(self._names[columns[0]])
        named = ", ".join(self._names[column] for column in columns)
        words = f"{named} over {self._names[time]}, {len(self._rows):,} rows"
        return points(series, Axis(self._names[time], is_time=True), value, words, joined=True), words

    def bars(self) -> tuple[Svg | None, str]:
        """Numbers by name."""
        label, columns = self._texts[0], self._numbers[:_MOST_NUMBERS]
        rows = [(self._shown(row[label]), [number_of(row[column]) for column in columns]) for row in self._rows]
        measures = [self._names[column] for column in columns]
        count = f"the first {MAX_ROWS} of {len(rows):,}" if len(rows) > MAX_ROWS else f"{len(rows):,}"
        words = f"{' and '.join(measures)} by {self._names[label]}, {count} rows"
        return bars(rows, measures, words), words

    def points(self) -> tuple[Svg | None, str]:
        """One number by another one."""
        x, y = self._numbers[:2]
        rows = [(row, number_of(row[x]), number_of(row[y])) for row in self._rows]
        series = self._series([(row, a, b) for row, a, b in rows if a is not None and b is not None])
        words = f"{self._names[y]} by {self._names[x]}, {len(rows):,} rows"
        return points(series, Axis(self._names[x]), Axis(self._names[y]), words), words

    def histogram(self) -> tuple[Svg | None, str]:
        """How often a number occurs."""
        column = self._numbers[0]
        values = [value for row in self._rows if (value := number_of(row[column])) is not None]
        words = f"how {len(values):,} values of {self._names[column]} are distributed"
        return histogram(values, self._names[column]), words

    def _over(self, time: int, column: int) -> tuple[Point, ...]:
        rows = ((seconds_of(row[time]), number_of(row[column])) for row in self._rows)
        return tuple(Point(x, y) for x, y in rows if x is not None and y is not None)

    def _series(self, rows: Sequence[tuple[tuple[object, ...], float, float]]) -> list[Series]:
        """The points of rows: a series for each name that occurs several times, if these are few."""
        for column in self._texts:
            names = dict.fromkeys(row[column] for row, _, _ in rows)
            if 1 < len(names) <= SERIES and len(rows) >= 2 * len(names):
                label = next((other for other in self._texts if other != column), None)
                grouped: dict[object, list[Point]] = {name: [] for name in names}
                for row, x, y in rows:
                    grouped[row[column]].append(self._point(row, x, y, label))
                return [Series(self._shown(name), tuple(found)) for name, found in grouped.items()]
        label = self._texts[0] if self._texts else None
        return [Series("", tuple(self._point(row, x, y, label) for row, x, y in rows))]

    def _point(self, row: tuple[object, ...], x: float, y: float, label: int | None) -> Point:
        return Point(x, y, "" if label is None else self._shown(row[label]))

    def _shown(self, term: object) -> str:
        return "" if term is None else self._called(term)

    def _is_of(self, column: int, read: Callable[[object], object]) -> bool:
        values = [row[column] for row in self._rows if row[column] is not None]
        return bool(values) and all(read(value) is not None for value in values)

    def _named(self, name: re.Pattern[str]) -> int | None:
        return next((column for column in self._numbers if name.fullmatch(self._names[column])), None)


def _pair(x: float | None, y: float | None) -> tuple[float, float] | None:
    return None if x is None or y is None else (x, y)
