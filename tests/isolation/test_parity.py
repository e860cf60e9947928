"""`ProcessSandbox` behaves like `Sandbox`."""

from __future__ import annotations

import contextvars
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from cortex_sandbox import Limits, ProcessSandbox, Promised, Sandbox, SandboxError, remaining_s, transpile

Box = Sandbox | ProcessSandbox
KINDS = (Sandbox, ProcessSandbox)
SKILL = """export default {
  name: "skill",
  version: 3,
  echo: (value) => value,
  later: async (value) => { await null; return value; },
  fails() { throw new TypeError("no such thing"); },
  rejects: async () => { throw "a string"; },
  never: () => new Promise(() => {}),
  asks: (value) => ask(value),
  waits: async (value) => await graph.find(value),
  catches: (value) => { try { return ask(value); } catch (e) { return [e.name, e.message, e.code ?? null]; } },
  logs() { console.log("one", { two: 2 }); logger.warn("three"); logger.error("four"); },
  keeps({ results }) { return { results: [results[1], { fresh: true }, results[0]], note: "kept" }; },
  makesFunction: () => () => 1,
  pollutes: () => JSON.parse('{"__proto__": {"x": 1}}'),
  random: () => [Math.random(), Math.random()],
  loops() { for (;;); },
  eats() { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); },
  recurses: function again(n) { return again(n + 1) + 1; },
  regexp: () => /^(a+)+$/.test("a".repeat(40) + "b"),
};
"""
TYPESCRIPT = """interface A { b: number }

export default {
  run(a: A): number {
    throw new Error(`no ${a.b}`);
  },
};
"""


class CodedError(Exception):
    code = "query_limit"


def ask(value: Any) -> Any:
    if value == "coded":
        raise CodedError("that was one too many")
    if value == "broken":
        raise KeyError("a secret of the host's")
    if value == "unspeakable":
        return object()
    return {"asked": value}


HOST = {"ask": ask, "graph.find": Promised(lambda value: [value, value])}
LIMITS = Limits(timeout_s=60)


def outcome(work: Callable[[], Any]) -> Any:
    """The outcome, as data."""
    try:
        return ("value", work())
    except SandboxError as error:
        return (type(error), error.code, error.details)
    except (ValueError, TypeError) as error:
        return (type(error), str(error))


