"""Host functions: how they are offered, and what a guest can do with them."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from cortex_sandbox import Limits, Promised, Sandbox, SandboxError, SandboxTimeout, remaining_s


class Refusal(Exception):
    code = "write_limit"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a b",
        "a.b.c",
        "1a",
        "a-b",
        "console",
        "logger.x",
        "globalThis",
        "default",
        "undefined",
        "NaN.x",
        "a\nb",
        "a.",
        ".a",
        "é",
        "a" * 65,
        "x\n",
    ],
)
def test_a_name_that_is_not_a_javascript_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid name"):
        Sandbox(host={name: lambda: 1})


def test_a_name_is_a_function_or_a_group_not_both() -> None:
    with pytest.raises(ValueError, match="both"):
        Sandbox(host={"a": lambda: 1, "a.b": lambda: 1})


def test_host_functions_are_installed_once_by_any_first_entry() -> None:
    source = "const read = echo; export default { early: read('early'), now: () => echo === read && read('now') };"
    with Sandbox(host={"echo": lambda value: value}) as box:
        assert box.load_module(source).values == {"early": "early"}
        assert box.call("now") == "now"
    with Sandbox(host={"echo": lambda value: value}) as box:
        with pytest.raises(SandboxError, match='has no function "now"'):
            box.call("now")
        assert box.load_module(source).values == {"early": "early"}
        assert box.evaluate("echo('again')") == "again"


def test_installation_does_not_count_as_run_time_of_the_first_entry() -> None:
    with Sandbox(Limits(timeout_s=30), {"left": lambda: remaining_s()}) as box:
        assert box.evaluate("left()", timeout_s=5) <= 5
        assert 5 < box.evaluate("left()") <= 30
    with Sandbox(host={"echo": lambda value: value}) as box, pytest.raises(SandboxTimeout):
        box.evaluate("for (;;) echo(1)", timeout_s=0.05)


def test_functions_of_a_group_are_found_under_it_and_are_frozen() -> None:
    with Sandbox(host={"graph.read": lambda: "r", "graph.write": lambda: "w", "$x_1": lambda: "x"}) as box:
        assert box.evaluate(
            "[graph.read(), graph.write(), $x_1(), Object.isFrozen(graph), Object.isFrozen(graph.read)]"
        ) == [
            "r",
            "w",
            "x",
            True,
            True,
        ]


@pytest.mark.parametrize("name", ["Object", "JSON", "Array", "Math"])
def test_a_host_function_may_replace_a_builtin(name: str) -> None:
    with Sandbox(host={name: lambda: "mine"}) as box:
        assert box.evaluate(f"try {{ {name} = 1; }} catch {{ }} {name}()") == "mine"


def test_an_exception_with_a_code_reaches_the_guest_with_its_message() -> None:
    def refuse() -> None:
        raise Refusal("no more writes")

    with Sandbox(host={"write": refuse}) as box:
        reported = box.evaluate("try { write() } catch (e) { [e instanceof Error, e.name, e.message, e.code] }")
        assert reported == [True, "HostError", "no more writes", "write_limit"]
        with pytest.raises(SandboxError, match="no more writes") as caught:
            box.evaluate("write()")
        assert caught.value.name == "HostError"


def test_an_exception_without_a_code_is_logged_and_hidden_from_the_guest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> None:
        raise ValueError("password=hunter2")

    with Sandbox(host={"broken": broken}) as box, caplog.at_level(logging.WARNING, "cortex_sandbox"):
        reported = box.evaluate("try { broken() } catch (e) { [e.message, e.code, e.stack, JSON.stringify(e)] }")
    assert reported[:2] == ["broken failed in the host", "host_error"]
    assert "hunter2" not in repr(reported)
    assert "hunter2" in caplog.text


def test_a_guest_cannot_fill_the_hosts_log(caplog: pytest.LogCaptureFixture) -> None:
    with Sandbox(host={"f": lambda a: a}) as box, caplog.at_level(logging.WARNING, "cortex_sandbox"):
        box.evaluate("for (let i = 0; i < 1000; i++) { try { f(); } catch {} }")
    assert len(caplog.records) == 10


def test_a_rejected_promise_of_a_promised_function_can_be_caught() -> None:
    def refuse() -> None:
        raise Refusal("later")

    with Sandbox(host={"write": Promised(refuse)}) as box:
        assert box.evaluate("write().catch((e) => e.code)") == "write_limit"
        with pytest.raises(SandboxError, match="later"):
            box.evaluate("(async () => { await write(); })()")


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x"])
def test_a_result_that_is_not_a_json_value_fails_in_the_host_only(value: Any) -> None:
    with Sandbox(host={"f": lambda: value}) as box:
        assert box.evaluate("try { f() } catch (e) { e.code }") == "host_error"
        assert box.evaluate("1") == 1


def test_a_large_result_of_a_host_function_is_limited_by_the_guests_memory() -> None:
    with (
        Sandbox(Limits(memory_bytes=1 << 20), host={"f": lambda: "x" * 30_000_000}) as box,
        pytest.raises(SandboxError),
    ):
        box.evaluate("f().length")


def test_a_host_function_can_read_the_remaining_time() -> None:
    reported: list[float] = []
    with Sandbox(Limits(timeout_s=600), host={"f": lambda: reported.append(remaining_s())}) as box:
        box.evaluate("f()")
        box.load_module("export default { g() { f() } }")
        box.call("g", timeout_s=300)
    assert 300 < reported[0] <= 600
    assert 0 < reported[1] <= 300


def test_a_deadline_that_passes_inside_a_host_function_is_noticed_on_return() -> None:
    with Sandbox(Limits(timeout_s=0.05), host={"nap": lambda: time.sleep(0.1)}) as box:
        with pytest.raises(SandboxTimeout):
            box.evaluate("nap(); for (let i = 0; i < 1e6; i++); 'too late'")
        assert not box.alive


@pytest.mark.parametrize("stack_bytes", [256 << 10, 512 << 10])
def test_a_host_function_that_uses_its_own_sandbox_is_refused(stack_bytes: int) -> None:
    uses: dict[str, Callable[[], Any]] = {
        "evaluate": lambda: box.evaluate("1"),
        "call": lambda: box.call("f"),
        "load": lambda: box.load_module("export default {}"),
        "close": lambda: box.close(),
    }
    with Sandbox(Limits(stack_bytes=stack_bytes), host=uses) as box:
        for name in uses:
            assert "sandbox that waits" in box.evaluate(f"try {{ {name}() }} catch (e) {{ e.message }}")
        assert box.evaluate("2") == 2


def test_a_host_function_may_take_the_logs_of_its_own_sandbox() -> None:
    with Sandbox(host={"logs": lambda: [line.text for line in box.take_logs()]}) as box:
        assert box.evaluate("console.log('a'); logs()") == ["a"]


@pytest.mark.parametrize("stack_bytes", [256 << 10, 512 << 10])
def test_a_host_function_may_use_another_sandbox_without_a_cycle(stack_bytes: int) -> None:
    limits = Limits(stack_bytes=stack_bytes)
    with (
        Sandbox(limits, host={"ask": lambda n: other.evaluate(f"back({n})")}) as one,
        Sandbox(limits, host={"back": lambda n: n + 1 if n else one.evaluate("1")}) as other,
    ):
        assert one.evaluate("ask(1)") == 2
        assert one.evaluate("try { ask(0) } catch (e) { e.message }").endswith("sandbox that waits for it")
        assert one.evaluate("ask(2)") == 3


def test_nested_sandboxes_with_full_stacks_do_not_overflow_the_thread() -> None:
    source = """
        let o = { toJSON() { answer = down(); return 1; } }, answer;
        for (let i = 0; i < 15000; i++) o = [o];
        JSON.stringify(o); answer;
    """

    def level(depth: int) -> int:
        if depth == 0:
            return 0
        with Sandbox(Limits(memory_bytes=32 << 20, timeout_s=100), host={"down": lambda: level(depth - 1)}) as box:
            return int(box.evaluate(source)) + 1

    assert level(4) == 4


def test_an_interrupt_inside_a_host_function_stops_the_guest_and_reaches_the_caller() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with Sandbox(host={"f": interrupted}) as box:
        with pytest.raises(KeyboardInterrupt):
            box.evaluate("try { f() } catch { } finally { for (;;); }")
        assert not box.alive


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs POSIX signals")
@pytest.mark.parametrize("stack_bytes", [256 << 10, 512 << 10])
def test_an_interrupt_while_the_guest_runs_reaches_the_caller_after_the_guest_has_stopped(stack_bytes: int) -> None:
    class Interrupt(BaseException):
        pass

    def on_signal(*_: object) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, on_signal)
    try:
        for source in ("for (let i = 0; i < 1e7; i++);", "for (let i = 0; i < 1e5; i++) { Date.now(); echo(1); }"):
            timer = threading.Timer(0.03, os.kill, (os.getpid(), signal.SIGUSR1))
            host = {"echo": lambda value: value, "begin": timer.start}
            with Sandbox(Limits(stack_bytes=stack_bytes, timeout_s=100), host=host) as box:
                with pytest.raises(Interrupt):
                    box.evaluate(f"begin(); {source} 1")
                assert not box._lock.locked()
            timer.join()
            with Sandbox() as box:
                assert box.evaluate("6 * 7") == 42
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_host_function_runs_on_the_guests_thread_in_the_callers_context() -> None:
    import contextvars

    variable = contextvars.ContextVar("variable", default="unset")
    for stack_bytes in (256 << 10, 512 << 10):
        with Sandbox(Limits(stack_bytes=stack_bytes), host={"f": variable.get}) as box:
            token = variable.set("set")
            assert box.evaluate("f()") == "set"
            variable.reset(token)


def test_host_functions_on_many_threads_answer_their_own_guest() -> None:
    def make(number: int) -> Callable[[], int]:
        return lambda: number

    wrong: list[int] = []

    def work(number: int) -> None:
        with Sandbox(host={"me": make(number)}) as box:
            if box.evaluate("let s = 0; for (let i = 0; i < 300; i++) s += me(); s") != 300 * number:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
