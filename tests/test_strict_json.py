"""JSON is read so that no two readers see two documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.strict_json import read_json

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(_VALUES)
def test_what_is_json_is_read_as_it_was_written(value: Any) -> None:
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value).encode()) == value


NO_JSON = [b"", b"{", b'{"a": 1, "a": 1}', b'{"a": {"b": 1, "\\u0062": 2}}', b"NaN", b"[Infinity]", b"-Infinity"]
NO_JSON += [b"\xff", b"\xef\xbb\xbf{}", b"[" * 200_000, b"{} {}", b"'a'", b"01", b"1" * 5000]


@pytest.mark.parametrize("text", NO_JSON, ids=lambda text: repr(text[:20]))
def test_what_is_not_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
        read_json(text)
