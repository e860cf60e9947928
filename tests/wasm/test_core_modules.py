"""`WasmSandbox` with core modules: the ABI, its limits, and what is refused."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wasmtime import wat2wasm

from cortex_sandbox.engine.cache import cache_folder
from cortex_sandbox.errors import (
    CompileError,
    FuelExhausted,
    MemoryLimit,
    MissingExport,
    SandboxError,
    TimedOut,
    Trap,
)
from cortex_sandbox.wasm import Grants, PluginHost, WasmLimits, WasmSandbox, make_component
from cortex_sandbox.wasm.wasm_limits import MAX_MODULE_BYTES
from tests.wasm.modules import CORE, core

SMALL = WasmLimits(fuel=100_000, memory_bytes=1 << 20, timeout_s=20)
ENDLESS = "(loop (br 0)) (i32.const 1)"
ALL = "".join(
    f'(import "{CORE}" "{kind}-count" (func ${kind}c (result i32)))'
    f'(import "{CORE}" "{kind}-handle" (func ${kind}h (param i32) (result i32)))'
    for kind in ("http", "secret", "storage", "channel")
)


def run(body: str, before: str = "", limits: WasmLimits = SMALL, host: PluginHost | None = None) -> int:
    return WasmSandbox(core(body, before), limits, host).call()


GRANTS = Grants(http=["b.test", "a.test", "b.test"], secret=["s/k"], storage=[], channel=["x", "y", "z"])


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("(call $httpc)", 2),
        ("(call $secretc)", 1),
        ("(call $storagec)", 0),
        ("(call $channelc)", 3),
        ("(call $httph (i32.const 0))", 10_000),
        ("(call $httph (i32.const 1))", 10_001),
        ("(call $httph (i32.const 2))", -1),
        ("(call $httph (i32.const -1))", -1),
        ("(call $secreth (i32.const 0))", 20_000),
        ("(call $storageh (i32.const 0))", -1),
        ("(call $channelh (i32.const 2))", 40_002),
        ("(call $channelh (i32.const 0x7fffffff))", -1),
    ],
)
def test_counts_and_handles_are_those_of_the_sorted_grants(body: str, result: int) -> None:
    assert run(body, ALL, host=PluginHost(GRANTS)) == result


def test_a_handle_names_its_grant_and_no_other() -> None:
    assert [GRANTS.granted("http", handle) for handle in (9_999, 10_000, 10_001, 10_002, 20_000)] == [
        None,
        "a.test",
        "b.test",
        None,
        None,
    ]


def test_nothing_stays_from_one_call_to_the_next() -> None:
    count = (
        "(i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1))) (i32.load (i32.const 0)) "
        "(global.set 0 (i32.add (global.get 0) (i32.const 10))) (global.get 0) (i32.add)"
    )
    box = WasmSandbox(core(count, "(memory 1) (global (mut i32) (i32.const 0))"), SMALL)
    assert [box.call() for _ in range(3)] == [11, 11, 11]


@pytest.mark.parametrize(
    ("body", "before", "error", "text"),
    [
        (ENDLESS, "", FuelExhausted, "fuel of 100000"),
        ("(i32.const 1)", "(start $s) (func $s (loop (br 0)))", FuelExhausted, "fuel"),
        ("unreachable", "", Trap, "unreachable"),
        ("(i32.div_u (i32.const 1) (i32.const 0))", "", Trap, "integer divide by zero"),
        ("(i32.load (i32.const -1))", "(memory 1)", Trap, "out of bounds memory access"),
        ("(call_indirect (result i32) (i32.const 9))", "(table 1 funcref)", Trap, "undefined element"),
        ("(i32.const 1)", "(start $s) (func $s unreachable)", Trap, "unreachable"),
        ("(i32.const 1)", "(memory 17)", MemoryLimit, "1048576 bytes"),
        ("(i32.const 1)", "(memory 1) (memory 1) (memory 1) (memory 1) (memory 1)", MemoryLimit, "up to 4 memories"),
        ("(i32.const 1)", "(table 100001 funcref)", MemoryLimit, "100000 elements"),
        ("(drop (memory.grow (i32.const 14))) unreachable", '(memory (export "memory") 1)', MemoryLimit, "983040 of"),
        ("(drop (memory.grow (i32.const 1))) unreachable", '(memory (export "memory") 1)', Trap, "unreachable"),
    ],
)
def test_each_limit_and_each_trap_is_an_error_of_its_own(
    body: str, before: str, error: type[SandboxError], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        run(body, before)
    assert type(caught.value) is error


def test_runaway_recursion_is_a_trap() -> None:
    with pytest.raises(Trap, match="call stack exhausted"):
        run("(call $f)", "(func $f (result i32) (call $f) (i32.add (i32.const 1)))", WasmLimits(fuel=10**9))


def test_memory_beyond_the_limit_cannot_be_had() -> None:
    assert run("(memory.grow (i32.const 16))", "(memory 1)") == -1
    assert run("(memory.grow (i32.const 15))", "(memory 1)") == 1


@pytest.mark.parametrize("before", ["", "(start $s) (func $s (loop (br 0)))"])
def test_a_module_that_runs_on_is_stopped_at_its_time(before: str) -> None:
    body = "(i32.const 1)" if before else ENDLESS
    with pytest.raises(TimedOut, match=r"longer than 0\.05 s"):
        run(body, before, WasmLimits(fuel=1 << 62, timeout_s=0.05))


def test_modules_run_on_many_threads_at_once() -> None:
    box = WasmSandbox(core("(call $httph (i32.const 1))", ALL), SMALL, PluginHost(GRANTS))
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.extend(box.call() for _ in range(5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [10_001] * 20


@pytest.mark.parametrize(
    ("before", "named"),
    [
        ('(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))', "fd_write"),
        ('(import "wasi_snapshot_preview1" "path_open" (func))', "wasi_snapshot_preview1#path_open"),
        ('(import "wasi_snapshot_preview1" "environ_get" (func (param i32 i32) (result i32)))', "environ_get"),
        ('(import "wasi_snapshot_preview1" "sock_send" (func))', "sock_send"),
        ('(import "env" "memory" (memory 1))', "env#memory"),
        (f'(import "{CORE}" "http-fetch" (func))', "http-fetch"),
        (f'(import "{CORE}" "graph-count" (func (result i32)))', "graph-count"),
        (f'(import "{CORE[:-1]}1" "http-count" (func (result i32)))', "@0.1.1#http-count"),
        (f'(import "{CORE}" "http-count" (global i32))', "http-count' with another type"),
        (f'(import "{CORE}" "http-count" (func (result i64)))', "http-count' with another type"),
        (f'(import "{CORE}" "http-handle" (func (result i32)))', "http-handle' with another type"),
    ],
)
def test_an_import_that_is_not_granted_to_modules_is_refused_by_name(before: str, named: str) -> None:
    with pytest.raises(CompileError, match=named) as caught:
        WasmSandbox(core("(i32.const 1)", before))
    assert (caught.value.name, caught.value.code) == ("ImportRefused", "compile_error")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('(export "go" (func 0))', "does not export a function `run`"),
        ('(export "run" (global 0)) (global i32 (i32.const 1))', "not a function"),
        ('(export "run" (func 0))', r"not a function \(\) -> i32"),
    ],
)
def test_a_module_without_run_is_refused(text: str, reason: str) -> None:
    from wasmtime import wat2wasm

    with pytest.raises(MissingExport, match=reason):
        WasmSandbox(bytes(wat2wasm(f"(module (func (param i32)) {text})")))


def test_a_core_module_has_no_tools() -> None:
    with pytest.raises(MissingExport, match="core module"):
        WasmSandbox(core("(i32.const 1)")).call_tool("a", "{}")


def test_modules_that_are_too_large_or_export_too_much_are_refused() -> None:
    with pytest.raises(CompileError, match="33554432 are allowed"):
        WasmSandbox(core("(i32.const 1)") + bytes(MAX_MODULE_BYTES))
    exports = "".join(f'(export "e{n}" (func $f))' for n in range(128))
    with pytest.raises(CompileError, match="exports 129 functions; 128 are allowed"):
        WasmSandbox(core("(i32.const 1)", f"(func $f) {exports}"))


@pytest.mark.parametrize(
    "before",
    ["(memory i64 1)", "(memory 1 1 shared)", "(type (struct))", "(tag)"],
    ids=["memory64", "threads", "gc", "exceptions"],
)
def test_features_that_the_limits_do_not_bound_are_refused(before: str) -> None:
    with pytest.raises(CompileError, match="not a WebAssembly module that runs here"):
        WasmSandbox(core("(i32.const 1)", before))


def test_the_compiled_code_is_kept_by_the_hash_of_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(tmp_path / "code"))
    assert run("(i32.const 7)") == 7
    folder = cache_folder()
    assert folder is not None
    (kept,) = folder.glob("tool-*.cwasm")
    before = kept.stat().st_mtime_ns
    assert (run("(i32.const 7)"), kept.stat().st_mtime_ns) == (7, before)
    assert run("(i32.const 8)") == 8
    assert len(list(folder.glob("tool-*.cwasm"))) == 2


@given(st.binary(max_size=64))
@settings(max_examples=100, deadline=None)
def test_random_bytes_are_a_compile_error(data: bytes) -> None:
    for module in (data, b"\0asm\1\0\0\0" + data):
        try:
            WasmSandbox(module)
        except (CompileError, MissingExport):
            continue
        raise AssertionError(module)


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_a_module_with_changed_bytes_ends_in_a_typed_error_or_runs(data: st.DataObject) -> None:
    module = bytearray(core("(call $httpc)", ALL + '(memory (export "memory") 1)'))
    for _ in range(data.draw(st.integers(1, 3))):
        module[data.draw(st.integers(8, len(module) - 1))] = data.draw(st.integers(0, 255))
    with suppress(CompileError, MissingExport, FuelExhausted, MemoryLimit, Trap):
        assert isinstance(WasmSandbox(bytes(module), SMALL).call(), int)


@pytest.mark.parametrize(
    "wrong",
    [
        {"fuel": 0},
        {"memory_bytes": 1000},
        {"memory_bytes": 1 << 30},
        {"timeout_s": 0},
        {"table_elements": -1},
        {"instances": 0},
        {"transfer_bytes": 10},
    ],
)
def test_invalid_limits_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        WasmLimits(**wrong)


@pytest.mark.parametrize(
    "module",
    [
        f'(module (import "{CORE}" "http-count" (func (result v128))) (func (export "run") (result i32) i32.const 0))',
        '(module (func (export "run") (result v128) unreachable))',
        '(module (func (export "run") (result i32) (i32.const 0)) (global (export "g") v128 (v128.const i64x2 0 0)))',
    ],
)
def test_a_type_with_v128_is_refused_and_does_not_end_the_process(module: str) -> None:
    with pytest.raises(CompileError):
        WasmSandbox(wat2wasm(module))
    with pytest.raises(CompileError):
        make_component(wat2wasm(module))
