"""Numbers in JSON and in source are parsed to the nearest double, as in Python."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox import Sandbox

BITS = "((numbers) => numbers.map((n) => Array.from(new Uint8Array(new Float64Array([n]).buffer))))"

written = st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
few_digits = st.from_regex(r"-?(0|[1-9][0-9]{0,9})(\.[0-9]{1,10})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
shortest = st.floats(allow_nan=False, allow_infinity=False).map(repr)


@st.composite
def near_a_tie(draw: st.DrawFn) -> str:
    """The exact number halfway between two doubles, or one that differs from it in a late digit."""
    low = draw(st.floats(min_value=0, max_value=1e300, exclude_max=True))
    with localcontext() as context:
        context.prec = 1200
        middle = (Decimal(low) + Decimal(math.nextafter(low, math.inf))) / 2
        nudge = middle.scaleb(-draw(st.integers(20, 800))) * draw(st.sampled_from([-1, 0, 1]))
        return f"{draw(st.sampled_from(['', '-']))}{middle + nudge:e}"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as box:
        yield box


def read_by(box: Sandbox, source: str) -> list[bytes]:
    return [bytes(raw) for raw in box.evaluate(f"{BITS}({source})")]


@settings(deadline=None, max_examples=300)
@given(texts=st.lists(written | shortest | near_a_tie(), min_size=1, max_size=30))
def test_a_number_in_json_is_parsed_to_the_nearest_double(box: Sandbox, texts: list[str]) -> None:
    expected = [struct.pack("<d", float(text)) for text in texts]
    array = f"[{','.join(texts)}]"
    assert read_by(box, f"JSON.parse({json.dumps(array)})") == expected


# ECMAScript allows an engine to drop digits after the 20th (Number::fromString, RoundMVResult), and this one does.
@settings(deadline=None, max_examples=200)
@given(texts=st.lists(few_digits | shortest, min_size=1, max_size=30))
def test_a_literal_and_a_string_are_parsed_to_the_nearest_double(box: Sandbox, texts: list[str]) -> None:
    expected = [struct.pack("<d", float(text)) for text in texts]
    assert read_by(box, f"[{','.join(texts)}]") == expected
    assert read_by(box, f"{json.dumps(texts)}.map(Number)") == expected


@pytest.mark.parametrize(
    "text",
    [
        "-0", "0.0", "-0.0e5", "123456789012345", "999999999999999", "1234567890123456", "9007199254740993", "0.1",
        "0.000000000000001", "0.0000000000000001", "99999999999999.9", "1.7976931348623157e308",
        "1.7976931348623159e308", "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "2.2250738585072011e-308", "1e22", "1e23", "-1e400",
    ],
)  # fmt: skip
def test_edge_cases_of_the_fast_path_and_of_doubles_are_parsed_correctly(box: Sandbox, text: str) -> None:
    assert read_by(box, f"[JSON.parse({json.dumps(text)})]") == [struct.pack("<d", float(text))]


@pytest.mark.parametrize(
    "text", ["", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x10", "1_000", "Infinity", "NaN", "1n"]
)
def test_text_that_is_not_a_json_number_is_refused(box: Sandbox, text: str) -> None:
    asked = f"try {{ JSON.parse({json.dumps(text)}) }} catch (error) {{ error.name }}"
    assert box.evaluate(asked) == "SyntaxError"
