"""The WebAssembly engines of this process, and the calls of wasmtime's C interface that the hot path makes.

Rules kept here:
- one engine a stack depth, shared by every sandbox, made when first needed;
- `signals_based_traps` is off: a plugin does not own its process's signal handlers;
- a guest never has more native stack than the thread it runs on can give (`INLINE_STACK_BYTES`, `threads.py`), and
  never runs on the main thread, where signals are handled; one that calls nobody (`pure.py`) runs on any thread;
- only this file and `instance.py` touch `wasmtime._ffi`: it mirrors the documented C API, the version is pinned.
"""

from __future__ import annotations

import os
import threading
from functools import cache, partial
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from .clock import Ticker
from .threads import DEEP_STACK_BYTES, DeepThreads, stack_size

# Guest stacks up to this size run on the caller's thread, larger ones only if that is a deep one. The worst native use
# that was found at 256 KiB (a chain of proxies) is between 3.5 and 4.5 MB, threads have 8 MB by default.
INLINE_STACK_BYTES = 256 << 10
_INLINE_NATIVE = 4608 << 10
_INLINE_THREAD = 7 << 20  # what is left of it above the guest's part is for Python and the host's functions
_DEEP_NATIVE = 20 << 20
_PURE_NATIVE = 256 << 10  # any thread has that
# Memory up to this size grows in place. Address space only: nothing is touched before it is used.
_RESERVATION = 16 << 20
# A module of our own keeps more: to move what it has would be to copy it.
_PURE_RESERVATION = 64 << 20
# esbuild's memory has its final size from the start (`wasm_inside.py`).
BUNDLER_MEMORY_BYTES = 1 << 30

# Its children are forks of it.
_FIRST_PROCESS = os.getpid()

deep_threads = DeepThreads(DEEP_STACK_BYTES)


class Engine:
    """A wasmtime engine with the settings of this project.

    Args:
        native_stack: how much native stack a guest may use, in bytes.
        reservation: up to which size the memory of a guest grows in place, in bytes.
        pure: for modules of our own that call nobody: small, and never stopped from outside.

    """

    def __init__(self, native_stack: int, reservation: int = _RESERVATION, *, pure: bool = False) -> None:
        # What the compiled code depends on; part of the code cache's key.
        self.settings = f"{'pure' if pure else 'epoch'},no-signals,cow,reserve{reservation >> 20}m,guard0"
        self._made = partial(_config, native_stack, reservation, epochs=not pure)
        # The threads that compile a large guest sooner do not survive a fork: a child would wait for them for ever.
        self._is_alone = pure or os.getpid() != _FIRST_PROCESS
        self.wasm = wasmtime.Engine(self._made(parallel=not self._is_alone))
        self.clock = Ticker(self.wasm.increment_epoch)

    def compile(self, wasm: bytes) -> wasmtime.Module:
        """A module, compiled for this engine.

        Raises:
            wasmtime.WasmtimeError: when the bytes are no module.

        """
        if self._is_alone or os.getpid() == _FIRST_PROCESS:
            return wasmtime.Module(self.wasm, wasm)
        alone = wasmtime.Engine(self._made(parallel=False))
        return wasmtime.Module.deserialize(self.wasm, wasmtime.Module(alone, wasm).serialize())


def _config(native_stack: int, reservation: int, *, epochs: bool, parallel: bool) -> wasmtime.Config:
    config = wasmtime.Config()
    config.parallel_compilation = parallel
    config.epoch_interruption = epochs
    config.signals_based_traps = False
    config.memory_init_cow = True
    config.memory_reservation = reservation
    config.memory_reservation_for_growth = reservation
    config.memory_guard_size = 0
    # wasmtime insists that its fibers, unused here, have more stack than what they run.
    ffi.wasmtime_config_async_stack_size_set(config.ptr(), native_stack + (1 << 20))
    config.max_wasm_stack = native_stack
    return config


_making = threading.Lock()
os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)


@cache
def _engine(native_stack: int, reservation: int = _RESERVATION, *, pure: bool = False) -> Engine:
    return Engine(native_stack, reservation, pure=pure)


def engine_for(stack_bytes: int) -> Engine:
    """The engine for guests with this much stack."""
    with _making:
        return _engine(_INLINE_NATIVE if stack_bytes <= INLINE_STACK_BYTES else _DEEP_NATIVE)


def fits_here(stack_bytes: int) -> bool:
    """Whether a guest with this much stack may run on the calling thread, if nothing else of ours runs on it.

    Never on the main thread: what a signal's handler raises there (Ctrl-C) would be raised as a callback of the guest
    begins, before any `except` of ours, and ctypes would hand the engine a result that nobody wrote.
    """
    needed = _INLINE_THREAD if stack_bytes <= INLINE_STACK_BYTES else DEEP_STACK_BYTES
    return stack_size() >= needed and threading.get_ident() != threading.main_thread().ident


def bundler_engine() -> Engine:
    """The engine of esbuild, which runs on deep threads."""
    with _making:
        return _engine(_DEEP_NATIVE, BUNDLER_MEMORY_BYTES)


def pure_engine() -> Engine:
    """The engine of modules that call nobody (`pure.py`)."""
    with _making:
        return _engine(_PURE_NATIVE, _PURE_RESERVATION, pure=True)


def function_type(params: str, results: str = "") -> wasmtime.FuncType:
    """A function type out of letters: `i` for i32, `I` for i64."""
    kinds = {"i": wasmtime.ValType.i32, "I": wasmtime.ValType.i64}
    return wasmtime.FuncType([kinds[c]() for c in params], [kinds[c]() for c in results])


def raise_if_error(error: Any) -> None:
    """Raise what the C interface returned as an error, if it did.

    Raises:
        wasmtime.WasmtimeError: when `error` is one.

    """
    if error:
        raise wasmtime.WasmtimeError._from_ptr(error)


def constants_of(engine: Engine, pre: wasmtime.InstancePre) -> dict[str, int]:
    """The globals that a module exports, by their names."""
    store = wasmtime.Store(engine.wasm)
    store.set_epoch_deadline(1)
    exports: Any = pre.instantiate(store).exports(store)
    return {name: int(item.value(store)) for name, item in exports.items() if isinstance(item, wasmtime.Global)}
