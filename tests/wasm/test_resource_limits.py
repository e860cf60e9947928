"""`WasmSandbox` against modules that want more than their limits: several memories, tables, starts, host calls."""

from __future__ import annotations

import time

import pytest
from wasmtime import wat2wasm

from cortex_sandbox.errors import CompileError, FuelExhausted, MemoryLimit, MissingExport, SandboxError, TimedOut, Trap
from cortex_sandbox.wasm import Grants, PluginHost, WasmLimits, WasmSandbox
from cortex_sandbox.wasm.wasm_limits import HOST_CALL_FUEL, MAX_MEMORIES
from tests.wasm.modules import CORE, ECHO, INPUT, component, core

PAGE = 64 << 10
LIMIT = WasmLimits(fuel=1_000_000, memory_bytes=16 * PAGE, timeout_s=20)
EACH = range(1, MAX_MEMORIES + 1)
# Grows a memory by one page until that is refused, and counts the pages of all.
GROWN = "(loop (br_if 0 (i32.ne (memory.grow {0} (i32.const 1)) (i32.const -1))))"


def pages_of(memories: int, limits: WasmLimits = LIMIT) -> int:
    """How many pages a core module gets that grows each of its memories as far as possible."""
    body = "".join(GROWN.format(number) for number in range(memories))
    total = "(i32.const 0)" + "".join(f"(memory.size {number}) i32.add" for number in range(memories))
    return WasmSandbox(core(f"{body} {total}", "(memory 1)" * memories), limits).call()


@pytest.mark.parametrize("memories", EACH)
def test_all_memories_together_have_at_most_the_limit(memories: int) -> None:
    assert pages_of(memories) == 16 // memories * memories


def test_a_fifth_memory_is_refused_whether_in_one_module_or_in_instances_of_a_component() -> None:
    with pytest.raises(MemoryLimit, match="up to 4 memories"):
        pages_of(MAX_MEMORIES + 1)
    for count, allowed in ((3, True), (4, False)):  # the component has one already
        more = "(core module $M (memory 1))" + "(core instance (instantiate $M))" * count
        box = WasmSandbox(component(ECHO, before=more), LIMIT)
        if allowed:
            assert box.call_tool("t", "x").text == "x"
            continue
        with pytest.raises(MemoryLimit, match="up to 4 memories"):
            box.call_tool("t", "x")


def test_nested_components_share_the_limit() -> None:
    inner = "(component $I (core module $M (memory 1)) (core instance (instantiate $M)))"
    box = WasmSandbox(component(ECHO, before=inner + "(instance (instantiate $I))" * 4), LIMIT)
    with pytest.raises(MemoryLimit, match="up to 4 memories"):
        box.call_tool("t", "x")


def test_the_memories_of_a_component_together_have_at_most_the_limit() -> None:
    greedy = f"""(core module $G (memory 1)
      (func $start {GROWN.format(0)} (if (i32.gt_u (memory.size) (i32.const 8)) (then unreachable))) (start $start))
      (core instance (instantiate $G))"""
    assert WasmSandbox(component(ECHO, before=greedy), LIMIT).call_tool("t", "x").text == "x"


@pytest.mark.parametrize(
    "before",
    [
        "(memory 6) (memory 6) (memory 6)",
        "(memory 1) (memory 9)",
        "(memory 1) (memory 1) (memory 1) (memory 5)",
    ],
)
def test_a_memory_larger_than_its_part_is_refused_at_the_start(before: str) -> None:
    with pytest.raises(MemoryLimit):
        WasmSandbox(core("(i32.const 1)", before), LIMIT).call()


@pytest.mark.parametrize(
    ("before", "error"),
    [
        ("(table 100000 funcref)" * 17, MemoryLimit),
        ("(table 100001 funcref)", MemoryLimit),
        ('(memory 1) (data (i32.const 65530) "0123456789")', Trap),
        ('(memory 1) (memory 1) (data (memory 1) (i32.const 65530) "0123456789")', Trap),
        ("(table 1 funcref) (elem (i32.const 1) func 0)", Trap),
    ],
    ids=["17 tables", "large table", "data outside", "data outside of the second", "element outside"],
)
def test_tables_and_segments_beyond_their_limits_end_the_start(before: str, error: type[SandboxError]) -> None:
    with pytest.raises(error) as caught:
        WasmSandbox(core("(i32.const 1)", before), LIMIT).start()
    assert type(caught.value) is error


