"""JSON.parse in a guest has the same results as the engine's parser, for texts of every kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox import Limits, Sandbox, SandboxError

# With a reviver, the engine's parser is used.
BOTH = """export default { both(texts) {
  const reported = (read, text) => {
    try {
      return show(read(text));
    } catch (error) {
      return error.name + ': ' + error.message;
    }
  };
  const show = (value) => {
    if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
    if (typeof value === 'string') return 's' + Array.from({ length: value.length }, (_, i) => value.charCodeAt(i));
    if (Array.isArray(value)) return '[' + value.map(show) + ']' + Object.keys(value);
    if (value === null || typeof value !== 'object') return String(value);
    return '{' + Reflect.ownKeys(value).map((key) => show(key) + ':' + show(value[key])) + '}';
  };
  return texts.map((text) => [reported((t) => JSON.parse(t), text), reported((t) => JSON.parse(t, (_, value) => value),
text)]); } };"""

names = st.sampled_from(
    ["a", "b", "subject", "é", "0", "12", "", 'q"', "\\", "__proto__", "\ud800", "longer than eight"]
)
texts = st.sampled_from(
    ["", "a", "mayros:customer:1", "mayros:customer:2", "Tür", "日本", 'q"', "\n", "\x7f", "\udc00x"]
)
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)


def alike(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Lists of objects with mostly the same names."""
    return st.lists(names, max_size=4, unique=True).flatmap(
        lambda keys: st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(keys, values)), max_size=5)
    )


values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4) | alike(inner)
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """JSON in several formats, sometimes with a character too many or too few."""
    text: str = json.dumps(
        draw(values), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 1, "\t"]))
    )
    if draw(st.booleans()):
        return text
    at = draw(st.integers(0, len(text)))
    letter = draw(st.sampled_from(["", *',:[]{}"\\ \t\r\0\v01-e.tfné']))
    return f"{text[:at]}{letter}{text[at + draw(st.integers(0, 1)) :]}"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(Limits(timeout_s=30)) as box:
        box.load_module(BOTH)
        yield box


@settings(deadline=None, max_examples=100)
@given(texts=st.lists(written(), min_size=1, max_size=20))
def test_any_text_is_parsed_like_the_engines_parser_does(box: Sandbox, texts: list[str]) -> None:
    for ours, theirs in box.call("both", texts):
        assert ours == theirs


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "[", "{", "[]", "{}", " [ ] ", "[,]", "[1,]", '{"a":1,}', '{"a"}', "{a:1}", "tru", "truex",
        "nul", "[1 2]", "-", "--1", "+1", "01", "-0", "0", "[0,-0,00]", "1x", '"\t"', '"\\x"', '"\\ud800"',
        '"a', "'a'", "[1]]", "\ufeff[]", "[1]\0", '[{"a":1},{"a":2,"a":3}]', '[{"a":1,"b":2},{"a":1}]',
        '[{"a":1,"b":2},{"b":1,"a":2}]', '[{"a":1},{}]', '[{"0":1},{"0":2}]', '[{"a":1},{"\\u0061":2}]',
        '[{"a\\"b":1},{"a\\"b":2}]', '[{"a":{"b":1}},{"a":{"c":1}},{"a":3}]', '[[1],[2,3],[]]', '["a","a","b"]',
        '[{"toString":1},{"toString":2}]', '[{"a":1},["a"],{"a":2}]', '[{"a":1},{"a" : 2 , "b":3}]',
        '[{"a":1},{"a"x2}]', "[1e5,1.5,1E+2]", "999999999", "9999999999", "-999999999", "123456789.5",
    ],
)  # fmt: skip
def test_an_edge_case_is_parsed_like_the_engines_parser_does(box: Sandbox, text: str) -> None:
    ((ours, theirs),) = box.call("both", [text])
    assert ours == theirs


def test_objects_of_the_same_shape_are_independent(box: Sandbox) -> None:
    changed = box.evaluate(
        """const rows = JSON.parse('[{"a":1,"b":{"c":"x"}},{"a":2,"b":{"c":"x"}},{"a":3,"b":{"c":"x"}}]');
        rows[0].d = 4; delete rows[1].a; rows[1].b.c = 'y'; Object.defineProperty(rows[2], 'a', { get: () => 'got' });
        rows.map((row) => [Object.keys(row), row.a ?? null, row.b.c])"""
    )
    assert changed == [[["a", "b", "d"], 1, "x"], [["b"], None, "y"], [["a", "b"], "got", "x"]]


@pytest.mark.parametrize("nested", ["'['.repeat(n) + ']'.repeat(n)", """'{"a":'.repeat(n) + '1' + '}'.repeat(n)"""])
@pytest.mark.parametrize("stack_bytes", [64 << 10, 256 << 10, 512 << 10])
def test_text_nested_too_deeply_is_a_catchable_error(nested: str, stack_bytes: int) -> None:
    with Sandbox(Limits(stack_bytes=stack_bytes)) as box:
        source = (
            f"(() => {{ const n = 100000; try {{ JSON.parse({nested}) }} catch (error) {{ return error.name }} }})()"
        )
        assert box.evaluate(source) == "RangeError"
        assert box.evaluate(f"{{ const n = 100; JSON.stringify(JSON.parse({nested})).length }}") > 100


def test_text_that_does_not_fit_is_a_memory_error() -> None:
    with Sandbox(Limits(memory_bytes=1 << 20)) as box:
        source = "const t = '[' + '[1,2],'.repeat(9000) + '3]'; const all = []; for (;;) all.push(JSON.parse(t))"
        with pytest.raises(SandboxError) as caught:
            box.evaluate(source)
        assert caught.value.message == "out of memory"


def test_a_list_of_different_objects_is_parsed_in_linear_time(box: Sandbox) -> None:
    # Every object starts like the previous one and ends differently; the first has a thousand names.
    counted = box.evaluate(
        """{ const wide = '{' + Array.from({ length: 1000 }, (_, i) => `"k${i}":${i}`) + '}';
        const rows = JSON.parse('[' + wide + ',{"k0":1}'.repeat(20000) + ',' + wide + ']');
        [rows.length, Object.keys(rows[20001]).length, rows[20000].k0] }"""
    )
    assert counted == [20002, 1000, 1]
