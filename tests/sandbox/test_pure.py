"""Modules of our own that call nobody: bytes in and out, and what becomes of an instance that stops or grows."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import wasmtime
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox import ModuleStopped, PureInstance, PureModule
from tests.sandbox.test_processes import needs_fork, run

# Bytes given are laid behind the first 64 KiB, which hold what the module was told to remember. The memory grows when
# they need it to, and the module stops when it may not.
SUMS = """
(module
  (memory (export "memory") 1)
  (func (export "room") (param $size i32) (result i32)
    (local $pages i32)
    (local.set $pages
      (i32.sub (i32.div_u (i32.add (local.get $size) (i32.const 131071)) (i32.const 65536)) (memory.size)))
    (if (i32.gt_s (local.get $pages) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $pages)) (i32.const -1)) (then unreachable))))
    (i32.const 65536))
  (func (export "sum") (param $at i32) (param $size i32) (result i32)
    (local $sum i32)
    (block $end (loop $next
      (br_if $end (i32.eqz (local.get $size)))
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $size (i32.sub (local.get $size) (i32.const 1)))
      (br $next)))
    (local.get $sum))
  (func (export "less") (param i32 i32) (result i32) (i32.sub (local.get 0) (local.get 1)))
  (func (export "remember") (param i32) (i32.store (i32.const 0) (local.get 0)))
  (func (export "remembered") (result i32) (i32.load (i32.const 0)))
  (func (export "pages") (result i32) (memory.size))
  (func $deeper (export "deeper") (param i32) (result i32)
    (i32.add (i32.const 1) (call $deeper (i32.add (i32.const 1) (local.get 0)))))
  (func (export "stop") (result i32) unreachable)
  (func (export "divide") (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1))))