def test_a_table_does_not_grow_beyond_its_limit() -> None:
    grow = "(table.grow (ref.null func) (i32.const {}))"
    assert WasmSandbox(core(grow.format(100_001), "(table 0 funcref)"), LIMIT).call() == -1
    assert WasmSandbox(core(grow.format(100_000), "(table 0 funcref)"), LIMIT).call() == 0


@pytest.mark.parametrize("memories", [1, 2, 4])
def test_a_start_that_loops_ends_at_its_fuel_and_at_its_time_also_while_memories_are_counted(memories: int) -> None:
    loop = "(memory 1)" * memories + "(start $s) (func $s (loop (br 0)))"
    for box in (
        WasmSandbox(core("(i32.const 1)", loop), LIMIT),
        WasmSandbox(component(ECHO, before=f"(core module $L {loop}) (core instance (instantiate $L))"), LIMIT),
    ):
        with pytest.raises(FuelExhausted):
            box.start()
    began = time.monotonic()
    with pytest.raises(TimedOut):
        WasmSandbox(core("(i32.const 1)", loop), WasmLimits(fuel=1 << 62, timeout_s=0.2)).start()
    assert time.monotonic() - began < 5


def test_a_start_calls_no_host_function_of_the_grants_while_memories_are_counted() -> None:
    lines: list[str] = []
    more = "(core module $M (memory 1)) (core instance (instantiate $M))"
    box = WasmSandbox(component(f"(call $log (i32.const 1) {INPUT}) {ECHO}", "log", before=more), LIMIT)
    host = PluginHost(log=lambda level, message: lines.append(message))
    assert box.call_tool("t", "once", host=host).text == "once"
    assert lines == ["once"]


def test_a_call_of_the_host_uses_fuel_and_so_does_each_byte() -> None:
    calls = "(loop (drop (call $count)) (br 0)) (i32.const 1)"
    before = f'(import "{CORE}" "http-count" (func $count (result i32)))'
    limits = WasmLimits(fuel=HOST_CALL_FUEL * 50)
    counted: list[int] = []

    class Counting(PluginHost):
        @property
        def grants(self) -> Grants:
            counted.append(1)
            return Grants()

        @grants.setter
        def grants(self, value: Grants) -> None:
            return

    with pytest.raises(FuelExhausted):
        WasmSandbox(core(calls, before), limits).call(host=Counting())
    assert 40 < len(counted) <= 50
    log = component(f"(loop (call $log (i32.const 1) {INPUT}) (br 0)) (i32.const 0)", "log")
    lines: list[str] = []
    with pytest.raises(FuelExhausted):
        WasmSandbox(log, limits).call_tool("t", "x", host=PluginHost(log=lambda _, line: lines.append(line)))
    assert 40 < len(lines) <= 50
    sent: list[bytes] = []
    host = PluginHost(Grants(channel=["a"]), channel_send=lambda _, message: sent.append(message))
    send = f"(loop (call $channel-send (i32.const 40000) {INPUT} (i32.const 2048)) (br 0)) (i32.const 0)"
    with pytest.raises(FuelExhausted):
        WasmSandbox(component(send, "channel-send"), limits).call_tool("t", "x" * 10_000, host=host)
    assert len(sent) < 6
    asked: list[str] = []
    host = PluginHost(graph_query=lambda arguments: asked.append(arguments) or "x" * 10_000)
    query = f"(loop (call $graph-query {INPUT} (i32.const 2048)) (br 0)) (i32.const 0)"
    with pytest.raises(FuelExhausted):
        WasmSandbox(component(query, "graph-query"), limits).call_tool("t", "{}", host=host)
    assert len(asked) < 6


def test_the_entrypoint_of_a_core_module_is_the_export_that_is_called() -> None:
    text = '(module (func (export "run") (result i32) i32.const 1) (func (export "other") (result i32) i32.const 2))'
    module = bytes(wat2wasm(text))
    assert [WasmSandbox(module, entrypoint=name).call() for name in ("run", "other")] == [1, 2]
    with pytest.raises(MissingExport, match="function `third`"):
        WasmSandbox(module, entrypoint="third")
    with pytest.raises(MissingExport, match="of a component is `run`, not `other`"):
        WasmSandbox(component(ECHO), entrypoint="other")


def test_a_large_module_is_read_up_to_the_limit() -> None:
    padding = bytes([0, *b"\xff\xff\xff\x0f", 1, 120])  # a custom section of 32 MiB
    with pytest.raises(CompileError):
        WasmSandbox(core("(i32.const 1)") + padding)
