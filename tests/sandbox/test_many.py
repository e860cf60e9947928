"""Many sandboxes: at the same time, one after another, on many threads."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path

import pytest

from cortex_sandbox import Limits, Sandbox, SandboxError, SandboxTimeout
from tests.time_limits import shortest

STATM = Path("/proc/self/statm")
needs_statm = pytest.mark.skipif(not STATM.exists(), reason="needs /proc/self/statm")


def resident_bytes() -> int:
    return int(STATM.read_text().split()[1]) * 4096


def test_eight_threads_compute_in_their_own_sandboxes() -> None:
    source = """
        globalThis.sum = 0;
        for (let i = 0; i < 2000; i++) sum += own(i) + JSON.parse(JSON.stringify({ a: [i] })).a[0];
        Promise.resolve(sum).then((total) => total + %d);
    """
    expected = sum(range(2000)) * 2
    results: dict[int, list[int]] = {}

    def work(number: int) -> None:
        limits = Limits(stack_bytes=(256 if number % 2 else 512) << 10)
        results[number] = []
        for _ in range(3):
            with Sandbox(limits, host={"own": lambda i: i}) as box:
                results[number].append(box.evaluate(source % number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [expected + number] * 3 for number in range(8)}


@pytest.mark.parametrize(
    "source", ["for (;;);", "for (;;) echo('x')", "for (;;) { try { boom() } catch { } }", "for (;;) console.log(1)"]
)
def test_eight_threads_of_hostile_guests_are_all_stopped(source: str) -> None:
    late: list[float] = []

    def boom() -> None:
        raise ValueError

    def work() -> None:
        with Sandbox(Limits(timeout_s=0.3), host={"echo": lambda value: value, "boom": boom}) as box:
            started = time.monotonic()
            try:
                box.evaluate(source)
            except SandboxTimeout:
                late.append(time.monotonic() - started - 0.3)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(late) == 8
    assert max(late) < 60  # eight threads on two cores of a busy machine; none of the guests would ever end
    assert min(late) > -0.01


@needs_statm
def test_a_thousand_live_sandboxes_take_half_a_megabyte_each_at_most() -> None:
    def make(number: int) -> Sandbox:
        box = Sandbox(Limits(timeout_s=100), host={"echo": lambda value: value})
        box.load_module("export default { set(n) { this.n = n; }, get() { return echo(this.n); } }")
        box.call("set", number)
        return box

    make(0).close()
    gc.collect()
    before = resident_bytes()
    boxes = [make(number) for number in range(1000)]
    try:
        assert resident_bytes() - before < 1000 * 512 * 1024
        assert [box.call("get") for box in boxes] == list(range(1000))
    finally:
        for box in boxes:
            box.close()
    gc.collect()
    assert resident_bytes() - before < 100 << 20


@pytest.mark.extended
@needs_statm
@pytest.mark.slow
def test_thousands_of_sandboxes_one_after_another_do_not_leak_memory() -> None:
    def use(number: int) -> None:
        with Sandbox(Limits(timeout_s=30), host={"echo": lambda value: value}) as box:
            assert box.evaluate("globalThis.k = new Uint8Array(100_000); echo(k.length)") == 100_000
            if number % 10 == 0:
                with pytest.raises(SandboxError):
                    box.evaluate("(function f() { f(); })()")

    def grown(times: int) -> float:
        gc.collect()
        before = resident_bytes()
        for number in range(times):
            use(number)
        gc.collect()
        return resident_bytes() - before

    grown(500)
    assert shortest(lambda: grown(2500), 3 << 20, times=3) < 3 << 20  # 1.2 KiB each


@needs_statm
def test_sandboxes_that_are_not_closed_are_collected() -> None:
    def use() -> None:
        assert Sandbox(host={"f": lambda: 1}).evaluate("globalThis.k = new Uint8Array(1_000_000).fill(1); f()") == 1

    for _ in range(50):
        use()
    gc.collect()
    before = resident_bytes()
    for _ in range(150):
        use()
    gc.collect()
    assert resident_bytes() - before < 50 << 20


@pytest.mark.extended
@needs_statm
@pytest.mark.slow
def test_guests_stopped_at_their_limits_do_not_leak_memory() -> None:
    def use() -> None:
        for source in ("for (;;);", "const k = []; for (;;) k.push({});", "(function f() { f(); })()"):
            with Sandbox(Limits(timeout_s=0.02), host={"f": lambda: 1}) as box, pytest.raises(SandboxError):
                box.evaluate(source)

    def grown(times: int) -> float:
        gc.collect()
        before = resident_bytes()
        for _ in range(times):
            use()
        gc.collect()
        return resident_bytes() - before

    grown(30)
    assert shortest(lambda: grown(60), 16 << 20) < 16 << 20


@needs_statm
def test_the_cache_of_compiled_sources_is_bounded() -> None:
    with Sandbox() as box:
        for number in range(700):
            box.evaluate(f"'{'x' * 10_000}'.length + {number}")
        before = resident_bytes()
        for number in range(700):
            box.evaluate(f"'{'y' * 10_000}'.length + {number}")
        assert resident_bytes() - before < 16 << 20
