"""What a program finds inside its module: memory up to its limit, a clock that counts, a stack to begin with."""

from __future__ import annotations

from typing import Any

import pytest
import wasmtime

from cortex_sandbox.engine import BUNDLER_MEMORY_BYTES
from cortex_sandbox.guests import read_guest
from cortex_sandbox.wasm_format import imported_functions, read_uleb, sections
from cortex_sandbox.wasm_inside import with_first_stacks, with_memory_and_clock

# As Go's assembler writes them: the stack pointer is a global; a function takes its return address off the stack.
LEAVE = """
    local.get 1 i32.const 8 i32.add local.tee 1 global.set $sp i32.const 0 return unreachable"""
SIZE = f"""
  (func $size (param i32) (result i32) (local i32)
    global.get $sp local.set 1 local.get 1 memory.size i32.store offset=8 {LEAVE})"""
GROW = f"""
  (func $grow (param i32) (result i32) (local i32)
    global.get $sp local.set 1
    local.get 1 local.get 1 i32.load offset=8 memory.grow i32.store offset=16 {LEAVE})"""
CLOCK = f"""
  (func $clock (param i32) (result i32) (local i32 i64)
    global.get $sp local.set 1
    local.get 1 i32.load offset=8 local.get 1 i64.load offset=16 local.get 1 i32.load offset=24 call $clock_time_get
    global.get $sp local.set 1
    i64.extend_i32_u local.set 2 local.get 1 local.get 2 i64.store32 offset=32 {LEAVE})"""
STACKS = """
  (func $stacks (param $set i32)
    i64.const 1000 i32.wrap_i64 i64.const 2048 i64.store32)"""


def program(*functions: str, first_stack: str = "\\00\\08\\00\\00") -> bytes:
    """A module of functions as Go has them; `ask` calls one of the first three with its stack at 512."""
    names = [name for name in ("$size", "$grow", "$clock") if any(f"(func {name} " in text for text in functions)]
    return bytes(
        wasmtime.wat2wasm(f"""
(module
  (import "env" "other" (func $other))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (memory (export "memory") 2 100)
  (global $sp (mut i32) (i32.const 512))
  (data (i32.const 990) "0123456789{first_stack}6789")
  {" ".join(functions)}
  (table funcref (elem {" ".join(names)}))
  (func (export "ask") (param i32) (result i32)
    i32.const 512 global.set $sp i32.const 0 local.get 0 call_indirect (param i32) (result i32))
  (func (export "stack") (result i32) global.get $sp))
""")
    )


WHOLE = program(SIZE, GROW, CLOCK, STACKS)
ENGINE = wasmtime.Engine()
SIZE_OF, GROW_BY, CLOCK_TIME = 0, 1, 2


class Program:
    """An instance, and what it is asked: parameters and results lie on its stack."""

    def __init__(self, module: bytes) -> None:
        self.store = wasmtime.Store(ENGINE)
        linker = wasmtime.Linker(ENGINE)
        i32, i64 = wasmtime.ValType.i32(), wasmtime.ValType.i64()
        linker.define_func("env", "other", wasmtime.FuncType([], []), lambda: None)
        kind = wasmtime.FuncType([i32, i64, i32], [i32])
        linker.define_func("wasi_snapshot_preview1", "clock_time_get", kind, self.refuse)
        self.exports: Any = linker.instantiate(self.store, wasmtime.Module(ENGINE, module)).exports(self.store)
        self.memory = self.exports["memory"]

    def refuse(self, *_parameters: int) -> int:
        raise AssertionError("the host was asked for the time")

    def put(self, place: int, value: int, size: int = 4) -> None:
        self.memory.write(self.store, value.to_bytes(size, "little"), place)

    def number(self, place: int, size: int = 4) -> int:
        return int.from_bytes(self.memory.read(self.store, place, place + size), "little")

    def ask(self, function: int) -> None:
        assert self.exports["ask"](self.store, function) == 0
        assert self.exports["stack"](self.store) == 520

    def size(self) -> int:
        self.ask(SIZE_OF)
        return self.number(520)

    def grow(self, pages: int) -> int:
        self.put(520, pages)
        self.ask(GROW_BY)
        return self.number(528)

    def time(self, place: int = 2000) -> int:
        self.put(536, place)
        self.put(544, 0xFFFFFFFF)
        self.ask(CLOCK_TIME)
        assert self.number(544) == 0
        return self.number(place, 8)


