"""Invalid limits are refused, valid limits are enforced."""

from __future__ import annotations

import pytest

from cortex_sandbox import Limits, Sandbox, SandboxError, SandboxTimeout


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory_bytes": 0},
        {"memory_bytes": (1 << 20) - 1},
        {"memory_bytes": (256 << 20) + 1},
        {"memory_bytes": -1},
        {"stack_bytes": (16 << 10) - 1},
        {"stack_bytes": -1},
        {"timeout_s": 0},
        {"timeout_s": -0.1},
        {"timeout_s": float("nan")},
        {"timeout_s": float("inf")},
        {"timeout_s": 3601},
        {"transfer_bytes": 1023},
        {"log_bytes": -1},
    ],
)
def test_a_number_out_of_its_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).partition("_s")[0]):
        Limits(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(memory_bytes=1 << 20),
        Limits(memory_bytes=256 << 20),
        Limits(stack_bytes=16 << 10),
        Limits(stack_bytes=64 << 10),
        Limits(stack_bytes=512 << 10),
        Limits(stack_bytes=8 << 20),
        Limits(transfer_bytes=1024, log_bytes=0),
        Limits(timeout_s=3600),
    ],
)
def test_every_limit_in_its_range_gives_a_working_sandbox(limits: Limits) -> None:
    with Sandbox(limits, host={"echo": lambda value: value}) as box:
        box.load_module("export default { f: (n) => echo(n) + 1 }")
        assert box.call("f", 41) == 42
        with pytest.raises(SandboxError) as caught:
            box.evaluate("(function f() { f(); })()")
        assert caught.value.name == "RangeError"
        assert box.evaluate("'alive'") == "alive"


def test_a_larger_stack_holds_more_calls_up_to_the_maximum() -> None:
    source = "let n = 0; (function f() { n++; f(); })"

    def depth(stack_bytes: int) -> int:
        with Sandbox(Limits(stack_bytes=stack_bytes)) as box:
            return int(
                box.evaluate(
                    f"{source.replace('let n', 'var n')}; try {{ (function f() {{ n++; f(); }})() }} catch {{ }} n"
                )
            )

    small, medium, large, larger = map(depth, (64 << 10, 256 << 10, 512 << 10, 8 << 20))
    assert small < medium < large == larger
    assert 700 < medium < 1000
    assert 1400 < large < 2000


def test_the_memory_limit_is_that_of_the_guests_heap() -> None:
    with Sandbox(Limits(memory_bytes=16 << 20)) as box:
        assert box.evaluate("new Uint8Array(12 << 20).length") == 12 << 20
        with pytest.raises(SandboxError):
            box.evaluate("new Uint8Array(20 << 20).length")
        assert box.evaluate("new Uint8Array(12 << 20).length") == 12 << 20


def test_loading_and_compiling_have_the_time_limit() -> None:
    with Sandbox(Limits(timeout_s=0.05)) as box, pytest.raises(SandboxTimeout):
        box.load_module("for (;;);")
    huge = "x = [" + "{a: [1, 'b']}," * 300_000 + "];"
    with Sandbox(Limits(timeout_s=0.05, memory_bytes=256 << 20)) as box, pytest.raises(SandboxTimeout):
        box.evaluate(huge)


def test_jobs_left_by_a_failed_call_run_within_the_limit_of_the_next_call() -> None:
    with Sandbox(Limits(timeout_s=60)) as box:
        box.evaluate("globalThis.ran = 0; 1")
        with pytest.raises(SandboxError, match="now"):
            box.evaluate("Promise.resolve().then(() => ran++); throw new Error('now')")
        box.evaluate("1")
        assert box.evaluate("ran") == 1
