"""Errors of guests: typed, with a name, a message, and frames in the author's source files."""

from __future__ import annotations

import pytest

from cortex_sandbox import (
    Frame,
    Limits,
    Module,
    Sandbox,
    SandboxError,
    SandboxMemoryError,
    SandboxTimeout,
    TranspileError,
    bundle,
)
from cortex_sandbox.quickjs.stack_traces import error_from, frames_of

FILES = {
    "skill.ts": """import { check } from './lib/check.ts';
import type { Row } from './types.ts';

interface Unused { a: string }

export default {
  onQuery(rows: Row[]): number {
    return check(rows);
  },
  async later(rows: Row[]): Promise<number> {
    await null;
    return check(rows);
  },
};
""",
    "lib/check.ts": """import { deep } from './deep.js';

export function check(rows: { value: number }[]): number {
  const first = rows[0] as { value: number };
  return deep(first);
}
""",
    "lib/deep.ts": """type Value = { value: number };

export const deep = (row: Value): number => {
  if (row === null) return 0;
  const text: string = 'ünïcödé 😀'; return (row as any).absent.value + text;
};
""",
    "types.ts": "export interface Row { value: number }\n",
}


@pytest.fixture(scope="module")
def module() -> Module:
    return bundle(FILES)


@pytest.mark.parametrize("hook", ["onQuery", "later"])
def test_frames_refer_to_the_source_files_of_a_bundle(module: Module, hook: str) -> None:
    with Sandbox() as box:
        box.load_module(module)
        with pytest.raises(SandboxError) as caught:
            box.call(hook, [{"value": 1}])
    error = caught.value
    assert (error.name, error.code) == ("TypeError", "skill_error")
    assert "value" in error.message
    places = [(frame.function, frame.file, frame.line) for frame in error.frames]
    assert places[:3] == [
        ("deep", "lib/deep.ts", 5),
        ("check", "lib/check.ts", 5),
        (hook, "skill.ts", 8 if hook == "onQuery" else 12),
    ]
    line = FILES["lib/deep.ts"].splitlines()[4]
    shown = len(line[: line.index("(row as any)")].encode("utf-16-le")) // 2
    assert error.line == 5
    assert shown < (error.column or 0) <= len(line)
    assert error.stack.startswith("    at deep (lib/deep.ts:5:")


def test_an_error_has_details_as_json_values(module: Module) -> None:
    with Sandbox() as box:
        box.load_module(module)
        with pytest.raises(SandboxError) as caught:
            box.call("onQuery", [{"value": 1}])
    details = caught.value.details
    assert details["name"] == "TypeError"
    assert details["frames"][0] == {
        "function": "deep",
        "file": "lib/deep.ts",
        "line": caught.value.line,
        "column": caught.value.column,
    }


def test_no_frame_of_the_bootstrap_is_shown() -> None:
    with Sandbox(host={"f": lambda a: a}) as box:
        box.load_module("export default { g() { return f({ toJSON() { throw new Error('x'); } }); } }")
        with pytest.raises(SandboxError) as caught:
            box.call("g")
    assert caught.value.frames
    assert {frame.file for frame in caught.value.frames} == {"skill.js"}


def test_a_syntax_error_of_a_script_has_its_place() -> None:
    with Sandbox() as box:
        with pytest.raises(SandboxError) as caught:
            box.evaluate("let a = 1;\nlet b = ;\n", "mine.js")
        assert (caught.value.name, caught.value.file, caught.value.line) == ("SyntaxError", "mine.js", 2)
        assert box.evaluate("1") == 1


def test_a_syntax_error_of_typescript_has_its_file_and_place() -> None:
    with pytest.raises(TranspileError) as caught:
        bundle({"skill.ts": "import './b.ts'; export default 1", "b.ts": "const ok = 1;\n\nconst é = = 2;\n"})
    assert caught.value.code == "transpile_error"
    assert (caught.value.file, caught.value.line, caught.value.column) == ("b.ts", 3, 11)
    assert "Unexpected" in caught.value.message


def test_every_syntax_error_has_a_frame() -> None:
    with pytest.raises(TranspileError) as caught:
        bundle({"skill.ts": "import './b.ts'\nimport './c.ts'", "b.ts": "a b", "c.ts": "\nc d"})
    assert {(frame.file, frame.line) for frame in caught.value.frames} == {("b.ts", 1), ("c.ts", 2)}


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("throw 'text'", "Thrown", "text"),
        ("throw 42", "Thrown", "42"),
        ("throw undefined", "Thrown", "undefined"),
        ("throw { a: 1 }", "Thrown", '{"a":1}'),
        ("throw Symbol('s')", "Thrown", "Symbol(s)"),
        ("throw 10n", "Thrown", "10"),
        ("throw () => 1", "Thrown", "an object"),
        ("throw new RangeError('r')", "RangeError", "r"),
        ("throw new (class Mine extends Error { name = 'Mine' })('m')", "Mine", "m"),
        ("throw Object.assign(new Error(), { message: 5 })", "Error", "5"),
        ("throw Object.assign(new Error('x'), { name: '' })", "Error", "x"),
        ("Promise.reject(new TypeError('later'))", "TypeError", "later"),
        ("Promise.reject('plain')", "Thrown", "plain"),
        ("(async () => { throw new EvalError('inside') })()", "EvalError", "inside"),
        (
            "new Promise(() => {})",
            "NeverSettled",
            "the promise never settles: no job is left to run",
        ),
        ("Promise.any([])", "AggregateError", ""),
    ],
)
def test_any_thrown_value_becomes_an_error_with_a_name_and_a_message(source: str, name: str, message: str) -> None:
    with Sandbox() as box:
        with pytest.raises(SandboxError) as caught:
            box.evaluate(source)
        assert caught.value.name == name
        assert caught.value.message == message
        assert str(caught.value) == f"{name}: {message}"
        assert box.evaluate("1") == 1


