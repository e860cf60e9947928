"""Threads with a large stack, and the clock that makes deadlines noticed."""

from __future__ import annotations

import contextvars
import ctypes
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from cortex_sandbox import Limits, Sandbox
from cortex_sandbox.clock import TICK_S, Ticker
from cortex_sandbox.engine import fits_here
from cortex_sandbox.threads import DEEP_STACK_BYTES, DeepThreads, _Job, stack_size, threads_have

STACK = 4 << 20


def on_thread(work: object, stack_bytes: int = 0) -> object:
    """What a function returns on a plain thread with a stack of its own size."""
    told: list[object] = []
    before = threading.stack_size(stack_bytes)
    try:
        thread = threading.Thread(target=lambda: told.append(work()))  # type: ignore[operator]
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return told[0]


def test_a_result_and_an_exception_come_back() -> None:
    threads = DeepThreads(STACK)
    assert threads.run(lambda: 42) == 42
    with pytest.raises(KeyError, match="absent"):
        threads.run(lambda: dict[str, int]()["absent"])
    with pytest.raises(SystemExit):
        threads.run(lambda: exec("raise SystemExit(3)"))
    assert threads.run(lambda: 43) == 43


def test_work_runs_on_a_thread_with_the_stack_that_was_asked_for() -> None:
    threads = DeepThreads(STACK)
    size = threads.run(stack_size)
    assert size == 0 or size >= STACK
    assert threading.stack_size() == 0


