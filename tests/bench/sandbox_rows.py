"""The sandbox rows: beside quickjs-emscripten under Node.js, native QuickJS-ng, and the native esbuild binary."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from cortex_sandbox import Limits, ProcessSandbox, Sandbox, bundle
from tests.bench.measure import Row, in_turn_s, median_s
from tests.bench.skill import SOURCE, result_rows, two_hundred_lines

HERE = Path(__file__).parent
EMSCRIPTEN = "quickjs-emscripten, asyncified"
# Native code on the caller's own thread; `Limits.stack_bytes` tells why 512 KiB costs a change of threads.
LIMITS = Limits(stack_bytes=256 << 10)

JAVASCRIPT = {
    "loop": "let s = 0; for (let i = 0; i < 300000; i++) s = (s + i * 7) % 1000003; s",
    "JSON": "let n = 0; for (let i = 0; i < 30; i++) n += JSON.stringify(JSON.parse(text)).length; n",
    "sort": "let a = []; for (let i = 0; i < 20000; i++) a.push((i * 7919) % 20011); a.sort((x, y) => x - y); a[7]",
    "strings": "let t = ''; for (let i = 0; i < 20000; i++) t += 'k' + i; t.split('k').join('-').length",
}
PREPARE = "globalThis.text = JSON.stringify([...Array(300).keys()].map((i) => ({ id: 'n' + i, value: i / 3 }))); 0"


def rows() -> list[Row]:
    """All of them."""
    theirs = _emscripten()
    data = result_rows(1000)
    out = [Row("new sandbox, skill loaded", median_s(_load, runs=41, batch=5), EMSCRIPTEN, theirs["sandbox"], 1 / 20)]
    with Sandbox(LIMITS, {"echo": lambda value: value}) as box:
        box.load_module(SOURCE)
        for count, goal, batch in ((20, 1 / 5, 50), (1000, 1 / 2, 5)):
            context = {"results": data[:count]}
            ours = median_s(lambda c=context: box.call("onQuery", c, shared="results"), runs=31, batch=batch)
            out.append(Row(f"`onQuery` over {count:,} results", ours, EMSCRIPTEN, theirs[f"onQuery{count}"], goal))
        many = median_s(lambda: box.call("hostCalls", {"calls": 1000}), runs=21)
        none = median_s(lambda: box.call("hostCalls", {"calls": 0}), runs=21)
        out.append(Row("host call from the guest", (many - none) / 1000, EMSCRIPTEN, theirs["hostCall"], 1))
    return [*out, _second_ring(), _javascript(), _transpile()]


def _load() -> None:
    with Sandbox(LIMITS, {"echo": lambda value: value}) as box:
        box.load_module(SOURCE)


def _emscripten() -> dict[str, float]:
    request = json.dumps({"source": SOURCE, "rows": result_rows(1000)})
    done = subprocess.run(["node", HERE / "reference.mjs"], input=request, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _second_ring() -> Row:
    """The same call, with the sandbox in a process of its own and in this one."""
    context = {"results": result_rows(20)}
    with ProcessSandbox(LIMITS) as second, Sandbox(LIMITS) as first:
        boxes = (second, first)
        for box in boxes:
            box.load_module(SOURCE)
        ours, theirs = in_turn_s([lambda b=box: b.call("onQuery", context, shared="results") for box in boxes], 50)
    return Row("`onQuery` over 20 results, `isolation: process`", ours, "the same in-process", theirs, 3)


def _javascript() -> Row:
    """JavaScript itself: the median over a few programs of the ratio to native QuickJS-ng."""
    import quickjs

    native = quickjs.Context()
    native.eval(PREPARE)
    ratios, ours, theirs = [], 0.0, 0.0
    with Sandbox(LIMITS) as box:
        box.evaluate(PREPARE)
        for program in JAVASCRIPT.values():
            block = f"{{ {program} }}"
            mine, its = in_turn_s([lambda b=block: box.evaluate(b), lambda b=block: native.eval(b)], 1, rounds=15)
            ratios.append(mine / its)
            ours, theirs = ours + mine, theirs + its
    middle = statistics.median(ratios)
    return Row("JavaScript itself, median of four programs", theirs * middle, "native QuickJS-ng", theirs, 2)


def _transpile() -> Row:
    source = two_hundred_lines()
    binary = HERE / "node_modules" / "@esbuild" / "linux-x64" / "bin" / "esbuild"
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "skill.ts")
        file.write_text(source)
        command = [binary, str(file), "--bundle", "--format=esm", "--sourcemap=inline", "--log-level=error"]
        works = [lambda: bundle({"skill.ts": source}), lambda: subprocess.run(command, capture_output=True, check=True)]
        ours, theirs = in_turn_s(works, 1, rounds=21)
    return Row("transpile and bundle a 200-line skill", ours, "native esbuild, a process a run", theirs, 1)
