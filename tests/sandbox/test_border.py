"""Values that cross the border: JSON values are unchanged, other values have a defined meaning or are errors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortex_sandbox import Limits, Sandbox, SandboxError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
KEYS = TEXT.filter(lambda key: "__proto__" not in key)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-(2.0**53), 2.0**53)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(host={"echo": lambda value: value}) as box:
        box.load_module(
            "export default { same: (x) => x, viaHost: (x) => echo(x), later: async (x) => x,"
            " literal: (s) => JSON.parse(s), size: (s) => s.length, codes: (s) => [...s].map((c) => c.codePointAt(0)) }"
        )
        yield box


@given(VALUES)
@settings(
    max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None
)
def test_any_json_value_is_unchanged_through_a_call_and_a_host_call(box: Sandbox, value: Any) -> None:
    assert box.call("same", value) == value
    assert box.call("viaHost", value) == value
    assert box.call("later", value) == value


@given(st.text(max_size=40))
@settings(
    max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None
)
def test_any_string_is_the_same_string_in_the_guest(box: Sandbox, text: str) -> None:
    if not any(0xD800 <= ord(c) < 0xE000 for c in text):
        assert box.call("codes", text) == [ord(c) for c in text]


def test_a_lone_surrogate_becomes_the_replacement_character(box: Sandbox) -> None:
    assert box.call("size", "\ud800") == 1
    assert box.evaluate("'\\ud800x\\udc00'") == "\ufffdx\ufffd"
    assert box.evaluate("'\\ud83d\\ude00'") == "\U0001f600"


def test_an_integer_is_a_double_in_the_guest(box: Sandbox) -> None:
    assert box.call("same", 2**53 + 1) == 2**53
    assert box.call("same", 10**30) == 1e30
    assert float(box.call("same", 3.683289730338223e16)) == 3.683289730338223e16
    assert box.call("same", 1.7976931348623157e308) == 1.7976931348623157e308
    assert isinstance(box.call("same", 5), int)
    assert box.call("same", 5.0) == 5


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("NaN", None),
        ("-Infinity", None),
        ("-0", 0),
        ("undefined", None),
        ("null", None),
        ("Symbol('s')", None),
        ("() => 1", None),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("new Map([[1, 2]])", {}),
        ("new Set([1])", {}),
        ("/x/", {}),
        ("new Uint8Array([1, 2])", {"0": 1, "1": 2}),
        ("[undefined, () => 1, Symbol('s'), NaN]", [None, None, None, None]),
        ("({ a: undefined, b: () => 1, c: 1 })", {"c": 1}),
        ("Object('text')", "text"),
        ("({ toJSON: () => 'mine' })", "mine"),
        ("({ toJSON: () => undefined })", None),
        ("new Error('e')", {}),
        ("Object.create({ inherited: 1 })", {}),
        ("[,1]", [None, 1]),
        ("new Proxy([1, 2], {})", [1, 2]),
        ("1e400", None),
        ("5e-324", 5e-324),
    ],
)
def test_values_beyond_json_are_converted_as_json_stringify_does(box: Sandbox, source: str, value: Any) -> None:
    assert box.evaluate(f"({source})") == value


@pytest.mark.parametrize("source", ["10n", "({ a: [1n] })", "(() => { const o = {}; o.o = o; return o; })()"])
def test_a_value_that_json_stringify_refuses_is_an_error_of_the_guest(box: Sandbox, source: str) -> None:
    with pytest.raises(SandboxError) as caught:
        box.evaluate(source)
    assert caught.value.name == "TypeError"
    assert box.alive


@pytest.mark.parametrize("value", [object(), date(2020, 1, 1), b"bytes", {1, 2}, 1j, ...])
def test_an_argument_that_is_not_a_json_value_is_refused(box: Sandbox, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        box.call("same", value)
    assert box.call("same", 1) == 1


def test_an_argument_that_contains_itself_is_refused(box: Sandbox) -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the encoder's
        box.call("same", cyclic)


def test_a_value_nested_too_deeply_is_refused_in_both_directions(box: Sandbox) -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested"):
        box.call("same", deep)
    with pytest.raises(SandboxError):
        box.evaluate("(() => { let o = 1; for (let i = 0; i < 3000; i++) o = [o]; return o; })()")
    assert box.alive


def test_a_hundred_levels_of_nesting_are_allowed(box: Sandbox) -> None:
    deep: Any = 1
    for _ in range(100):
        deep = {"a": [deep]}
    assert box.call("viaHost", deep) == deep


@pytest.mark.parametrize("text", ['{"__proto__": 1}', '{"a": [{"__proto__": {"x": 1}}]}', '[{"__proto__": null}]'])
def test_a_key_named_proto_in_a_result_is_refused(box: Sandbox, text: str) -> None:
    with pytest.raises(SandboxError, match="__proto__"):
        box.call("literal", text)


def test_the_word_proto_in_a_string_is_allowed(box: Sandbox) -> None:
    for text in ("__proto__", '"__proto__":', '{"__proto__":1}'):
        assert box.call("viaHost", text) == text
        assert box.call("same", [text]) == [text]


def test_a_result_over_the_transfer_limit_is_refused() -> None:
    with Sandbox(Limits(transfer_bytes=10_000)) as box:
        assert box.evaluate("'x'.repeat(9_998)") == "x" * 9_998
        with pytest.raises(SandboxError, match="limit of 10000"):
            box.evaluate("'x'.repeat(9_999)")
        with pytest.raises(SandboxError, match="limit of 10000"):
            box.evaluate("'é'.repeat(5_000)")
        assert box.evaluate("1") == 1


def test_arguments_of_a_host_function_over_the_transfer_limit_are_refused() -> None:
    with Sandbox(Limits(transfer_bytes=10_000), host={"size": len}) as box:
        assert box.evaluate("size('x'.repeat(9_000))") == 9_000
        assert box.evaluate("try { size('x'.repeat(10_000)) } catch (e) { e.name }") == "RangeError"


def test_a_small_text_with_too_many_objects_is_refused() -> None:
    with Sandbox(Limits(memory_bytes=64 << 20)) as box:
        with pytest.raises(SandboxError, match="too many objects"):
            box.evaluate("new Array(200_000).fill({})")
        assert len(box.evaluate("new Array(40_000).fill({ subject: 'a' })")) == 40_000


def test_an_argument_that_does_not_fit_is_a_memory_error() -> None:
    with Sandbox(Limits(memory_bytes=1 << 20)) as box:
        box.load_module("export default { size: (s) => s.length }")
        assert box.call("size", "x" * 100_000) == 100_000
        with pytest.raises(SandboxError):
            box.call("size", "x" * 50_000_000)