def test_long_messages_names_and_stacks_are_truncated() -> None:
    with Sandbox() as box:
        with pytest.raises(SandboxError) as caught:
            box.evaluate("const e = new Error('m'.repeat(1e5)); e.name = 'n'.repeat(1e4); throw e")
        assert len(caught.value.message) == 4096
        assert len(caught.value.name) == 100
        with pytest.raises(SandboxError) as caught:
            box.evaluate(
                "const f = (n) => { if (n) f(n - 1); else throw new Error('x'); }; Error.stackTraceLimit = 500; f(400)"
            )
        assert len(caught.value.frames) <= 50


def test_a_stack_overflow_has_frames() -> None:
    with Sandbox() as box:
        with pytest.raises(SandboxError) as caught:
            box.evaluate("function again() { return again() + 1 }\nagain()")
        assert caught.value.name == "RangeError"
        assert caught.value.frames[0].function == "again"
        assert box.evaluate("1") == 1


@pytest.mark.parametrize(
    ("described", "error"),
    [
        (b"", ("Error", "")),
        (b"{}", ("Error", "")),
        (b"[1]", ("Error", "")),
        (b"undefined", ("Error", "")),
        (b'{"name": 5, "message": ["x"], "stack": {}}', ("Error", "")),
        (b'{"name": "N", "message": "m", "stack": "no frames here"}', ("N", "m")),
        (b"[" * 100_000, ("Error", "")),
        (b"\xff\xfe", ("Error", "")),
    ],
)
def test_a_malformed_description_of_an_error_is_still_an_error(described: bytes, error: tuple[str, str]) -> None:
    reported = error_from(described, {})
    assert (reported.name, reported.message) == error
    assert reported.frames == ()
    assert reported.file is None
    assert reported.line is None
    assert reported.column is None


def test_out_of_memory_is_a_memory_error() -> None:
    reported = error_from(b'{"name": "InternalError", "message": "out of memory", "stack": ""}', {})
    assert isinstance(reported, SandboxMemoryError)


def test_lines_that_are_not_frames_are_left_out() -> None:
    stack = "\n".join(
        [
            "    at good (a.js:1:2)",
            "    at bare.js:3:4",
            "    at native (native)",
            "    at inner (cortex:bootstrap:5:6)",
            "at nothing (a.js:1:2)",
            "    at far (a.js:99999999999:1)",
            "    at " + "x" * 1000 + " (a.js:7:8)",
            "    at <anonymous> (b.js:9:10)",
        ]
    )
    assert frames_of(stack, {}) == (
        Frame("good", "a.js", 1, 2),
        Frame("", "bare.js", 3, 4),
        Frame("<anonymous>", "b.js", 9, 10),
    )


def test_a_hostile_stack_is_parsed_fast() -> None:
    assert frames_of("    at " + "(" * 8000 + "\n" + "    at a (" + "b:" * 5000, {}) == ()


def test_errors_have_stable_codes_by_class() -> None:
    assert issubclass(SandboxTimeout, SandboxError)
    assert issubclass(SandboxMemoryError, SandboxError)
    assert issubclass(TranspileError, SandboxError)
    assert len({e.code for e in (SandboxError, SandboxTimeout, SandboxMemoryError, TranspileError)}) == 4


STOPPED = {
    "a loop": ("export default { f() {\n  let n = 0;\n  for (;;) {\n    n++;\n  }\n} };", 4),
    "a loop that catches": ("export default { f() {\n  for (;;) {\n    try { for (;;); } catch {}\n  }\n} };", 3),
    "a loop after a promise": ("export default { async f() {\n  await null;\n  while (true) {}\n} };", 3),
    "a helper": ("export default { f() { spin(); } };\nfunction spin() {\n  do {} while (true);\n}", 3),
    "a regular expression": ("export default { f() {\n  return /(a+)+$/.test('a'.repeat(40) + 'b');\n} };", 2),
    "stack traces turned off": ("Error.stackTraceLimit = 0; export default { f() {\n  for (;;);\n} };", None),
    "a native function": ("export default { f() {\n  const n = 3n ** 300000n;\n  return [n ** 1000n];\n} };", None),
}


@pytest.mark.parametrize(("source", "line"), STOPPED.values(), ids=STOPPED)
def test_a_guest_that_is_stopped_names_its_limit_and_its_line(source: str, line: int | None) -> None:
    with Sandbox(Limits(timeout_s=0.1)) as box:
        box.load_module(source, "skill.js", timeout_s=10)
        with pytest.raises(SandboxTimeout) as stopped:
            box.call("f")
        assert stopped.value.message == "stopped: the time limit of 0.1 s was reached"
        assert (stopped.value.line, box.alive) == (line, False)
