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
from cortex_sandbox.engine.clock import TICK_S, Ticker
from cortex_sandbox.engine.engine import fits_here
from cortex_sandbox.engine.threads import DEEP_STACK_BYTES, ThreadPool, _Job, stack_size, threads_have

STACK = 4 << 20


def on_thread(work: object, stack_bytes: int = 0) -> object:
    """The result of a function on a new thread with a given stack size."""
    reported: list[object] = []
    before = threading.stack_size(stack_bytes)
    try:
        thread = threading.Thread(target=lambda: reported.append(work()))  # type: ignore[operator]
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return reported[0]


def test_results_and_exceptions_are_passed_to_the_caller() -> None:
    threads = ThreadPool(STACK)
    assert threads.run(lambda: 42) == 42
    with pytest.raises(KeyError, match="absent"):
        threads.run(lambda: dict[str, int]()["absent"])
    with pytest.raises(SystemExit):
        threads.run(lambda: exec("raise SystemExit(3)"))
    assert threads.run(lambda: 43) == 43


def test_work_runs_on_a_thread_with_the_given_stack() -> None:
    threads = ThreadPool(STACK)
    size = threads.run(stack_size)
    assert size == 0 or size >= STACK
    assert threading.stack_size() == 0


def test_idle_threads_are_reused() -> None:
    threads = ThreadPool(STACK)
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


def test_work_runs_in_a_copy_of_the_callers_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    threads = ThreadPool(STACK)
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
    assert size == 0 or size >= stack_bytes - (64 << 10)  # the system may reuse a larger stack


@pytest.mark.parametrize("stack_bytes", [256 << 10, 1 << 20, 16 << 20, DEEP_STACK_BYTES])
def test_a_guest_runs_on_the_callers_thread_only_with_a_large_stack_and_never_on_the_main_thread(
    stack_bytes: int,
) -> None:
    assert not fits_here(256 << 10)
    assert on_thread(lambda: fits_here(512 << 10) == (stack_size() >= 32 << 20), stack_bytes)
    assert on_thread(lambda: fits_here(256 << 10) == (stack_size() >= 7 << 20), stack_bytes)


@pytest.mark.parametrize("stack_bytes", [8 << 20, DEEP_STACK_BYTES])
def test_a_guest_with_a_deep_stack_stays_on_a_deep_caller(stack_bytes: int) -> None:
    def run() -> tuple[int, int, int, str]:
        seen: list[int] = []
        with Sandbox(Limits(stack_bytes=512 << 10), {"here": lambda: seen.append(threading.get_ident())}) as box:
            depth = box.evaluate("here(); let n = 0; function f() { n++; f(); } try { f(); } catch (e) { e.name + n }")
        return stack_size(), threading.get_ident(), seen[0], depth

    size, caller, guest, depth = on_thread(run, stack_bytes)  # type: ignore[misc]
    assert (caller == guest) == (size >= DEEP_STACK_BYTES)  # the system may reuse a larger stack
    assert re.fullmatch(r"RangeError[12][0-9]{3}", depth)


def test_blocks_that_set_the_stack_size_take_turns() -> None:
    with threads_have(STACK):
        assert threading.stack_size() == STACK
    with pytest.raises(KeyError), threads_have(STACK):
        raise KeyError
    assert threading.stack_size() == 0
    callers = [threading.Thread(target=lambda: ThreadPool(STACK).run(stack_size)) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert threading.stack_size() == 0


def test_the_clock_ticks_with_the_wall_clock_while_a_guest_runs() -> None:
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


def test_the_clock_stops_when_no_guest_runs_and_starts_again() -> None:
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


def test_late_ticks_are_made_up_and_do_not_shorten_a_later_limit() -> None:
    ticks = [0]

    def tick() -> None:
        ticks[0] += 1

    ticker = Ticker(tick)
    ticker.enter()
    time.sleep(0.02)
    ctypes.PyDLL(None).usleep(200_000)  # sleeps with the interpreter lock held
    late = ticker.ticks_for(0.1)
    started = ticks[0]
    assert late >= 50
    deadline = time.monotonic() + 100
    while ticks[0] < started + late and time.monotonic() < deadline:
        time.sleep(0.001)
    ticker.leave()
    assert ticks[0] >= started + late


# The clock's threads run but advance no epoch; without another thread that does, the guest never ends.
STUCK_CLOCK = """
import sys, threading, time
from cortex_sandbox import Limits, Sandbox, SandboxTimeout
from cortex_sandbox.engine.clock import Ticker

for name in sys.argv[2].split():
    setattr(Ticker, name, lambda self: time.sleep(10**6))

def stopped():
    with Sandbox(Limits(timeout_s=0.1)) as box:
        try:
            box.evaluate("for (;;);")
        except SandboxTimeout as error:
            print(error.message)

if sys.argv[1] == "main":
    stopped()
else:
    threading.stack_size(16 << 20)
    thread = threading.Thread(target=stopped)
    thread.start()
    thread.join()
"""


@pytest.mark.parametrize(("thread", "stuck"), [("main", "_run _watch"), ("main", "_run"), ("other", "_run")])
def test_a_guest_is_stopped_when_the_thread_of_the_clock_is_stuck(thread: str, stuck: str) -> None:
    command = [sys.executable, "-c", STUCK_CLOCK, thread, stuck]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.stderr) == ("stopped: the time limit of 0.1 s was reached\n", "")


def test_a_thread_of_the_clock_that_ended_is_started_again() -> None:
    ticks: list[float] = []
    ticker = Ticker(lambda: ticks.append(time.monotonic()))
    ended = threading.Thread(target=lambda: None)
    ended.start()
    ended.join()
    ticker._threads[ticker._run] = ended
    ticker.enter()
    deadline = time.monotonic() + 100
    while not ticks and time.monotonic() < deadline:
        time.sleep(0.005)
    ticker.leave()
    assert ticks


INTERRUPTED = """
import random, signal
from cortex_sandbox.engine.threads import ThreadPool

class Interrupted(Exception):
    pass

def interrupt(*_):
    raise Interrupted

signal.signal(signal.SIGALRM, interrupt)
threads, ended, interrupted = ThreadPool(1 << 20), 0, 0
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
def test_signals_at_any_time_of_a_call_leave_no_thread_waiting() -> None:
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True, timeout=100)


def test_a_signal_just_after_a_call_has_ended_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = _Job.wait

    def wait_and_be_interrupted(job: _Job) -> None:
        wait(job)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(_Job, "wait", wait_and_be_interrupted)
    threads = ThreadPool(STACK)
    with pytest.raises(KeyboardInterrupt):
        threads.run(lambda: 1)
    assert threads.run(lambda: 2) == 2


def test_a_call_interrupted_before_its_start_never_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, begun, late = ThreadPool(STACK), [], threading.Event()
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
