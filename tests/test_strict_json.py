"""Strict JSON: every reader gets the same document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.safe_io.strict_json import read_json

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(_VALUES)
def test_json_is_parsed_to_the_value_that_was_written(value: Any) -> None:
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value).encode()) == value


NO_JSON = [b"", b"{", b'{"a": 1, "a": 1}', b'{"a": {"b": 1, "\\u0062": 2}}', b"NaN", b"[Infinity]", b"-Infinity"]
NO_JSON += [b"\xff", b"\xef\xbb\xbf{}", b"[" * 200_000, b"{} {}", b"'a'", b"01", b"1" * 5000, b"1e400", b"[-1e999]"]


@pytest.mark.parametrize("text", NO_JSON, ids=lambda text: repr(text[:20]))
def test_invalid_json_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own message
        read_json(text)


def test_a_caller_limits_size_depth_and_floats() -> None:
    assert read_json('{"a": [1]}', max_size=10, max_depth=2, floats=False) == {"a": [1]}
    for text, limit in (('{"a": [1]}', {"max_size": 9}), ('{"a": [1]}', {"max_depth": 1}), ("1.5", {"floats": False})):
        with pytest.raises(ValueError, match=r"longer|nested|whole number"):
            read_json(text, **limit)


def test_a_caller_allows_repeated_keys() -> None:
    assert read_json('{"a": 1, "a": 2}', repeated_keys=True) == {"a": 2}
