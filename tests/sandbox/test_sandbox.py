"""The public behaviour of `Sandbox`: loading, calling, evaluating, logs, time, randomness, closing."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from cortex_sandbox import (
    Exports,
    Limits,
    LogLine,
    Promised,
    Sandbox,
    SandboxError,
    SandboxMemoryError,
    SandboxTimeout,
    remaining_s,
    transpile,
)


def test_a_script_has_the_value_of_its_last_expression() -> None:
    with Sandbox() as box:
        assert box.evaluate("1 + 1") == 2


def test_a_promise_is_awaited_with_all_its_reactions() -> None:
    with Sandbox() as box:
        assert box.evaluate("(async () => { let n = 0; for (const x of [1, 2, 3]) n += await x; return n; })()") == 6


def test_state_is_kept_between_calls_and_is_not_shared_between_sandboxes() -> None:
    with Sandbox() as one, Sandbox() as other:
        one.evaluate("globalThis.seen = 1; Array.prototype.mine = 1")
        assert one.evaluate("[seen, [].mine]") == [1, 1]
        assert other.evaluate("[typeof seen, typeof [].mine]") == ["undefined", "undefined"]


def test_functions_of_the_default_export_are_called_with_arguments_and_this() -> None:
    with Sandbox() as box:
        box.load_module("export default { factor: 3, times(n, m = 1) { return n * m * this.factor; } }")
        assert box.call("times", 7) == 21
        assert box.call("times", 7, 2) == 42


def test_exports_describe_the_functions_and_plain_values_of_the_default_export() -> None:
    source = """
    class Base { inherited() {} get computed() { return 1.5; } }
    class Skill extends Base { name = "x"; size = 2; on = true; list = [1]; none = null; run = async () => 1; }
    export default new Skill();
    """
    with Sandbox() as box:
        exports = box.load_module(source)
        assert exports == box.exports
        assert exports.type == "object"
        assert exports.functions == {"run", "inherited"}
        assert exports.values == {"name": "x", "size": 2, "on": True, "list": None, "none": None, "computed": 1.5}


@pytest.mark.parametrize(
    ("source", "type_"),
    [
        ("export default 5", "number"),
        ("export default null", "null"),
        ("export const a = 1", "undefined"),
        ("export default () => 1", "function"),
        ("export default 'x'", "string"),
        ("export default Symbol('x')", "symbol"),
        ("export default 5n", "bigint"),
    ],
)
def test_exports_have_the_type_of_any_default_export(source: str, type_: str) -> None:
    with Sandbox() as box:
        assert box.load_module(source).type == type_
        with pytest.raises(SandboxError, match="no function") as caught:
            box.call("run")
        assert caught.value.name == "TypeError"


def test_exports_are_empty_before_a_module_is_loaded() -> None:
    with Sandbox() as box:
        assert box.exports == Exports()
        with pytest.raises(SandboxError):
            box.call("anything")


def test_a_module_that_fails_to_load_leaves_the_sandbox_usable() -> None:
    with Sandbox() as box:
        with pytest.raises(SandboxError, match="SyntaxError"):
            box.load_module("export default {")
        with pytest.raises(SandboxError, match="TypeError: no"):
            box.load_module("throw new TypeError('no')")
        box.load_module("export default { f: () => 'yes' }")
        assert box.call("f") == "yes"


def test_transpiled_typescript_runs() -> None:
    with Sandbox(host={"echo": lambda value: value}) as box:
        box.load_module(transpile("enum E { A = 20 }\nexport default { twice: (n: number) => 2 * echo(n) + E.A }"))
        assert box.call("twice", 11) == 42


def test_calling_a_name_that_is_not_a_function_is_an_error() -> None:
    with Sandbox() as box:
        box.load_module("export default { value: 1 }")
        for name in ("value", "absent", "toString2", "", "__proto__"):
            with pytest.raises(SandboxError, match="no function"):
                box.call(name)


def test_log_lines_are_kept_in_order_with_their_levels() -> None:
    with Sandbox() as box:
        box.evaluate("""
            console.log('plain', 1, { a: [2] }, null, undefined);
            logger.warn('careful'); console.error(new Error('bad'));
            logger.info(Symbol('s'), () => 1, 10n); console.debug('é\\n😀')
        """)
        lines = box.take_logs()
        assert [line.level for line in lines] == ["info", "warning", "error", "info", "debug"]
        assert lines[0].text == 'plain 1 {"a":[2]} null undefined'
        assert lines[2].text.startswith("Error: bad\n")
        assert lines[3].text == "Symbol(s) () => 1 10"
        assert lines[4].text == "é\n😀"
        assert box.take_logs() == []


def test_log_lines_over_the_limit_are_counted() -> None:
    with Sandbox(Limits(log_bytes=1000)) as box:
        box.evaluate("for (let i = 0; i < 500; i++) console.log('line ' + i)")
        lines = box.take_logs()
        assert lines[0] == LogLine("info", "line 0")
        assert sum(len(line.text) for line in lines) < 1200
        kept = len(lines) - 1
        assert lines[-1] == LogLine("warning", f"{500 - kept} further lines were dropped")
        box.evaluate("console.log('again')")
        assert box.take_logs() == [LogLine("info", "again")]


def test_empty_log_lines_count_against_the_limit() -> None:
    with Sandbox(Limits(log_bytes=1600)) as box:
        box.evaluate("for (let i = 0; i < 5000; i++) console.log('')")
        assert len(box.take_logs()) == 101


def test_a_long_log_line_is_truncated() -> None:
    with Sandbox(Limits(log_bytes=1 << 20)) as box:
        box.evaluate("console.log('x'.repeat(100000))")
        assert box.take_logs() == [LogLine("info", "x" * 8192)]


def test_logs_of_a_call_that_failed_are_kept() -> None:
    begun = threading.Event()
    for timeout_s in (0.2, 1, 5, 20):  # until the loop is reached
        with Sandbox(Limits(timeout_s=timeout_s), host={"begin": begun.set}) as box:
            with pytest.raises(SandboxTimeout):
                box.evaluate("console.log('before'); begin(); for (;;);")
            logged = box.take_logs()
        if begun.is_set():
            break
    assert logged == [LogLine("info", "before")]


def test_the_clock_is_the_wall_clock_in_milliseconds() -> None:
    with Sandbox() as box:
        before = time.time_ns() // 1_000_000
        reported = box.evaluate("[Date.now(), new Date().getTime()]")
        after = time.time_ns() // 1_000_000
        assert before <= reported[0] <= reported[1] <= after


def test_a_clock_of_the_host_sets_the_time() -> None:
    with Sandbox(clock=lambda: 1_000_000.5) as box:
        assert box.evaluate("Date.now()") == 1_000_000_500
        assert box.evaluate("new Date().toISOString()") == "1970-01-12T13:46:40.500Z"


def test_an_exception_of_the_clock_reaches_the_caller() -> None:
    def broken() -> float:
        raise ZeroDivisionError("clock")

    with Sandbox(clock=broken) as box, pytest.raises(ZeroDivisionError, match="clock"):
        box.evaluate("for (;;) Date.now()")


def test_random_numbers_differ_between_sandboxes_and_repeat_with_a_seed() -> None:
    source = "Array.from({ length: 20 }, () => Math.random())"

    def draw(**options: Any) -> list[float]:
        with Sandbox(**options) as box:
            drawn: list[float] = box.evaluate(source)
            return drawn

    assert draw() != draw()
    assert draw(seed=7) == draw(seed=7) != draw(seed=8)
    assert draw(seed=-7) != draw(seed=7)
    assert all(0 <= number < 1 for number in draw(seed=0))


def test_random_numbers_fill_their_range_evenly() -> None:
    with Sandbox(seed=1) as box:
        bins = box.evaluate(
            "const b = new Array(10).fill(0); for (let i = 0; i < 20000; i++) b[Math.floor(Math.random() * 10)]++; b"
        )
        assert sum(bins) == 20000
        assert all(1800 < count < 2200 for count in bins)


@pytest.mark.parametrize("seed", [1 << 127, -(1 << 127) - 1, 1 << 300])
def test_a_seed_with_too_many_bits_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="128 bits"):
        Sandbox(seed=seed)


def test_a_timeout_stops_the_guest_and_the_sandbox_is_dead() -> None:
    with Sandbox(Limits(timeout_s=0.05)) as box:
        with pytest.raises(SandboxTimeout) as caught:
            box.evaluate("for (;;);")
        assert caught.value.code == "skill_timeout"
        assert not box.alive
        assert box.memory_bytes == 0
        with pytest.raises(SandboxError, match="stopped at a limit") as again:
            box.evaluate("1")
        assert again.value.name == "SandboxClosed"


def test_a_call_may_have_another_timeout() -> None:
    with Sandbox(Limits(timeout_s=60)) as box:
        box.load_module("export default { spin() { for (;;); } }")
        with pytest.raises(SandboxTimeout):
            box.call("spin", timeout_s=0.05)


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), 3601, float("inf")])
def test_an_invalid_timeout_is_refused(timeout_s: float) -> None:
    with Sandbox() as box:
        with pytest.raises(ValueError, match="timeout"):
            box.evaluate("1", timeout_s=timeout_s)
        assert box.evaluate("1") == 1


def test_a_sandbox_can_survive_its_memory_limit() -> None:
    with Sandbox(Limits(memory_bytes=2 << 20)) as box:
        with pytest.raises(SandboxMemoryError) as caught:
            box.evaluate("{ const k = []; for (;;) k.push(new Array(100)); }")
        assert caught.value.code == "skill_memory"
        if box.alive:
            assert box.evaluate("6 * 7") == 42


def test_a_sandbox_reports_its_memory() -> None:
    with Sandbox(Limits(memory_bytes=32 << 20)) as box:
        before = box.memory_bytes
        box.evaluate("globalThis.keep = new Uint8Array(10_000_000); 1")
        assert box.memory_bytes >= before + 9_900_000
    assert box.memory_bytes == 0


def test_a_closed_sandbox_reports_so_and_can_be_closed_twice() -> None:
    box = Sandbox()
    box.close()
    box.close()
    assert not box.alive
    for use in (lambda: box.evaluate("1"), lambda: box.call("f"), lambda: box.load_module("")):
        with pytest.raises(SandboxError, match="closed"):
            use()


def test_acall_does_not_block_the_event_loop() -> None:
    turned = threading.Event()

    async def main() -> bool:
        with Sandbox(Limits(timeout_s=60), host={"until_it_turned": lambda: turned.wait(50)}) as box:
            box.load_module("export default { work: () => until_it_turned() }")
            task = asyncio.ensure_future(box.acall("work"))
            for _ in range(5):
                await asyncio.sleep(0)
            turned.set()
            return bool(await task)

    assert asyncio.run(main())


def test_threads_that_share_a_sandbox_wait_for_each_other() -> None:
    with Sandbox() as box:
        box.load_module(
            "let n = 0; export default { next() { const was = n; for (let i = 0; i < 1e4; i++); n = was + 1; } }"
        )
        threads = [threading.Thread(target=lambda: [box.call("next") for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        box.load_module("export default { }")
        assert box.alive


def test_waiting_for_a_busy_sandbox_can_time_out() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        leave.wait(50)

    with Sandbox(Limits(timeout_s=100), host={"hold": hold}) as box:
        thread = threading.Thread(target=lambda: box.evaluate("hold()"))
        thread.start()
        try:
            assert entered.wait(100)
            with pytest.raises(SandboxTimeout, match="busy"):
                box.evaluate("1", timeout_s=0.05)
        finally:
            leave.set()
            thread.join()
        assert box.evaluate("2") == 2


def test_a_promised_host_function_returns_a_promise() -> None:
    with Sandbox(host={"a.later": Promised(lambda n: n + 1), "now": lambda n: n + 1}) as box:
        assert box.evaluate("[a.later(1) instanceof Promise, now(1) instanceof Promise]") == [True, False]
        assert box.evaluate("a.later(1).then((n) => a.later(n))") == 3


def test_remaining_time_is_infinite_outside_of_a_host_function() -> None:
    assert remaining_s() == float("inf")


def test_shared_items_are_returned_as_the_same_objects() -> None:
    with Sandbox() as box:
        box.load_module("""export default {
            pick: ({ rows }) => ({ rows: [rows[2], { n: 'new' }, rows[0]], more: 1 }),
            alter: ({ rows }) => { rows[0].n = 'changed'; return { rows }; },
            none: () => null,
            other: () => ({ rows: 'text' }),
            same: ({ rows }) => ({ rows, more: 1 }),
            copied: ({ rows }) => ({ rows: rows.map((row) => row) }),
            turned: ({ rows }) => ({ rows: rows.reverse() }),
            longer: ({ rows }) => ({ rows: [...rows, -1] }),
            shorter: ({ rows }) => { rows.pop(); return { rows }; },
        }""")
        rows = [{"n": 0}, {"n": 1}, {"n": 2}]
        for name, expected in {
            "same": rows,
            "copied": rows,
            "turned": rows[::-1],
            "longer": [*rows, -1],
            "shorter": rows[:2],
        }.items():
            came = box.call(name, {"rows": rows}, shared="rows")["rows"]
            assert came == expected
            assert [id(row) for row in came if row != -1] == [id(row) for row in expected if row != -1]
            assert came is not rows
        assert box.call("same", {"rows": []}, shared="rows") == {"rows": [], "more": 1}
        picked = box.call("pick", {"rows": rows}, shared="rows")
        assert picked == {"rows": [{"n": 2}, {"n": "new"}, {"n": 0}], "more": 1}
        assert picked["rows"][0] is rows[2]
        assert box.call("alter", {"rows": rows}, shared="rows")["rows"][0] == {"n": 0}
        assert box.call("none", {"rows": rows}, shared="rows") is None
        assert box.call("other", {"rows": rows}, shared="rows") == {"rows": "text"}
