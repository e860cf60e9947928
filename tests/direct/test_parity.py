"""The same skill in the sandbox and in Node.js has the same results, errors and logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cortex_sandbox import Promised, SandboxError, TranspileError, bundle
from cortex_sandbox.direct import DirectSandbox

from .conftest import needs_node

pytestmark = needs_node

HELPER = """export function inner(n: number): never {
  throw new RangeError('deep ' + n);
}
"""
SKILL = """import { inner } from './lib/helper';
import table from './table.json';

enum Colour { Red = 1, Blue }

interface Context { n: number }

class Skill {
  name = 'probe';
  size = 3;
  #calls = 0;

  count() { return ++this.#calls; }
  echo(value: unknown) { return value; }
  nothing() {}
  colour() { return Colour.Blue + table.two; }
  async later(context: Context) { await null; return { twice: context.n * 2 }; }
  thenable() { return { then(resolve: (n: number) => void) { resolve(9); } }; }
  reject() { return Promise.reject(new TypeError('rejected')); }
  throwNothing() { throw undefined; }
  throwObject() { throw { a: 1 }; }
  cycle() { const a: any = {}; a.a = a; return a; }
  big() { return 1n; }
  proto() { return JSON.parse('{"__proto__": {"x": 1}}'); }
  surrogate() { return '\\ud800'; }
  numbers() { return [NaN, Infinity, -0, 2 ** 60]; }
  fail(context: Context) {
    const n = context.n;
    return inner(n);
  }
  async failLater() {
    await null;
    null!.x;
  }
}

export default new Skill();
"""
FILES = {"lib/helper.ts": HELPER, "table.json": '{"two": 2}'}


def outcome(box: Any, name: str, *arguments: Any, **given: Any) -> Any:
    """The outcome of a call: its value, or its error without columns, which engines count differently."""
    try:
        return box.call(name, *arguments, **given)
    except SandboxError as error:
        return type(error), error.name, [(frame.function, frame.file, frame.line) for frame in error.frames]


@pytest.mark.parametrize("name", ["count", "nothing", "colour", "thenable", "proto", "surrogate", "numbers"])
def test_a_result_is_the_same(name: str, both: Callable[..., Any]) -> None:
    sandbox, direct = both(SKILL, files=FILES)
    assert outcome(direct, name) == outcome(sandbox, name)


def test_exports_are_the_same(both: Callable[..., Any]) -> None:
    sandbox, direct = both(SKILL, files=FILES)
    assert direct.exports == sandbox.exports
    assert direct.exports.values == {"name": "probe", "size": 3}


@pytest.mark.parametrize(
    "code",
    [
        "export default 1",
        "export default null",
        "export const a = 1",
        "export default Object.freeze({ a() {} })",
        "export default function f() {}",
    ],
)
def test_any_default_export_is_described_in_the_same_way(code: str, both: Callable[..., Any]) -> None:
    sandbox, direct = both(code)
    assert direct.exports.type == sandbox.exports.type
    assert direct.exports.functions == sandbox.exports.functions


@pytest.mark.parametrize("value", [None, True, 1.5, "ü🙂", [1, [2]], {"a": {"b": []}}, 2**70, "x" * 200_000])
def test_an_argument_is_the_same(value: Any, both: Callable[..., Any]) -> None:
    sandbox, direct = both(SKILL, files=FILES)
    assert direct.call("echo", value) == sandbox.call("echo", value)
    assert direct.call("later", {"n": 4}) == {"twice": 8}


@pytest.mark.parametrize(
    "name", ["reject", "throwNothing", "throwObject", "cycle", "big", "fail", "failLater", "absent", "name"]
)
def test_an_error_is_the_same(name: str, both: Callable[..., Any]) -> None:
    sandbox, direct = both(SKILL, files=FILES)
    reported = outcome(direct, name, {"n": 7})
    assert reported[0] is SandboxError
    assert reported == outcome(sandbox, name, {"n": 7})


def test_an_error_has_the_line_and_column_of_the_typescript(opened: Callable[..., DirectSandbox]) -> None:
    box = opened(SKILL, files=FILES)
    with pytest.raises(SandboxError, match="RangeError: deep 7") as failed:
        box.call("fail", {"n": 7})
    assert [str(frame) for frame in failed.value.frames] == [
        "    at inner (lib/helper.ts:2:9)",
        "    at fail (skill.ts:29:12)",
    ]


def test_an_error_at_the_top_level_has_its_place(opened: Callable[..., DirectSandbox]) -> None:
    with pytest.raises(SandboxError) as failed:
        opened("type T = 1;\n\nthrow new TypeError('top');\n")
    assert (failed.value.name, failed.value.message) == ("TypeError", "top")
    assert (failed.value.file, failed.value.line, failed.value.column) == ("skill.ts", 3, 7)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("export default {\n  a: ;\n}", "Unexpected"),
        ("import './absent';\nexport default {}", "absent"),
    ],
)
def test_a_source_that_does_not_transpile_in_the_sandbox_does_not_here(
    code: str, message: str, opened: Callable[..., DirectSandbox]
) -> None:
    with pytest.raises(TranspileError, match=message) as failed:
        opened(code)
    assert failed.value.file == "skill.ts"


def test_a_skill_is_evaluated_once(opened: Callable[..., DirectSandbox]) -> None:
    box = opened("globalThis.runs = (globalThis.runs ?? 0) + 1; export default { runs: () => globalThis.runs };")
    assert box.call("runs") == 1


@pytest.mark.parametrize("name", ["skill.js", "skill.mjs"])
def test_javascript_is_loaded_without_a_bundle(name: str, opened: Callable[..., DirectSandbox]) -> None:
    box = opened("", files={name: "export default {\n  boom() { throw new Error(import.meta.url); } };"}, entry=name)
    with pytest.raises(SandboxError, match=f"probe/{name}") as failed:
        box.call("boom")
    assert (failed.value.file, failed.value.line, failed.value.column) == (name, 2, 18)


# --- host functions


class Coded(Exception):  # like the errors of an application
    code = "write_limit"


def refuse() -> None:
    raise Coded("no slot is left")


HOST: dict[str, Any] = {
    "echo": lambda *values: list(values),
    "refuse": refuse,
    "fail": lambda: 1 / 0,
    "graphClient.listTriples": Promised(lambda query: {"triples": [query]}),
    "graphClient.refuse": Promised(refuse),
}
CALLER = """
const reported = (error: any) => [error instanceof Error, error.name, error.message, error.code];
const caught = (f: () => unknown) => { try { return f(); } catch (error) { return reported(error); } };
const top = echo('at the top');
const awaited = await graphClient.listTriples(1);
export default {
  sync: () => echo(1, 'ü', { a: [null] }),
  top: () => [top, awaited],
  async promised() {
    const promise = graphClient.listTriples({ subject: 'a' });
    return [promise instanceof Promise, await promise];
  },
  many: () => Promise.all(Array.from({ length: 50 }, (_, i) => graphClient.listTriples(i))),
  refused: () => caught(() => (globalThis as any).refuse()),
  failed: () => caught(() => (globalThis as any).fail()),
  promisedRefused: () => graphClient.refuse().catch(reported),
  unsayable: () => caught(() => echo(1n)),
  frozen: () => [
    caught(() => { (globalThis as any).echo = 1; })[1],
    caught(() => { graphClient.listTriples = 1; })[1],
    caught(() => { console.log = 1; })[1],
    Object.keys(graphClient), typeof echo, echo.name, Object.isFrozen(echo), console === logger,
  ],
  absent: () => ['eval', 'performance', 'queueMicrotask', 'atob', 'WeakRef'].map((name) => name in globalThis),
  tampered() {
    JSON.stringify = JSON.parse = Array.prototype.map = () => 'tampered' as any;
    return echo('still');
  },
};
declare const echo: any, graphClient: any, logger: any;
"""


@pytest.mark.parametrize(
    "name",
    ["sync", "top", "promised", "many", "refused", "promisedRefused", "failed", "frozen", "absent", "tampered"],
)
def test_host_functions_behave_in_the_same_way(name: str, both: Callable[..., Any]) -> None:
    sandbox, direct = both(CALLER, host=HOST)
    reported = direct.call(name)
    assert reported == sandbox.call(name)
    assert reported is not None


def test_a_host_function_has_the_remaining_time(opened: Callable[..., DirectSandbox]) -> None:
    from cortex_sandbox import remaining_s

    box = opened("export default { left: () => left() }; declare const left: any;", host={"left": remaining_s})
    assert 0 < box.call("left", timeout_s=7.0) <= 7.0
    assert remaining_s() == float("inf")


@pytest.mark.parametrize("name", ["1a", "a.b.c", "console", "logger.x", "a-b", ""])
def test_names_of_host_functions_follow_the_rules_of_the_sandbox(name: str, folder: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="is not a valid name of a host function"):
        DirectSandbox(folder(""), host={name: print})


# --- shared lists and logs


def test_a_shared_list_is_returned_as_the_same_objects(both: Callable[..., Any]) -> None:
    code = """export default {
      async onQuery(c: any) { c.results[0].x = 2; return { results: [c.results[1], c.results[0], { own: 1 }], n: 1 }; },
    };"""
    given = {"results": [{"a": 1}, {"b": 2}]}
    for box in both(code):
        answer = box.call("onQuery", given, shared="results")
        assert answer == {"results": [{"b": 2}, {"a": 1}, {"own": 1}], "n": 1}
        assert answer["results"][0] is given["results"][1]


def test_logs_are_the_same_and_in_order(both: Callable[..., Any]) -> None:
    code = """console.log('top', 1);
    export default { onQuery() {
      logger.debug('d'); logger.info({ a: [1] }, null, undefined);
      console.warn('w\\nx'); console.error(new Error('e').message);
      console.log('y'.repeat(9000));
    } };
    declare const logger: any;"""
    sandbox, direct = both(code)
    for box in (sandbox, direct):
        box.call("onQuery")
    lines = direct.take_logs()
    assert lines == sandbox.take_logs()
    assert [line.level for line in lines] == ["info", "debug", "info", "warning", "error", "info"]
    assert direct.take_logs() == []


def test_a_logged_error_has_its_place_in_the_typescript(both: Callable[..., Any]) -> None:
    code = "type T = 1;\nexport default { onQuery() { console.log(new Error('seen')); } };"
    for box in both(code):
        box.call("onQuery")
        (line,) = box.take_logs()
        assert line.text.startswith("Error: seen\n    at onQuery (skill.")


NODE_MODULES = """
import { createHash } from "node:crypto";
import * as path from "path";
enum Kind { A = "a" }
const digest = () => createHash("sha256").update("x").digest("hex").slice(0, 8);
export default { look: () => [digest(), path.basename("/a/b"), Kind.A] };
"""


def test_a_skill_that_is_bundled_imports_the_modules_of_node_and_the_sandbox_refuses_them(
    opened: Callable[..., DirectSandbox],
) -> None:
    assert opened(NODE_MODULES).call("look") == ["2d711642", "b", "a"]
    with pytest.raises(TranspileError, match="node:crypto"):
        bundle({"skill.ts": NODE_MODULES})
