"""Time-outs under load: `python -m fuzz.deadlines [--count 10000] [--seed 1]`.

Rules kept here:
- the invariant: a guest that never ends is stopped, and none is stopped more than a second after its deadline;
- the guests run side by side, some on the thread of their caller and some on threads of the sandbox, in loops, in long
  functions of the engine and in loops of host calls, while other threads and processes keep the interpreter and the
  processors busy;
- lateness is measured on the thread that called. Time in which a thread that only sleeps did not run either is the
  machine's or the interpreter's, and is subtracted (`Stalls`); both figures are printed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from cortex_sandbox import Limits, Sandbox, SandboxError, SandboxTimeout

LATE_S = 1.0
_SHORTEST_S, _LONGEST_S = 0.01, 0.1
_WORKERS = 8
_NAP_S = 0.005
_BUSY_THREADS = 2
_STACKS = (256 << 10, 512 << 10)

ENDLESS = (
    "for (;;);",
    "/(a+)+$/.test('a'.repeat(60) + 'b')",
    "(async () => { for (;;) await 0; })()",
    "for (;;) echo(1);",
    "const a = Array.from({ length: 1e5 }, (_, i) => -i); for (;;) a.sort().reverse();",
    "for (;;) { try { (function f() { f(); })(); } catch {} }",
)


@dataclass(frozen=True)
class TimeOut:
    """One guest that was to be stopped.

    Attributes:
        source: the code that never ends.
        ended: `timeout`, or what happened instead.
        late_s: the seconds from its deadline to its end.
        own_s: those of them in which a sleeping thread ran on time.

    """

    source: str
    ended: str
    late_s: float
    own_s: float


class Stalls:
    """A thread that only sleeps, and when it was kept from waking up in time."""

    def __init__(self) -> None:
        self._found: deque[tuple[float, float]] = deque(maxlen=10_000)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sleep)

    def __enter__(self) -> Stalls:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _sleep(self) -> None:
        due = time.monotonic() + _NAP_S
        while not self._done.is_set():
            time.sleep(max(0.0, due - time.monotonic()))
            woke = time.monotonic()
            self._found.append((due, woke))
            due = woke + _NAP_S

    def between(self, begin: float, end: float) -> float:
        """The seconds of stalls in a span of time."""
        return sum(max(0.0, min(end, woke) - max(begin, due)) for due, woke in list(self._found))


def time_out(dice: random.Random, stalls: Stalls) -> TimeOut:
    """Run a guest that never ends in a new sandbox with a short limit."""
    source, limit = dice.choice(ENDLESS), dice.uniform(_SHORTEST_S, _LONGEST_S)
    with Sandbox(Limits(stack_bytes=dice.choice(_STACKS)), {"echo": lambda value: value}) as box:
        box.evaluate("0", timeout_s=60)  # installs the host functions
        box.evaluate(f"globalThis.run = () => {{ {source} }}", timeout_s=60)  # compiled before the limit begins
        deadline = time.monotonic() + limit
        try:
            box.evaluate("run()", timeout_s=limit)
            ended = "returned"
        except SandboxTimeout:
            ended = "timeout"
        except SandboxError as error:
            ended = f"{error.name}: {error.message}"
        end = time.monotonic()
    time.sleep(2 * _NAP_S)  # until a stall that lasts has been recorded
    late = end - deadline
    return TimeOut(source, ended, late, late - stalls.between(deadline, end))


@contextmanager
def load() -> Iterator[None]:
    """Threads of this process and other processes that compute without a pause."""
    done = threading.Event()
    threads = [threading.Thread(target=_compute, args=(done,)) for _ in range(_BUSY_THREADS)]
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for process in processes:
            process.kill()
            process.wait()
        for thread in threads:
            thread.join()


def _compute(done: threading.Event) -> None:
    while not done.is_set():
        sum(range(10_000))


def soak(count: int, seed: int, workers: int = _WORKERS) -> list[TimeOut]:
    """Time-outs under load, the latest first.

    Args:
        count: how many.
        seed: selects the guests and their limits.
        workers: how many run at a time.

    """
    dice = random.Random(seed)
    before = threading.stack_size(16 << 20)  # enough for guests that run on the thread of their caller
    try:
        with load(), Stalls() as stalls, ThreadPoolExecutor(workers) as pool:
            found = list(
                pool.map(lambda seed: time_out(random.Random(seed), stalls), [dice.random() for _ in range(count)])
            )
    finally:
        threading.stack_size(before)
    return sorted(found, key=lambda one: one.own_s, reverse=True)


def _figures(seconds: list[float]) -> str:
    """The median, the 99th percentile and the maximum."""
    up = sorted(seconds)
    at = (up[len(up) // 2], up[len(up) * 99 // 100], up[-1])
    return " / ".join(f"{one * 1000:.0f}" for one in at) + " ms (median, 99 %, most)"


def main() -> int:
    """Run the soak, and print what broke the invariant; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="number of time-outs (default: 10,000)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default: 1)")
    options = parser.parse_args()
    before = time.monotonic()
    found = soak(options.count, options.seed)
    broken = [one for one in found if one.ended != "timeout" or one.own_s > LATE_S]
    for one in broken[:20]:
        print(f"{one.own_s:.3f} of {one.late_s:.3f} s late, {one.ended}: {one.source}")  # noqa: T201
    own, whole = _figures([one.own_s for one in found]), _figures([one.late_s for one in found])
    print(f"{len(found):,} time-outs in {time.monotonic() - before:.0f} s, {len(broken)} broke the invariant")  # noqa: T201
    print(f"late by {own}, with stalls of the machine {whole}")  # noqa: T201
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
