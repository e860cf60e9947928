"""Time and memory limits are enforced, with hostile guests, slow host functions and a busy machine."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from cortex_sandbox import Limits, ProcessSandbox, SandboxError, SandboxMemoryError, SandboxTimeout

SLACK_S = 30.0  # for a busy machine; without the limit it would take a minute


@pytest.mark.parametrize(
    "source",
    [
        "for (;;);",
        "try { for (;;); } finally { for (;;); }",
        "const again = () => Promise.resolve().then(again); again()",
        "/^(a+)+$/.test('a'.repeat(50) + 'b')",
        "'x'.repeat(1 << 28).replace(/x/g, 'y')",
        "for (;;) console.log('x'.repeat(1000))",
        "for (;;) ask(1)",
        "[].indexOf.call({ length: 2 ** 50 }, 1)",
        "2n ** 10000000n",
    ],
)
def test_an_endless_guest_is_stopped(source):
    with ProcessSandbox(Limits(timeout_s=0.2), {"ask": lambda value: value}) as box:
        start = time.monotonic()
        with pytest.raises(SandboxError):
            box.evaluate(source)
        assert time.monotonic() - start < 0.22 + SLACK_S
    with ProcessSandbox() as box:
        assert box.evaluate("1 + 1") == 2


def test_a_host_function_that_sleeps_is_abandoned_at_the_deadline():
    released = threading.Event()
    with ProcessSandbox(Limits(timeout_s=0.2), {"sleep": lambda: released.wait(60)}) as box:
        start = time.monotonic()
        with pytest.raises(SandboxTimeout) as caught:
            box.evaluate("try { sleep() } catch {} 5")
        assert time.monotonic() - start < 0.22 + SLACK_S
        assert caught.value.name == "Timeout"
        assert not box.alive
        with pytest.raises(SandboxError, match="stopped at a limit"):
            box.evaluate("1")
    released.set()
    with ProcessSandbox(host={"quick": lambda: 3}) as box:
        assert box.evaluate("quick()") == 3


def stands_still(pid: int) -> bool:
    """Whether every thread of a process is stopped: a stop signal reaches them one after another."""
    stats = [stat.read_text() for stat in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def test_a_worker_that_was_stopped_by_a_signal_is_killed_at_the_deadline(process_box, pid_of, soon):
    pid = pid_of(process_box)
    os.kill(pid, signal.SIGSTOP)
    assert soon(lambda: stands_still(pid))
    start = time.monotonic()
    with pytest.raises(SandboxTimeout):
        process_box.evaluate("1", timeout_s=0.2)
    assert time.monotonic() - start < 0.22 + SLACK_S
    assert not process_box.alive


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM])
def test_a_worker_that_dies_in_a_call_is_an_error(number, pid_of):
    with ProcessSandbox(Limits(timeout_s=30), {"die": lambda: os.kill(pid_of(box), number)}) as box:
        with pytest.raises(SandboxError) as caught:
            box.evaluate("die(); for (;;);")
        assert caught.value.name == "SandboxBroken"
        assert not box.alive
    with ProcessSandbox() as box:
        assert box.evaluate("6 * 7") == 42


def test_a_worker_that_dies_between_calls_is_an_error_of_the_next(process_box, pid_of):
    os.kill(pid_of(process_box), signal.SIGKILL)
    with pytest.raises(SandboxError) as caught:
        process_box.evaluate("1")
    assert caught.value.name == "SandboxBroken"


def test_a_memory_bomb_is_a_memory_error():
    with ProcessSandbox(Limits(memory_bytes=8 << 20, timeout_s=60)) as box, pytest.raises(SandboxMemoryError):
        box.evaluate("const all = []; for (;;) all.push('x'.repeat(100000) + all.length);")


def test_a_host_answer_that_is_too_large_kills_only_the_sandbox():
    with ProcessSandbox(Limits(memory_bytes=1 << 20), {"much": lambda: "x" * (20 << 20)}) as box:
        with pytest.raises(SandboxMemoryError):
            box.evaluate("much().length")
        assert not box.alive


def test_an_interrupt_in_a_host_function_is_raised_and_kills_the_sandbox():
    def interrupt() -> None:
        raise KeyboardInterrupt

    with ProcessSandbox(host={"interrupt": interrupt}) as box:
        with pytest.raises(KeyboardInterrupt):
            box.evaluate("try { interrupt() } catch {} for (;;);")
        assert not box.alive


def test_another_thread_can_interrupt_a_call():
    entered = threading.Event()
    with ProcessSandbox(Limits(timeout_s=60), {"enter": entered.set}) as box:
        threading.Thread(target=lambda: (entered.wait(100), box.interrupt())).start()
        with pytest.raises(SandboxError) as caught:
            box.evaluate("enter(); for (;;);")
        assert caught.value.name == "Interrupted"
        assert not box.alive


def test_threads_take_turns_and_wait_no_longer_than_their_limit():
    entered, released = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        released.wait(50)

    with ProcessSandbox(Limits(timeout_s=60), {"hold": hold}) as box:
        first = threading.Thread(target=lambda: box.evaluate("hold(); 0"))
        first.start()
        try:
            assert entered.wait(100)
            with pytest.raises(SandboxTimeout, match="busy"):
                box.evaluate("1", timeout_s=0.05)
        finally:
            released.set()
            first.join()
        assert box.evaluate("1") == 1


def test_twenty_live_sandboxes_are_independent():
    boxes = [ProcessSandbox(Limits(timeout_s=60)) for _ in range(20)]
    found = {}

    def use(index: int) -> None:
        boxes[index].evaluate(f"globalThis.mine = {index}; 0")
        found[index] = boxes[index].evaluate("mine")

    threads = [threading.Thread(target=use, args=(index,)) for index in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for box in boxes:
        box.close()
    assert found == {index: index for index in range(20)}


def test_an_event_loop_is_not_blocked():
    turned = threading.Event()

    async def run() -> bool:
        with ProcessSandbox(Limits(timeout_s=60), {"until_it_turned": lambda: turned.wait(50)}) as box:
            box.load_module("export default { run: () => until_it_turned() }")
            task = asyncio.ensure_future(box.acall("run"))
            for _ in range(5):
                await asyncio.sleep(0)
            turned.set()
            return bool(await task)

    assert asyncio.run(run())
