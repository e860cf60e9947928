"""Source maps: encoded places are decoded, and a malformed map has no places."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_sandbox.esbuild.sourcemap import SourceMap

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
PLACES = st.lists(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 2), st.integers(0, 5000), st.integers(0, 500)), max_size=6),
    max_size=8,
)


def vlq(number: int) -> str:
    rest = -number << 1 | 1 if number < 0 else number << 1
    out = ""
    while True:
        rest, digit = rest >> 5, rest & 31
        out += DIGITS[digit | 32 if rest else digit]
        if not rest:
            return out


def encode(lines: list[list[tuple[int, int, int, int]]]) -> str:
    source = line = column = 0
    texts = []
    for places in lines:
        at = 0
        fields = []
        for generated, to_source, to_line, to_column in places:
            numbers = (generated - at, to_source - source, to_line - line, to_column - column)
            fields.append("".join(map(vlq, numbers)))
            at, source, line, column = generated, to_source, to_line, to_column
        texts.append(",".join(fields))
    return ";".join(texts)


def made(mappings: Any, sources: Any = ("a.ts", "b.ts", "c.ts")) -> SourceMap:
    return SourceMap(json.dumps({"version": 3, "sources": list(sources), "mappings": mappings}))


@given(PLACES)
def test_every_place_that_was_encoded_is_found(lines: list[list[tuple[int, int, int, int]]]) -> None:
    unique = [sorted({place[0]: place for place in places}.values()) for places in lines]
    found = made(encode(unique))
    for number, places in enumerate(unique, 1):
        for index, (generated, source, line, column) in enumerate(places):
            expected = (("a.ts", "b.ts", "c.ts")[source], line + 1, column + 1)
            assert found.original(number, generated + 1) == expected
            before_next = places[index + 1][0] if index + 1 < len(places) else generated + 50
            assert found.original(number, before_next) == expected if before_next > generated else True
        if places and places[0][0] > 0:
            assert found.original(number, places[0][0]) is None
    assert found.original(len(unique) + 1, 1) is None


@given(st.text(max_size=60), st.integers(-2, 5), st.integers(-2, 40))
def test_a_map_of_any_text_raises_no_error(text: str, line: int, column: int) -> None:
    assert SourceMap(text).original(line, column) is None
    made(text).original(line, column)


@given(st.text(DIGITS + ",;", max_size=80), st.integers(0, 5), st.integers(0, 200))
def test_mappings_of_any_digits_raise_no_error_and_stay_in_the_sources(text: str, line: int, column: int) -> None:
    reported = made(text).original(line, column)
    assert reported is None or (reported[0] in ("a.ts", "b.ts", "c.ts") and reported[1] >= 1 and reported[2] >= 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "5",
        "[]",
        "{}",
        '{"mappings": 5}',
        '{"mappings": "AAAA"}',
        '{"mappings": "AAAA", "sources": 5}',
        "[" * 100_000,
    ],
)
def test_an_incomplete_map_has_no_places(text: str) -> None:
    assert SourceMap(text).original(1, 1) is None


def test_there_is_no_place_before_the_first_line_or_column() -> None:
    assert made("DAAA").original(1, 1) == ("a.ts", 1, 1)
    assert made("AADA").original(1, 1) is None
    assert made("AAAD").original(1, 1) is None


def test_segments_without_a_source_are_ignored() -> None:
    assert made("AAAA,C,CACC").original(1, 2) == ("a.ts", 1, 1)


def test_a_source_has_its_file_name_instead_of_its_url() -> None:
    assert made("AAAA", ["my%20skill%27s.ts"]).original(1, 1) == ("my skill's.ts", 1, 1)
