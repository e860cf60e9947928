"""The WebAssembly engines of this process.

Rules kept here:
- one engine per stack depth, shared by every sandbox, made when first needed;
- `signals_based_traps` is off: a plugin does not own the signal handlers of its process. The engine of esbuild has
  guard pages and traps by signals, and is made only in the process of esbuild (`esbuild/program.py`);
- a guest never gets more native stack than its thread has (`INLINE_STACK_BYTES`, `threads.py`), and never runs on the
  main thread, where signals are handled;
- only `engine.py`, `instance.py`, `timed_store.py`, `linker.py` and `component_import.py` use `wasmtime._ffi`: it
  mirrors the documented C API, the version is pinned.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from functools import cache
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from cortex_sandbox.engine.clock import Ticker
from cortex_sandbox.engine.native_code import compile_apart
from cortex_sandbox.engine.portable import compile_portably
from cortex_sandbox.engine.threads import DEEP_STACK_BYTES, ThreadPool, stack_size

# Guests with stacks up to this size run on the caller's thread, others on deep threads. The largest native stack
# measured at 256 KiB (a chain of proxies) is between 3.5 and 4.5 MB; threads have 8 MB by default.
INLINE_STACK_BYTES = 256 << 10
_INLINE_NATIVE = 4608 << 10
_INLINE_THREAD = 7 << 20  # the rest above the guest's part is for Python and host functions
_DEEP_NATIVE = 20 << 20
# Memory up to this size grows in place. This reserves address space only.
_RESERVATION = 16 << 20
# With guard pages: every address that a guest can form, so that no access is checked. Address space, too.
_EVERY_ADDRESS, _GUARD = 4 << 30, 32 << 20
BUNDLER_MEMORY_BYTES = 1 << 30
# The kinds of engines; a number, since it is passed to the process that compiles.
GUESTS, FOREIGN, BUNDLER = range(3)

# The same C function, called with the interpreter lock held: it is short, and getting the lock back on a busy host can
# take far longer.
_increment_epoch = ctypes.PyDLL(ffi.dll._name).wasmtime_engine_increment_epoch
_increment_epoch.restype, _increment_epoch.argtypes = None, ffi.dll.wasmtime_engine_increment_epoch.argtypes

deep_threads = ThreadPool(DEEP_STACK_BYTES)


_portable = 0


def compile_for_all() -> None:
    """Make the code that this process lacks for every processor of this architecture: for the build of a wheel."""
    global _portable
    _portable = 1


class Engine:
    """A wasmtime engine with the settings of this project.

    Args:
        native_stack: the native stack that a guest may use, in bytes.
        kind: `GUESTS`; `FOREIGN`: its modules come from outside (`foreign_engine`), not from the build of this package;
            `BUNDLER`: with guard pages, and without a deadline.
        portable: whether its code runs on every processor with the features of `portable.py`; None for the choice of
            this process.
    """

    def __init__(self, native_stack: int, kind: int = GUESTS, portable: int | None = None) -> None:
        self.dimensions = native_stack, kind, _portable if portable is None else int(portable)
        self.settings = SETTINGS[kind]
        self.wasm = wasm = wasmtime.Engine(_config(*self.dimensions))
        self.clock = Ticker(lambda: _increment_epoch(wasm.ptr()))

    def compile(self, wasm: bytes) -> wasmtime.Module:
        """A module, compiled for this engine by another process: what is compiled here keeps up to 0.9 GB of memory.

        Raises:
            SandboxError: as `compile_apart`.
        """
        return wasmtime.Module.deserialize(self.wasm, compile_apart(self.dimensions, wasm))


# The settings that the compiled code depends on; part of the key of the code cache.
_PLAIN = f"epoch,no-signals,cow,reserve{_RESERVATION >> 20}m,guard0"
SETTINGS = {GUESTS: _PLAIN, FOREIGN: f"{_PLAIN},foreign", BUNDLER: "no-epoch,signals,cow,reserve4g,guard32m"}


def _config(native_stack: int, kind: int, portable: int) -> wasmtime.Config:
    config = wasmtime.Config()
    guarded = kind == BUNDLER
    config.epoch_interruption = not guarded
    config.signals_based_traps = guarded
    config.memory_init_cow = True
    config.memory_reservation = _EVERY_ADDRESS if guarded else _RESERVATION
    config.memory_reservation_for_growth = 0 if guarded else _RESERVATION
    config.memory_guard_size = _GUARD if guarded else 0
    if sys.platform == "darwin":  # a forked child has no thread for Mach exceptions
        ffi.wasmtime_config_macos_use_mach_ports_set(config.ptr(), False)
    # wasmtime requires that its fibers, which are not used here, have more stack than a guest.
    ffi.wasmtime_config_async_stack_size_set(config.ptr(), native_stack + (1 << 20))
    config.max_wasm_stack = native_stack
    if portable:
        compile_portably(config)
    if kind == FOREIGN:
        config.consume_fuel = True
        config.parallel_compilation = False
        # What `Store.set_limits` does not bound, or no compiler of tools emits.
        config.wasm_threads = config.shared_memory = False
        config.gc_support = config.wasm_gc = config.wasm_function_references = config.wasm_exceptions = False
        # The C interface ends the process when it reads a type with v128.
        config.wasm_simd = config.wasm_relaxed_simd = False
        config.wasm_stack_switching = config.wasm_memory64 = config.wasm_custom_page_sizes = False
        ffi.wasmtime_config_wasm_component_model_async_set(config.ptr(), False)
    return config


_making = threading.Lock()
os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)


@cache
def _engine(native_stack: int, kind: int = GUESTS) -> Engine:
    return Engine(native_stack, kind)


def engine_for(stack_bytes: int) -> Engine:
    """The engine for guests with this much stack."""
    with _making:
        return _engine(_INLINE_NATIVE if stack_bytes <= INLINE_STACK_BYTES else _DEEP_NATIVE)


def fits_here(stack_bytes: int) -> bool:
    """Whether a guest with this much stack may run on the calling thread, if no other guest runs on it.

    Never on the main thread: a signal handler (Ctrl-C) could raise an exception at the start of a callback, before its
    `try`, and ctypes would return an undefined result to the engine.
    """
    needed = _INLINE_THREAD if stack_bytes <= INLINE_STACK_BYTES else DEEP_STACK_BYTES
    return stack_size() >= needed and threading.get_ident() != threading.main_thread().ident


def bundler_dimensions() -> tuple[int, ...]:
    """Of the engine of esbuild, which runs on deep threads."""
    return _DEEP_NATIVE, BUNDLER, _portable


def foreign_engine() -> Engine:
    """The engine of modules from outside: it counts fuel; no threads, no garbage collection, no SIMD.

    Its guests need as much native stack as those of `engine_for(INLINE_STACK_BYTES)`.
    """
    with _making:
        return _engine(_INLINE_NATIVE, FOREIGN)


def function_type(params: str, results: str = "") -> wasmtime.FuncType:
    """A function type, with a letter per value: `i` for i32, `I` for i64."""
    kinds = {"i": wasmtime.ValType.i32, "I": wasmtime.ValType.i64}
    return wasmtime.FuncType([kinds[c]() for c in params], [kinds[c]() for c in results])


def raise_if_error(error: Any) -> None:
    """Raise the error that a function of the C API returned, if any.

    Raises:
        wasmtime.WasmtimeError: when `error` is not null.
    """
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)


def constants_of(engine: Engine, pre: wasmtime.InstancePre) -> dict[str, int]:
    """The values of the globals that a module exports, by name."""
    store = wasmtime.Store(engine.wasm)
    store.set_epoch_deadline(1)
    exports: Any = pre.instantiate(store).exports(store)
    return {name: int(item.value(store)) for name, item in exports.items() if isinstance(item, wasmtime.Global)}