def test_a_thread_is_used_again_and_more_are_made_only_when_all_are_busy() -> None:
    threads = DeepThreads(STACK)
    first = {threads.run(threading.get_ident) for _ in range(20)}
    assert len(first) == 1
    nested = threads.run(lambda: threads.run(threading.get_ident))
    assert nested not in first
    barrier = threading.Barrier(5)
    callers = [threading.Thread(target=lambda: threads.run(lambda: barrier.wait(100))) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not barrier.broken


def test_work_runs_in_the_context_of_its_caller_and_changes_nothing_there() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    threads = DeepThreads(STACK)
    variable.set("caller")

    def work() -> str:
        before = variable.get()
        variable.set("worker")
        return before

    assert threads.run(work) == "caller"
    assert variable.get() == "caller"


@pytest.mark.parametrize("stack_bytes", [256 << 10, 1 << 20, 16 << 20])
def test_the_size_of_a_threads_stack_is_known(stack_bytes: int) -> None:
    size = on_thread(stack_size, stack_bytes)
    assert isinstance(size, int)
    assert size == 0 or size >= stack_bytes - (64 << 10)  # the system may hand out a larger one that was used before


@pytest.mark.parametrize("stack_bytes", [256 << 10, 1 << 20, 16 << 20, DEEP_STACK_BYTES])
def test_a_guest_runs_on_a_callers_thread_only_when_it_is_large_and_not_the_main_one(stack_bytes: int) -> None:
    assert not fits_here(256 << 10)
    assert on_thread(lambda: fits_here(512 << 10) == (stack_size() >= 32 << 20), stack_bytes)
    assert on_thread(lambda: fits_here(256 << 10) == (stack_size() >= 7 << 20), stack_bytes)


@pytest.mark.parametrize("stack_bytes", [8 << 20, DEEP_STACK_BYTES])
def test_a_guest_with_a_deep_stack_stays_on_a_deep_thread_that_calls_it(stack_bytes: int) -> None:
    def run() -> tuple[int, int, int, str]:
        seen: list[int] = []
        with Sandbox(Limits(stack_bytes=512 << 10), {"here": lambda: seen.append(threading.get_ident())}) as box:
            depth = box.evaluate("here(); let n = 0; function f() { n++; f(); } try { f(); } catch (e) { e.name + n }")
        return stack_size(), threading.get_ident(), seen[0], depth

    size, caller, guest, depth = on_thread(run, stack_bytes)  # type: ignore[misc]
    assert (caller == guest) == (size >= DEEP_STACK_BYTES)  # the system may hand out a larger one that was used before
    assert re.fullmatch(r"RangeError[12][0-9]{3}", depth)


def test_a_size_is_asked_for_by_one_at_a_time() -> None:
    with threads_have(STACK):
        assert threading.stack_size() == STACK
    with pytest.raises(KeyError), threads_have(STACK):
        raise KeyError
    assert threading.stack_size() == 0
    callers = [threading.Thread(target=lambda: DeepThreads(STACK).run(stack_size)) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert threading.stack_size() == 0


def test_the_clock_ticks_with_the_wall_clock_while_somebody_runs() -> None:
    ticks: list[float] = []
    ticker = Ticker(lambda: ticks.append(time.monotonic()))
    time.sleep(0.02)
    assert ticks == []
    started = time.monotonic()
    ticker.enter()
    while len(ticks) < 50 and time.monotonic() - started < 100:
        time.sleep(0.005)
    ticker.leave()
    assert len(ticks) >= 50
    assert len(ticks) <= (ticks[-1] - started) / TICK_S + 2


def test_the_clock_stops_when_nobody_runs_and_starts_again() -> None:
    ticks = [0]

    def tick() -> None:
        ticks[0] += 1

    ticker = Ticker(tick)
    for _ in range(2):
        ticker.enter()
        ticker.leave()
        deadline = time.monotonic() + 100
        while not ticker._parked and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ticker._parked
        still = ticks[0]
        time.sleep(0.05)
        assert ticks[0] == still


def test_late_ticks_are_made_up_for_and_do_not_shorten_a_limit_that_starts_meanwhile() -> None:
    ticks = [0]

    def tick() -> None:
        ticks[0] += 1

    ticker = Ticker(tick)
    ticker.enter()
    time.sleep(0.02)
    ctypes.PyDLL(None).usleep(200_000)  # sleeps without letting another Python thread run
    late = ticker.ticks_for(0.1)
    started = ticks[0]
    assert late >= 50
    deadline = time.monotonic() + 100
    while ticks[0] < started + late and time.monotonic() < deadline:
        time.sleep(0.001)
    ticker.leave()
    assert ticks[0] >= started + late


INTERRUPTED = """
import random, signal
from cortex_sandbox.threads import DeepThreads

class Interrupted(Exception):
    pass

def interrupt(*_):
    raise Interrupted

signal.signal(signal.SIGALRM, interrupt)
threads, ended, interrupted = DeepThreads(1 << 20), 0, 0
for _ in range(4000):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 4e-4))
        assert threads.run(lambda: 7) == 7
        signal.setitimer(signal.ITIMER_REAL, 0)
        ended += 1
    except Interrupted:
        interrupted += 1
    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:
        pass
assert ended and interrupted, (ended, interrupted)
assert threads.run(lambda: 7) == 7
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
def test_signals_at_any_moment_of_a_call_leave_nobody_waiting() -> None:
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, timeout=100)


def test_a_signal_just_when_a_call_has_ended_is_raised_and_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = _Job.wait

    def wait_and_be_interrupted(job: _Job) -> None:
        wait(job)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(_Job, "wait", wait_and_be_interrupted)
    threads = DeepThreads(STACK)
    with pytest.raises(KeyboardInterrupt):
        threads.run(lambda: 1)
    assert threads.run(lambda: 2) == 2


def test_a_call_that_is_interrupted_before_it_began_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, begun, late = DeepThreads(STACK), [], threading.Event()
    run = _Job.run

    def run_late(job: _Job, over: Callable[[], None]) -> None:
        late.wait(60)
        run(job, over)

    def be_interrupted(_: _Job) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_Job, "run", run_late)
    monkeypatch.setattr(_Job, "wait", be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        threads.run(lambda: begun.append(1))
    monkeypatch.undo()
    late.set()
    assert threads.run(lambda: begun.append(2)) is None
    assert begun == [2]