"""


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., PureModule]:
    """Makes a module out of text; what comes behind the text goes to `PureModule`."""

    def made(text: str = SUMS, *rest: Callable[[PureInstance], None]) -> PureModule:
        path = tmp_path / "module.wasm"
        path.write_bytes(wasmtime.wat2wasm(text))
        return PureModule("sums", path, *rest)

    return made


@pytest.fixture
def sums(make: Callable[..., PureModule]) -> PureModule:
    return make()


def remember_42(instance: PureInstance) -> None:
    instance.call("remember", 42)


def test_bytes_and_numbers_go_in_and_come_out(sums: PureModule) -> None:
    with sums.ready() as instance:
        at = instance.give(b"\x01\x02\xff")
        assert instance.call("sum", at, 3) == 258
        assert instance.read(at + 1, 2) == b"\x02\xff"
        assert instance.call("less", 3, 10) == -7
        assert instance.call("less", -(1 << 31), 0) == -(1 << 31)
        assert instance.call("remember", 42) == 0
        assert instance.call("remembered") == 42


def test_nothing_is_something_too(sums: PureModule) -> None:
    with sums.ready() as instance:
        assert instance.call("sum", instance.give(b""), 0) == 0
        assert instance.read(0, 0) == b""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> PureModule:
    path = tmp_path_factory.mktemp("shared") / "module.wasm"
    path.write_bytes(wasmtime.wat2wasm(SUMS))
    return PureModule("sums", path)


@settings(deadline=None)
@given(texts=st.lists(st.binary(max_size=200_000), max_size=4))
def test_whatever_is_given_is_what_the_module_has(shared: PureModule, texts: list[bytes]) -> None:
    with shared.ready() as instance:
        for text in texts:
            at = instance.give(text)
            assert instance.read(at, len(text)) == text
            assert instance.call("sum", at, len(text)) == sum(text)


def test_memory_that_grows_and_moves_is_found_again(sums: PureModule) -> None:
    with sums.ready() as instance:
        instance.call("remember", 7)
        for size in (1 << 10, 1 << 20, 20 << 20, 40 << 20):  # beyond what is reserved it is laid elsewhere
            data = bytes([size >> 20]) * size
            at = instance.give(data)
            assert instance.read(at, size) == data
            assert instance.call("sum", at, 1000) == 1000 * (size >> 20)
            assert instance.call("remembered") == 7


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("stop", (), "out of memory"),
        ("deeper", (0,), "Maximum call stack size exceeded"),
        ("divide", (1, 0), "INTEGER_DIVISION_BY_ZERO"),
        ("sum", (0, -1), "MEMORY_OUT_OF_BOUNDS"),
        ("room", (0x7FFF_FFFF,), "out of memory"),
    ],
)
def test_a_module_that_stops_says_so_and_begins_anew(
    make: Callable[..., PureModule], name: str, arguments: tuple[int, ...], why: str
) -> None:
    module = make(SUMS, remember_42)

    def ask() -> None:
        with module.ready() as instance:
            assert instance.call("remembered") == 42
            instance.call("remember", 7)
            instance.call(name, *arguments)

    for _ in range(2):
        with pytest.raises(ModuleStopped, match=f"sums stopped: .*{why}"):
            ask()


def test_an_instance_that_stopped_is_not_called_again_even_by_who_caught_that(sums: PureModule) -> None:
    with sums.ready() as instance:
        instance.call("remember", 7)
        for _ in range(2):
            with pytest.raises(ModuleStopped):
                instance.call("stop")
        with pytest.raises(ModuleStopped, match="cannot be called again"):
            instance.call("remembered")
    with sums.ready() as instance:
        assert instance.call("remembered") == 0


def test_more_than_an_instance_may_have_is_refused_and_the_next_one_is_whole(sums: PureModule) -> None:
    def ask() -> None:
        with sums.ready() as instance:
            instance.call("room", (1 << 30) - (64 << 10))  # to the last page
            assert instance.call("pages") == 1 << 14
            instance.call("room", 1 << 30)

    with pytest.raises(ModuleStopped, match="out of memory"):
        ask()
    with sums.ready() as instance:
        assert instance.call("pages") == 1


def test_an_instance_is_used_again_until_its_memory_has_grown_by_much(make: Callable[..., PureModule]) -> None:
    prepared: list[PureInstance] = []
    module = make(SUMS, prepared.append)
    for size in (100, 1 << 20, 60 << 20, 100):
        with module.ready() as instance:
            instance.call("room", size)
    assert len(prepared) == 1
    with module.ready() as instance:
        instance.give(bytes(70 << 20))
        assert instance.call("pages") > 70 << 4
    with module.ready() as instance:
        assert instance.call("pages") == 1
    assert len(prepared) == 2


def test_an_instance_that_cannot_grow_is_used_again_until_it_was_given_much(make: Callable[..., PureModule]) -> None:
    def prepare(instance: PureInstance) -> None:
        instance.give(bytes(3 << 20))
        prepared.append(instance)

    prepared: list[PureInstance] = []
    module = make(SUMS.replace('"memory") 1', '"memory") 256 256'), prepare)
    for size in (100, 1 << 20, 100, 2 << 20):
        assert len(prepared) <= 1
        with module.ready() as instance:
            instance.give(bytes(size))
            assert instance.call("pages") == 256
    with module.ready():
        assert len(prepared) == 2


def test_what_an_instance_was_prepared_with_does_not_count_as_grown(make: Callable[..., PureModule]) -> None:
    def prepare(instance: PureInstance) -> None:
        instance.give(bytes(70 << 20))
        prepared.append(instance)

    prepared: list[PureInstance] = []
    module = make(SUMS, prepare)
    for _ in range(3):
        with module.ready() as instance:
            assert instance.call("pages") > 70 << 4
    assert len(prepared) == 1


def test_an_instance_in_whose_block_something_went_wrong_is_not_used_again(sums: PureModule) -> None:
    def ask() -> None:
        with sums.ready() as instance:
            instance.call("remember", 7)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask()
    with sums.ready() as instance:
        assert instance.call("remembered") == 0


def test_what_fails_to_be_prepared_is_never_used(make: Callable[..., PureModule]) -> None:
    def prepare(instance: PureInstance) -> None:
        tried.append(instance)
        instance.call("remember", 7)
        if len(tried) < 3:
            instance.call("stop")

    tried: list[PureInstance] = []
    module = make(SUMS, prepare)
    for _ in range(2):
        with pytest.raises(ModuleStopped), module.ready():
            pytest.fail("it was used")
    with module.ready() as instance:
        assert instance is tried[2]
        assert instance.call("remembered") == 7


@pytest.mark.parametrize(
    ("at", "size"), [(0, (1 << 16) + 1), (1 << 16, 1), (-1, 1), (0xFFFF_FFFF, 2), (0, -1), (1 << 15, 1 << 31)]
)
def test_nothing_outside_of_the_memory_is_read(sums: PureModule, at: int, size: int) -> None:
    with sums.ready() as instance:
        assert instance.read(0, 1 << 16) == bytes(1 << 16)
        with pytest.raises(ModuleStopped, match="memory that it does not have"):
            instance.read(at, size)


@pytest.mark.parametrize("place", [1 << 16, (1 << 16) - 3, -1, -(1 << 31)])
def test_a_module_that_lies_about_its_room_is_not_believed(make: Callable[..., PureModule], place: int) -> None:
    lies = f'(module (memory (export "memory") 1) (func (export "room") (param i32) (result i32) i32.const {place}))'
    with make(lies).ready() as instance, pytest.raises(ModuleStopped, match="memory that it does not have"):
        instance.give(b"four")


def test_a_call_with_too_few_numbers_too_many_or_of_no_function_is_a_mistake(sums: PureModule) -> None:
    with sums.ready() as instance:
        assert instance.call("less", 5, 3) == 2
        for arguments in ((), (1,), (1, 2, 3)):
            with pytest.raises(TypeError, match=f"less takes 2 numbers, not {len(arguments)}"):
                instance.call("less", *arguments)
        for name in ("absent", "memory"):
            with pytest.raises(KeyError, match=name):
                instance.call(name)


def test_a_module_that_imports_something_is_refused(make: Callable[..., PureModule]) -> None:
    module = make('(module (import "wasi" "clock" (func)) (memory (export "memory") 1))')
    with pytest.raises(wasmtime.WasmtimeError, match="unknown import"), module.ready():
        pytest.fail("it was used")


@pytest.mark.parametrize("kind", ["(param i64) (result i32)", "(result f64)", "(result i32 i32)"])
def test_a_module_whose_functions_take_other_things_is_refused(make: Callable[..., PureModule], kind: str) -> None:
    module = make(f'(module (memory (export "memory") 1) (func (export "odd") {kind} unreachable))')
    with pytest.raises(TypeError, match="odd takes or returns something else"), module.ready():
        pytest.fail("it was used")


def test_a_module_that_the_build_did_not_make_says_how_to_make_it(tmp_path: Path) -> None:
    module = PureModule("reader", tmp_path / "reader.wasm")
    with pytest.raises(FileNotFoundError, match=r"reader\.wasm is missing from .*hatch_build\.py"), module.ready():
        pytest.fail("it was used")


def test_threads_take_turns_with_one_instance(make: Callable[..., PureModule]) -> None:
    prepared: list[PureInstance] = []
    module = make(SUMS, prepared.append)
    together = threading.Barrier(6, timeout=60)
    wrong: list[object] = []

    def ask(number: int) -> None:
        together.wait()
        for size in range(100):
            with module.ready() as instance:
                instance.call("remember", number)
                found = instance.call("sum", instance.give(bytes([number]) * size), size), instance.call("remembered")
            if found != (number * size, number):
                wrong.append(found)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(prepared) == 1


def test_a_thread_with_the_smallest_usual_stack_can_call_until_the_module_has_none_left(sums: PureModule) -> None:
    told: list[str] = []

    def ask() -> None:
        try:
            with sums.ready() as instance:
                instance.call("deeper", 0)
        except ModuleStopped as error:
            told.append(str(error))

    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=ask)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert told == ["sums stopped: Maximum call stack size exceeded"]


# What each of the programs below begins with: a module that knows 42.
BEGIN = f"""
import os, signal, sys, threading
from pathlib import Path
from cortex_sandbox import ModuleStopped, PureModule
heavy = sorted({{"wasmtime", "ctypes"}} & set(sys.modules))
import wasmtime
path = Path(os.environ["MODULE"])
path.write_bytes(wasmtime.wat2wasm({SUMS!r}))
module = PureModule("sums", path, lambda instance: instance.call("remember", 42))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Runs a program that begins with `BEGIN`, where nothing was compiled before."""
    monkeypatch.setenv("MODULE", str(tmp_path / "module.wasm"))
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(tmp_path / "cache"))
    return lambda source: run(BEGIN + textwrap.dedent(source))


def test_nothing_of_the_engine_is_imported_before_it_is_needed(program: Callable[[str], str]) -> None:
    assert program("print(heavy)") == "[]"


@needs_fork
def test_a_fork_takes_an_idle_instance_along(program: Callable[[str], str]) -> None:
    printed = program("""
        with module.ready() as instance:
            instance.call("remember", 7)
        child = os.fork()
        if child == 0:
            with module.ready() as instance:
                found = instance.call("remembered"), instance.call("sum", instance.give(b"ab"), 2)
                instance.call("remember", 8)
            os._exit(0 if found == (7, 195) else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        with module.ready() as instance:
            print(instance.call("remembered"))
    """)
    assert printed.split() == ["0", "7"]


@needs_fork
def test_a_fork_leaves_an_instance_that_is_in_use_to_the_parent(program: Callable[[str], str]) -> None:
    printed = program("""
        entered, leave = threading.Event(), threading.Event()
        def hold():
            with module.ready() as instance:
                instance.call("remember", 7)
                entered.set()
                leave.wait(60)
                print(instance.call("remembered"))
        thread = threading.Thread(target=hold)
        thread.start()
        entered.wait(60)
        child = os.fork()
        if child == 0:
            with module.ready() as instance:
                os._exit(instance.call("remembered"))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        leave.set()
        thread.join()
        with module.ready() as instance:
            print(instance.call("remembered"))
    """)
    assert printed.split() == ["42", "7", "7"]


@needs_fork
def test_a_child_that_was_forked_inside_a_block_has_that_instance_until_the_block_ends(
    program: Callable[[str], str],
) -> None:
    printed = program("""
        with module.ready() as instance:
            instance.call("remember", 7)
            child = os.fork()
            found = instance.call("remembered")
        with module.ready() as instance:
            found += instance.call("remembered")
        if child == 0:
            os._exit(found)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), found)
    """)
    assert printed == "14 14"


@needs_fork
def test_a_child_compiles_a_module_whose_parent_compiled_others(program: Callable[[str], str]) -> None:
    printed = program("""
        wasmtime.Module(wasmtime.Engine(), path.read_bytes())  # by threads that do not survive the fork
        child = os.fork()
        if child == 0:
            with module.ready() as instance:
                os._exit(instance.call("remembered"))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert printed == "42"


def test_the_interpreter_ends_while_threads_are_inside(program: Callable[[str], str]) -> None:
    printed = program("""
        begun = threading.Semaphore(0)
        def ask():
            while True:
                with module.ready() as instance:
                    instance.call("sum", instance.give(bytes(1 << 20)), 1 << 20)
                begun.release()
        for _ in range(3):
            threading.Thread(target=ask, daemon=True).start()
        for _ in range(3):
            begun.acquire()
        print("end")
    """)
    assert printed == "end"


def test_a_keyboard_interrupt_on_the_main_thread_is_raised_as_anywhere(program: Callable[[str], str]) -> None:
    printed = program("""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with module.ready():  # what is deleted on the way to it must not be what is interrupted
            pass
        for _ in range(3):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                while True:
                    with module.ready() as instance:
                        instance.call("remember", 7)
                        instance.call("sum", instance.give(bytes(1 << 20)), 1 << 20)
                        instance.call("remember", 42)
            except KeyboardInterrupt:
                with module.ready() as instance:
                    print(instance.call("remembered"))
    """)
    assert printed.split() == ["42"] * 3