CASES: dict[str, Callable[[Box], Any]] = {
    "nothing": lambda box: box.call("echo"),
    "null": lambda box: box.call("echo", None),
    "numbers": lambda box: box.call("echo", [0, -0.0, 1.5, 1e300, 1e-7, 2**53 - 1, 2**64, -(2**70), 1e21]),
    "not a number": lambda box: box.call("echo", [float("nan"), float("inf")]),
    "text": lambda box: box.call("echo", 'grün \U0001f600 \0 \u2028 " \\ \n'),
    "a lone surrogate": lambda box: box.call("echo", "\ud800 and \udfff"),
    "nested": lambda box: box.call("echo", {"a": [{"b": {"c": [[], {}]}}]}),
    "deep": lambda box: box.call("echo", json.loads("[" * 300 + "]" * 300)),
    "a forbidden key in": lambda box: box.call("echo", {"__proto__": {"x": 1}}),
    "a forbidden key out": lambda box: box.call("pollutes"),
    "not JSON": lambda box: box.call("echo", object()),
    "bytes": lambda box: box.call("echo", b"raw"),
    "a promise": lambda box: box.call("later", {"x": 1}),
    "an exception": lambda box: box.call("fails"),
    "a thrown string": lambda box: box.call("rejects"),
    "a promise that never settles": lambda box: box.call("never"),
    "no such function": lambda box: box.call("absent"),
    "a function as result": lambda box: box.call("makesFunction"),
    "a host function": lambda box: box.call("asks", {"x": [1, 2]}),
    "a promised host function": lambda box: box.call("waits", "it"),
    "a coded host error": lambda box: box.call("catches", "coded"),
    "a failing host function": lambda box: box.call("catches", "broken"),
    "a host result that is not JSON": lambda box: box.call("catches", "unspeakable"),
    "an uncaught host error": lambda box: box.call("asks", "coded"),
    "shared": lambda box: box.call("keeps", {"results": [{"a": 1}, {"b": 2}]}, shared="results"),
    "a script": lambda box: box.evaluate("[1, 2, 3].map((n) => n * n)"),
    "a script with a promise": lambda box: box.evaluate("Promise.resolve(7)"),
    "a script that throws": lambda box: box.evaluate("let x = 1;\n  null.y", "here.js"),
    "a syntax error": lambda box: box.evaluate("let = ;", "there.js"),
    "a surrogate in the source": lambda box: box.evaluate("'\ud800'"),
    "an empty script": lambda box: box.evaluate(""),
    "recursion": lambda box: box.call("recurses", 0),
    "no eval": lambda box: box.evaluate("typeof eval + typeof require + typeof process"),
    "a large result": lambda box: box.evaluate("'x'.repeat(2 << 20)"),
    "a large argument": lambda box: box.call("echo", "x" * (40 << 20)),
    "an argument that fits badly": lambda box: box.call("echo", "x" * (12 << 20)),
    "a timeout of nothing": lambda box: box.call("echo", timeout_s=0),
    "a loop": lambda box: box.call("loops", timeout_s=0.1),
    "a regular expression": lambda box: box.call("regexp", timeout_s=0.1),
    "memory": lambda box: box.call("eats"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_both_kinds_have_the_same_outcome(case):
    found = []
    for kind in KINDS:
        with kind(LIMITS, HOST) as box:
            box.load_module(SKILL)
            first = outcome(lambda b=box: case(b))
            found.append((first, box.alive, outcome(lambda b=box: b.call("echo", "again"))))
    assert found[0] == found[1]


@pytest.mark.parametrize("stack_bytes", [128 << 10, 512 << 10])
def test_both_kinds_run_on_every_stack(stack_bytes):
    depths = []
    for kind in KINDS:
        with kind(Limits(stack_bytes=stack_bytes)) as box:
            depths.append(box.evaluate("let n = 0; const f = () => { n++; f(); }; try { f(); } catch {} n"))
    assert depths[0] == depths[1] > 300


@pytest.mark.parametrize("kind", KINDS)
def test_exports_are_described(kind):
    with kind(LIMITS, HOST) as box:
        exports = box.load_module(SKILL)
        assert exports == box.exports
        assert exports.type == "object"
        assert {"echo", "later", "fails"} <= exports.functions
        assert exports.values == {"name": "skill", "version": 3}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_refer_to_the_typescript(kind):
    with kind(LIMITS) as box:
        box.load_module(transpile(TYPESCRIPT, "skill.ts"))
        with pytest.raises(SandboxError) as caught:
            box.call("run", {"b": 4})
    assert caught.value.message == "no 4"
    assert (caught.value.file, caught.value.line) == ("skill.ts", 5)
    assert caught.value.frames[0].function == "run"


@pytest.mark.parametrize("kind", KINDS)
def test_shared_rows_are_returned_as_the_same_objects(kind):
    rows = [{"a": 1}, {"b": 2}]
    with kind(LIMITS, HOST) as box:
        box.load_module(SKILL)
        answer = box.call("keeps", {"results": rows}, shared="results")
    assert answer["results"][0] is rows[1]
    assert answer["results"][1] == {"fresh": True}
    assert answer["results"][2] is rows[0]
    assert answer["note"] == "kept"


def test_both_kinds_log_the_same_with_the_same_limit():
    found = []
    for kind in KINDS:
        with kind(Limits(log_bytes=200), HOST) as box:
            box.load_module(SKILL)
            box.call("logs")
            first = box.take_logs()
            box.evaluate("for (let i = 0; i < 50; i++) console.log('line ' + i); 0")
            found.append((first, box.take_logs(), box.take_logs()))
    assert found[0] == found[1]
    assert [line.text for line in found[0][0]] == ['one {"two":2}', "three", "four"]
    assert found[0][1][-1].text.endswith("further lines were dropped")


def test_log_lines_before_an_endless_loop_are_kept():
    def logged(kind: type[Box]) -> list[str]:
        begun = threading.Event()
        for timeout_s in (0.1, 1, 5, 20):  # until the loop is reached
            with kind(LIMITS, {"begin": begun.set}) as box:
                with pytest.raises(SandboxError):
                    box.evaluate("console.log('before'); begin(); for (;;);", timeout_s=timeout_s)
                if begun.is_set():
                    break
        return [line.text for line in box.take_logs()]

    assert [logged(kind) for kind in KINDS] == [["before"], ["before"]]


def test_a_seed_gives_the_same_numbers_in_both_kinds():
    def draw(kind: type[Box], seed: int | None) -> Any:
        with kind(LIMITS, HOST, seed=seed) as box:
            box.load_module(SKILL)
            return box.call("random")

    assert draw(Sandbox, 7) == draw(ProcessSandbox, 7) == draw(ProcessSandbox, 7)
    assert draw(ProcessSandbox, None) != draw(ProcessSandbox, None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_host_function_has_the_remaining_time_and_the_callers_context(kind):
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    seen: list[Any] = []

    def look() -> None:
        seen.append((remaining_s(), variable.get()))

    with kind(LIMITS, {"look": look}) as box:
        variable.set("mine")
        box.evaluate("look(); 0", timeout_s=50)
    assert 0 < seen[0][0] <= 50
    assert seen[0][1] == "mine"
    assert remaining_s() == float("inf")


@pytest.mark.parametrize("kind", KINDS)
def test_a_host_function_cannot_use_the_sandbox_that_waits_for_it(kind):
    names: list[str] = []

    def again() -> None:
        for attempt in (lambda: box.evaluate("1"), box.close):
            try:
                attempt()
            except SandboxError as error:
                names.append(error.name)

    with kind(LIMITS, {"again": again}) as box:
        box.evaluate("again(); 0")
        assert box.evaluate("2") == 2
    assert names == ["SandboxBusy", "SandboxBusy"]


@pytest.mark.parametrize("outer_kind", KINDS)
@pytest.mark.parametrize("inner_kind", KINDS)
def test_an_outer_sandbox_that_waits_is_refused_too(outer_kind, inner_kind):
    names: list[str] = []

    def back() -> None:
        with pytest.raises(SandboxError) as caught:
            outer.evaluate("1")
        names.append(caught.value.name)

    with (
        inner_kind(LIMITS, {"back": back}) as inner,
        outer_kind(LIMITS, {"inner": lambda: inner.evaluate("back(); 5")}) as outer,
    ):
        assert outer.evaluate("inner()") == 5
    assert names == ["SandboxBusy"]


@pytest.mark.parametrize("host", [{"not a name": ask}, {"console": ask}, {"a": ask, "a.b": ask}])
def test_both_kinds_refuse_the_same_host_functions(host):
    found = [outcome(lambda k=kind: k(LIMITS, host)) for kind in KINDS]
    assert found[0] == found[1]
    assert found[0][0] is ValueError


def test_a_clock_is_refused():
    with pytest.raises(ValueError, match="clock"):
        ProcessSandbox(clock=lambda: 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_sandbox_reports_so(kind):
    box = kind(LIMITS)
    assert box.memory_bytes > 1 << 20
    box.close()
    box.close()
    assert not box.alive
    assert box.memory_bytes == 0
    with pytest.raises(SandboxError, match="it was closed") as caught:
        box.evaluate("1")
    assert caught.value.name == "SandboxClosed"
