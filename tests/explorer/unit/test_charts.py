"""Charts of drawn numbers, and which chart the rows of an answer are."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from cortex_skills.doors.explorer.pictures.charts import Axis, Point, Series, bars, histogram, places, points
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.features.explorer.answer_charts import AnswerChart, chart_of, number_of, place_of, seconds_of
from cortex_skills.features.explorer.query_answers import Solutions

XSD = "http://www.w3.org/2001/XMLSchema#"
WKT = NamedNode("http://www.opengis.net/ont/geosparql#wktLiteral")
numbers = st.floats() | st.integers(-10, 10).map(float)
dots = st.builds(Point, numbers, numbers, st.text(st.characters(categories=["L", "Nd"]), max_size=50))
series = st.lists(st.builds(Series, st.sampled_from(["a", "b"]), st.lists(dots, max_size=20).map(tuple)), max_size=9)


def literal(text: str, kind: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + kind))


def parts(picture: Svg | None, tag: str) -> list[ET.Element]:
    """The elements of a picture with a name."""
    assert picture is not None
    return list(ET.fromstring(picture.__html__()).iter(tag))


def texts(picture: Svg | None) -> list[str]:
    """The texts of a picture, without the titles of its parts."""
    return ["".join(each.itertext()) for each in parts(picture, "text")]


@settings(max_examples=90, deadline=None)
@given(series, st.booleans(), st.booleans())
def test_charts_of_any_numbers_are_well_formed_and_have_finite_places(
    of: list[Series], is_time: bool, joined: bool
) -> None:
    values = [point.x for each in of for point in each.points]
    rows = [(each.name, [point.y for point in each.points][:3]) for each in of]
    drawn = (
        points(of, Axis("x", is_time), Axis("y"), "s", joined=joined),
        histogram(values, "x"),
        bars(rows, ["one", "two", "three"], "s"),
        places(of, "s"),
    )
    for picture in drawn:
        if picture is not None:
            for element in ET.fromstring(picture.__html__()).iter():
                for name, value in element.attrib.items():
                    if name not in ("class", "aria-label"):
                        assert "nan" not in value, (name, value)
                        assert "inf" not in value, (name, value)


def test_ticks_are_round_numbers_or_round_moments_and_a_histogram_has_round_borders() -> None:
    line = points([Series("", (Point(3, 10), Point(47, 1_210)))], Axis("x"), Axis("y"), "s")
    assert [text for text in texts(line) if text[0].isdigit()] == [
        "200",
        "400",
        "600",
        "800",
        "1,000",
        "1,200",
        "10",
        "20",
        "30",
        "40",
    ]
    year = 365 * 86_400.0
    moments = points([Series("", (Point(0, 1), Point(10 * year, 2)))], Axis("t", is_time=True), Axis("y"), "s")
    assert [text for text in texts(moments) if len(text) == 4] == ["1970", "1972", "1974", "1976", "1978"]
    shown = histogram([1, 2, 2, 10], "size")
    assert shown is not None
    assert shown.summary == "4 values of size from 1 to 10, half of them below 2"
    assert histogram([3, 3], "x") is None
    assert histogram([math.nan, math.inf], "x") is None


def test_bars_of_two_measures_have_their_names_and_negative_ones_begin_at_zero() -> None:
    drawn = bars([("Ada", [3, -1]), ("Bob", [None, 2])], ["in", "out"], "s")
    assert texts(drawn) == ["in", "out", "Ada", "3", "-1", "Bob", "2"]
    shown = parts(drawn, "rect")
    zero = float(shown[0].attrib["x"])
    ends = [float(each.attrib["x"]) + float(each.attrib["width"]) for each in shown]
    assert ends[1] == pytest.approx(zero, abs=0.2)
    assert float(shown[2].attrib["x"]) == zero


def test_places_are_where_they_are_on_the_earth_and_no_name_is_over_another() -> None:
    here = (Point(0, 0, "Null Island"), Point(-180, 90, "Pole"), Point(0.1, 0.1, "Beside it"))
    drawn = places([Series("", here)], "s")
    assert texts(drawn) == ["Null Island", "Pole"]
    marks = [(e.attrib["cx"], e.attrib["cy"]) for e in parts(drawn, "circle")]
    assert marks[:2] == [("450", "225"), ("0", "0")]
    assert places([Series("", (Point(0, 91),))], "s") is None


def answer(names: str, *rows: tuple[Any, ...]) -> Solutions:
    return Solutions(tuple(names.split()), rows, has_more=False)


def chart(found: Solutions, wanted: str | None = None) -> AnswerChart | None:
    return chart_of(found, lambda term: str(term.value), wanted)  # type: ignore[attr-defined]


NAMES = [NamedNode(f"urn:x:{name}") for name in "abcdef"]
INTS = [literal(str(number), "integer") for number in range(6)]
DAYS = [literal(f"2026-0{day}-01", "date") for day in range(1, 7)]
AT = [Literal(f"POINT({x} {x / 2})", datatype=WKT) for x in range(6)]


@pytest.mark.parametrize(
    ("found", "kinds", "words"),
    [
        (answer("s n", *zip(NAMES, INTS, strict=True)), ("bars", "histogram"), "n by s, 6 rows"),
        (answer("n m", *zip(INTS, INTS[::-1], strict=True)), ("points", "histogram"), "m by n, 6 rows"),
        (answer("n", *((n,) for n in INTS)), ("histogram",), "how 6 values of n are distributed"),
        (answer("t n", *zip(DAYS, INTS, strict=True)), ("lines", "histogram"), "n over t, 6 rows"),
        (answer("s at", *zip(NAMES, AT, strict=True)), ("places",), "6 places"),
        (answer("lat long", *zip(INTS, INTS, strict=True)), ("places", "points", "histogram"), "6 places"),
        (
            answer("s n m", *zip(NAMES, INTS, INTS, strict=True)),
            ("bars", "points", "histogram"),
            "n and m by s, 6 rows",
        ),
    ],
    ids=["bars", "points", "histogram", "lines", "places", "latitude and longitude", "two measures"],
)
def test_the_columns_of_an_answer_decide_its_charts(found: Solutions, kinds: tuple[str, ...], words: str) -> None:
    drawn = chart(found)
    assert drawn is not None
    assert (drawn.kinds, drawn.words) == (kinds, words)
    assert drawn.picture is not None
    for kind in kinds:
        other = chart(found, kind)
        assert other is not None
        assert other.kind == kind


def test_a_column_of_few_names_makes_several_series() -> None:
    who = [Literal(name) for name in ("Ida", "Tove") * 3]
    drawn = chart(answer("who t n", *zip(who, DAYS, INTS, strict=True)))
    assert drawn is not None
    assert texts(drawn.picture)[-2:] == ["Ida", "Tove"]
    lines = [each for each in parts(drawn.picture, "path") if each.get("class") == "line"]
    assert len(lines) == 2


def test_an_answer_without_numbers_has_no_chart() -> None:
    assert chart(answer("s o", *zip(NAMES, NAMES, strict=True))) is None
    assert chart(answer("s")) is None


def test_literals_are_read_as_what_they_are_and_as_nothing_else() -> None:
    assert place_of(Literal("POINT(11.4 47.3)", datatype=WKT)) == (11.4, 47.3)
    crs = "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> Point (-1.5e-1 2)"
    assert place_of(Literal(crs, datatype=WKT)) == (-0.15, 2.0)
    # EPSG:4326 has the latitude first: not guessed.
    other = "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(1 2)"
    for text in (other, "POLYGON((0 0))", "POINT(1)", "POINT(. .)", "POINT(" + "1" * 600):
        assert place_of(Literal(text, datatype=WKT)) is None, text
    assert number_of(literal("1e400", "double")) is None
    assert number_of(literal("NaN", "double")) is None
    assert number_of(literal("9" * 65, "integer")) is None
    assert seconds_of(literal("1970-01-02", "date")) == 86_400.0
    assert seconds_of(literal("1970-01-01T01:00:00+01:00", "dateTime")) == 0.0
    assert seconds_of(literal("yesterday", "dateTime")) is None
    assert seconds_of(literal("2026", "gYear")) == seconds_of(literal("2026-01", "gYearMonth"))