def test_memory_grows_as_it_would_have_up_to_the_limit() -> None:
    plain, inside = Program(WHOLE), Program(with_memory_and_clock(WHOLE, 100))
    for pages in (0, 1, 7, 91, 90, 1, 0, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 65536):
        assert inside.grow(pages) == plain.grow(pages)
        assert inside.size() == plain.size()
    assert inside.size() == 100
    assert inside.grow(1) == 0xFFFFFFFF


def test_memory_has_its_final_size_from_the_start_and_cannot_have_more() -> None:
    inside = Program(with_memory_and_clock(WHOLE, 100))
    assert inside.memory.size(inside.store) == 100
    with pytest.raises(wasmtime.WasmtimeError):
        inside.memory.grow(inside.store, 1)
    assert inside.memory.read(inside.store, 990, 1000) == b"0123456789"


def test_the_clock_goes_on_with_every_look_and_asks_nobody() -> None:
    inside = Program(with_memory_and_clock(WHOLE, 100))
    assert [inside.time(), inside.time(3001), inside.time()] == [1000, 2000, 3000]


def test_two_instances_see_the_same_times() -> None:
    module = with_memory_and_clock(WHOLE, 100)
    first, second = Program(module), Program(module)
    assert [first.time() for _ in range(50)] == [second.time() for _ in range(50)]


def test_a_time_that_is_to_be_put_outside_of_the_memory_ends_the_program() -> None:
    inside = Program(with_memory_and_clock(WHOLE, 100))
    inside.put(536, 100 * 65536 - 7)
    with pytest.raises(wasmtime.Trap):
        inside.exports["ask"](inside.store, CLOCK_TIME)


@pytest.mark.parametrize("functions", [(SIZE, GROW), (SIZE, CLOCK), (GROW, CLOCK), (SIZE, GROW, GROW, CLOCK)])
def test_a_program_that_lacks_one_of_the_functions_or_has_one_twice_is_refused(functions: tuple[str, ...]) -> None:
    twice = [text.replace("$grow", "$again") if text in functions[:at] else text for at, text in enumerate(functions)]
    with pytest.raises(ValueError, match="as Go does"):
        with_memory_and_clock(program(*twice), 100)


def test_a_program_that_differs_in_one_byte_is_refused() -> None:
    with pytest.raises(ValueError, match="as Go does"):
        with_memory_and_clock(program(SIZE, GROW.replace("offset=16", "offset=24"), CLOCK), 100)


def test_a_program_that_has_more_memory_than_the_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 pages already"):
        with_memory_and_clock(WHOLE, 1)


@pytest.mark.parametrize("size", [4096, 16384, 65536])
def test_the_first_stack_has_the_size_that_was_asked_for_and_nothing_else_changes(size: int) -> None:
    changed = Program(with_first_stacks(WHOLE, size))
    assert changed.number(1000) == size
    assert changed.memory.read(changed.store, 990, 1008).replace(size.to_bytes(4, "little"), b"") == b"01234567896789"


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (program(SIZE, GROW, CLOCK), "0 places"),
        (program(SIZE, GROW, CLOCK, STACKS, STACKS.replace("$stacks", "$more")), "2 places"),
        (program(SIZE, GROW, CLOCK, STACKS, first_stack="\\00\\10\\00\\00"), "not 2048 bytes"),
        (program(SIZE, GROW, CLOCK, STACKS.replace("1000", "4000")), "not 2048 bytes"),
    ],
)
def test_a_program_that_does_not_show_where_its_first_stack_is_set_is_refused(module: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        with_first_stacks(module, 16384)


def test_the_bundlers_image_has_all_its_memory_and_no_way_to_ask_the_host_for_time() -> None:
    guest = read_guest("esbuild.wasm")
    found = dict(sections(guest))
    limit = BUNDLER_MEMORY_BYTES >> 16
    flags, (least, rest) = found[5][1], read_uleb(found[5], 2)
    assert (flags, least, read_uleb(found[5], rest)[0]) == (1, limit, limit)
    clock = imported_functions(guest).index(b"clock_time_get")
    asks = bytes.fromhex("20012802082001290310200128021810") + bytes([clock])
    assert asks not in found[10]
