"""Rows of the sandbox, compared with quickjs-emscripten, native QuickJS-ng and the native esbuild binary."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self
from uuid import uuid4

from bench.measure import Row, in_turn_s, mean_s, measured_in_turn_s
from bench.skill import SOURCE, result_rows, two_hundred_lines
from cortex_sandbox import Limits, ProcessSandbox, Sandbox, bundle

HERE = Path(__file__).parent
EMSCRIPTEN = "quickjs-emscripten, asyncified"
# Small enough for the caller's thread; `Limits.stack_bytes` explains why 512 KiB needs another thread.
LIMITS = Limits(stack_bytes=256 << 10)

JAVASCRIPT = {
    "loop": "let s = 0; for (let i = 0; i < 300000; i++) s = (s + i * 7) % 1000003; s",
    "JSON": "let n = 0; for (let i = 0; i < 30; i++) n += JSON.stringify(JSON.parse(text)).length; n",
    "sort": "let a = []; for (let i = 0; i < 20000; i++) a.push((i * 7919) % 20011); a.sort((x, y) => x - y); a[7]",
    "strings": "let t = ''; for (let i = 0; i < 20000; i++) t += 'k' + i; t.split('k').join('-').length",
}
PREPARE = "globalThis.text = JSON.stringify([...Array(300).keys()].map((i) => ({ id: 'n' + i, value: i / 3 }))); 0"


def rows() -> list[Row]:
    """All rows, measured on a worker thread as in a server: calls from the main thread switch threads."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_rows).result()


def _rows() -> list[Row]:
    return [*_beside_emscripten(), _second_ring(), _javascript(), _transpile()]


def _beside_emscripten() -> list[Row]:
    """What quickjs-emscripten can do as well, in its own process, alternating with this one."""
    data = result_rows(1000)
    with Sandbox(LIMITS, {"echo": lambda value: value}) as box, _Emscripten(SOURCE, data) as their:
        box.load_module(SOURCE)
        rows = [Row("new sandbox, skill loaded", *_in_turn(_load, 25, their, "sandbox"), 1 / 20)]
        for count, goal, batch in ((20, 1 / 5, 200), (1000, 1 / 8, 10)):
            ours = partial(box.call, "onQuery", {"results": data[:count]}, shared="results")
            pair = _in_turn(ours, batch, their, f"onQuery{count}")
            rows.append(Row(f"`onQuery` over {count:,} results", *pair, goal))
        measures = [partial(mean_s, partial(box.call, "hostCalls", {"calls": calls}), 1) for calls in (1000, 0)]
        measures += [partial(their.mean_s, f"hostCalls{calls}", 1) for calls in (1000, 0)]
        many, none, their_many, their_none = measured_in_turn_s(measures)
        calls = (many - none) / 1000, EMSCRIPTEN, (their_many - their_none) / 1000
        return [*rows, Row("host call from the guest", *calls, 1 / 2)]


def _in_turn(work: Callable[[], object], batch: int, their: _Emscripten, name: str) -> tuple[float, str, float]:
    """Seconds of the sandbox, name of the reference, seconds of the reference.

    Both use batches of the same size, large enough to include garbage collection and to run with warm caches.
    """
    measures = [partial(mean_s, work, batch), partial(their.mean_s, name, batch)]
    ours, theirs = measured_in_turn_s(measures, rounds=21)
    return ours, EMSCRIPTEN, theirs


def _load() -> None:
    with Sandbox(LIMITS, {"echo": lambda value: value}) as box:
        box.load_module(SOURCE)


class _Emscripten:
    """quickjs-emscripten under Node.js, which runs named operations and reports their time."""

    def __init__(self, source: str, rows: list[dict[str, object]]) -> None:
        self._process = subprocess.Popen(
            ["node", HERE / "reference.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._send(json.dumps({"source": source, "rows": rows}))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=30)

    def mean_s(self, name: str, batch: int) -> float:
        """Mean seconds of one operation over a batch, by the clock of Node.js."""
        self._send(f"{name} {batch}")
        return float(self._process.stdout.readline())

    def _send(self, line: str) -> None:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()


def _second_ring() -> Row:
    """The same call, with the sandbox in a worker process and in this process."""
    context = {"results": result_rows(20)}
    with ProcessSandbox(LIMITS) as second, Sandbox(LIMITS) as first:
        boxes = (second, first)
        for box in boxes:
            box.load_module(SOURCE)
        ours, theirs = in_turn_s([lambda b=box: b.call("onQuery", context, shared="results") for box in boxes], 50)
    return Row("`onQuery` over 20 results, `isolation: process`", ours, "the same in-process", theirs, 3)


def _javascript() -> Row:
    """JavaScript itself: the median ratio to native QuickJS-ng over four programs."""
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
        works = [
            lambda: bundle({"skill.ts": f"{source}// {uuid4()}\n"}),  # another source: not from the cache of bundles
            lambda: subprocess.run(command, capture_output=True, check=True),
        ]
        ours, theirs = in_turn_s(works, 1, rounds=21)
    return Row("transpile and bundle a 200-line skill", ours, "native esbuild, one process a run", theirs, 2)
