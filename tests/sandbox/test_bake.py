"""Baking: the new module starts with the given memory, and is otherwise unchanged."""

from __future__ import annotations

from typing import Any

import pytest
import wasmtime
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox.engine.bake import PAGE, bake

WAT = """
(module
  (import "env" "notify" (func $notify (param i32)))
  (memory (export "memory") 1 8)
  (global $own (export "own") (mut i32) (i32.const 7))
  (data (i32.const 16) "hello")
  (data (i32.const 70) "\\01\\02")
  (func (export "read") (param i32) (result i32) local.get 0 i32.load8_u)
  (func (export "grow") (result i32) i32.const 1 memory.grow))
"""
MODULE = bytes(wasmtime.wat2wasm(WAT))
ENGINE = wasmtime.Engine()
STRETCHES = st.lists(st.tuples(st.integers(0, 2 * PAGE - 200), st.binary(min_size=1, max_size=200)), max_size=20)


def start(module: bytes) -> tuple[wasmtime.Store, Any]:
    store = wasmtime.Store(ENGINE)
    linker = wasmtime.Linker(ENGINE)
    linker.define_func("env", "notify", wasmtime.FuncType([wasmtime.ValType.i32()], []), lambda _: None)
    exports: Any = linker.instantiate(store, wasmtime.Module(ENGINE, module)).exports(store)
    return store, exports


def memory_of(module: bytes) -> bytes:
    store, exports = start(module)
    return bytes(exports["memory"].read(store))


@given(STRETCHES, st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_the_image_starts_with_the_given_memory(stretches: list[tuple[int, bytes]], pages: int) -> None:
    memory = bytearray(pages * PAGE)
    for offset, data in stretches:
        at = offset % (len(memory) - len(data))
        memory[at : at + len(data)] = data
    assert memory_of(bake(MODULE, bytes(memory), {})) == bytes(memory)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=10).filter(lambda n: n not in ("own", "memory", "read", "grow")),
        st.integers(0, 2**31 - 1),
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None)
def test_constants_are_exported_globals_beside_those_of_the_module(constants: dict[str, int]) -> None:
    store, exports = start(bake(MODULE, bytes(PAGE), constants))
    assert {name: exports[name].value(store) for name in constants} == constants
    assert exports["own"].value(store) == 7
    assert exports["read"](store, 16) == 0


def test_code_imports_and_the_memory_limit_are_unchanged() -> None:
    memory = bytearray(3 * PAGE)
    memory[16:21] = b"world"
    memory[-1] = 9
    store, exports = start(bake(MODULE, bytes(memory), {"x": 5}))
    assert exports["read"](store, 16) == ord("w")
    assert exports["read"](store, 70) == 0
    assert exports["read"](store, 3 * PAGE - 1) == 9
    assert exports["grow"](store) == 3
    for _ in range(4):
        exports["grow"](store)
    assert exports["grow"](store) == -1


def test_a_memory_of_fixed_size_is_zero_after_the_image_and_never_grows() -> None:
    store, exports = start(bake(MODULE, b"\1" * PAGE, {"x": 5}, final_pages=3))
    memory = bytes(exports["memory"].read(store))
    assert memory == b"\1" * PAGE + bytes(2 * PAGE)
    assert exports["grow"](store) == -1
    assert exports["x"].value(store) == 5


def test_a_memory_larger_than_its_fixed_size_is_refused() -> None:
    with pytest.raises(ValueError, match="3 pages cannot be baked into one of 2"):
        bake(MODULE, bytes(3 * PAGE), {}, final_pages=2)


def test_baking_twice_gives_the_second_memory() -> None:
    first = bake(MODULE, b"\1" * PAGE, {"a": 1})
    second = bake(first, b"\0\2" * (PAGE // 2), {"b": 2})
    assert memory_of(second) == b"\0\2" * (PAGE // 2)
    store, exports = start(second)
    assert (exports["a"].value(store), exports["b"].value(store)) == (1, 2)


def test_a_memory_of_zeros_needs_no_data() -> None:
    assert len(bake(MODULE, bytes(8 * PAGE), {})) <= len(MODULE)


@pytest.mark.parametrize(
    "wat",
    [
        '(module (memory 1) (global i32 (i32.const 0)) (export "m" (memory 0)) (func $f) (start $f))',
        '(module (memory 1) (global i32 (i32.const 0)) (export "m" (memory 0)) (data "passive"))',
        '(module (memory i64 1) (global i32 (i32.const 0)) (export "m" (memory 0)) (data (i64.const 0) "x"))',
        '(module (memory 1) (memory 1) (global i32 (i32.const 0)) (export "m" (memory 0)) (data (i32.const 0) "x"))',
        '(module (import "e" "g" (global i32)) (memory 1) (export "m" (memory 0)) (data (global.get 0) "x"))',
    ],
)
def test_a_module_that_cannot_be_baked_correctly_is_refused(wat: str) -> None:
    with pytest.raises(ValueError, match=r"baked|only"):
        bake(bytes(wasmtime.wat2wasm(wat)), bytes(PAGE), {})


@pytest.mark.parametrize(("module", "memory"), [(b"", b""), (b"\0asm\2\0\0\0", b""), (MODULE, b"\0" * 100)])
def test_bytes_that_are_not_a_module_or_a_memory_are_refused(module: bytes, memory: bytes) -> None:
    with pytest.raises(ValueError, match="not a core"):
        bake(module, memory, {})


def test_a_memory_that_is_too_scattered_is_refused() -> None:
    with pytest.raises(ValueError, match="scattered"):
        bake(MODULE, (b"\1" + bytes(63)) * (110 * 1024), {})
