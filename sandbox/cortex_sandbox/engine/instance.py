"""One running WebAssembly guest: raw calls and memory, in a store with a deadline (`timed_store.py`).

Rules kept here:
- every pointer and length from the guest is checked against its memory before any byte is read or written;
- a trap becomes a typed error, and the instance cannot be used afterwards;
- past its deadline a guest is first asked to end with an error that has its stack, and stopped 24 ms later.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Mapping
from ctypes import byref
from functools import cache
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from cortex_sandbox.engine.clock import ASK_TICKS
from cortex_sandbox.engine.engine import Engine, raise_if_error
from cortex_sandbox.engine.timed_store import TimedStore
from cortex_sandbox.errors import SandboxError, SandboxMemoryError

# The same C functions with addresses as plain numbers, for the hot path. They keep the interpreter lock: they are
# short, and getting the lock back can take far longer.
_library = ctypes.PyDLL(ffi.dll._name)
_memory_data = _library.wasmtime_memory_data
_memory_size = _library.wasmtime_memory_data_size
_memory_data.restype = _memory_size.restype = ctypes.c_size_t
_memory_data.argtypes = _memory_size.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
_call_unchecked = ffi.dll.wasmtime_func_call_unchecked
_instantiate = ffi.dll.wasmtime_instance_pre_instantiate
_export_get = ffi.dll.wasmtime_instance_export_get
# Linux only: a guest that needs little memory would get 2 MiB.
_madvise: Callable[..., object] = ctypes.PyDLL(None).madvise if sys.platform == "linux" else lambda *_: None
_NO_HUGE_PAGE = 15  # MADV_NOHUGEPAGE
_TrapPointer = ctypes.POINTER(ffi.wasm_trap_t)
# An array type is expensive to make and is deleted with its last array, so the types in use are cached.
_array_of_cells = cache(ffi.wasmtime_val_raw_t.__mul__)


class _Functions(dict[str, "GuestFunction"]):
    """The exported functions of an instance, looked up at the first call: QuickJS exports 450, a call needs a dozen."""

    def __init__(self, instance: Instance, parameters: Mapping[str, int]) -> None:
        self._instance = instance
        self._parameters = parameters

    def __missing__(self, name: str) -> GuestFunction:
        function = self[name] = self._instance.function(name, self._parameters[name])
        return function

    def close(self) -> None:
        """Drop the reference to the instance, a reference cycle."""
        self.clear()
        del self._instance


class GuestFunction:
    """An exported function whose parameters and result are i32."""

    __slots__ = ("_cells", "_context", "_count", "_func", "_instance", "_trap")

    def __init__(self, instance: Instance, func: Any, parameters: int) -> None:
        self._instance = instance
        self._context = instance.context
        self._func = func
        self._count = max(parameters, 1)
        self._cells = _array_of_cells(self._count)()
        self._trap = _TrapPointer()

    def __call__(self, *args: int) -> int:
        """Call it with 32-bit integers; a trap is raised as a `SandboxError`."""
        cells = self._cells
        for index, value in enumerate(args):
            cells[index].i32 = value
        error = _call_unchecked(self._context, self._func, cells, self._count, byref(self._trap))
        if error or self._trap:
            self._fail(error)
        return int(cells[0].i32)

    def _fail(self, error: Any) -> None:
        trap, self._trap = self._trap, _TrapPointer()
        self._instance.alive = False
        if error:
            if self._instance.stopped is not None:
                ffi.wasmtime_error_delete(error)
                raise self._instance.stopped
            raise SandboxError(str(wasmtime.WasmtimeError._from_ptr(error)), "SandboxBroken")
        raise error_of(wasmtime.Trap._from_ptr(trap))


def error_of(trap: wasmtime.Trap) -> SandboxError:
    """The error that a trap is reported as."""
    kind = trap.trap_code
    if kind is wasmtime.TrapCode.STACK_OVERFLOW:
        return SandboxError("Maximum call stack size exceeded", "RangeError")
    if kind is wasmtime.TrapCode.UNREACHABLE:  # the guest's allocator executes it when memory is exhausted
        return SandboxMemoryError("out of memory", "InternalError")
    return SandboxError(f"the guest stopped: {kind.name if kind else 'for an unknown reason'}", "SandboxBroken")


class Instance(TimedStore):
    """A guest with its own store.

    Args:
        engine: the engine that compiled the module.
        pre: the module with its imports linked.
        memory_bytes: the maximum size of the linear memory.
        exports: the exported functions that will be called, with their numbers of parameters.
        final: whether the memory has that size from the start; its address is then looked up once, and it is not
            backed by huge pages.
    """

    def __init__(
        self,
        engine: Engine,
        pre: wasmtime.InstancePre,
        memory_bytes: int,
        exports: Mapping[str, int],
        *,
        final: bool = False,
    ) -> None:
        super().__init__(engine, memory_size=memory_bytes, instances=1, memories=1, tables=1)
        self.context = self._store._context()
        self._handle = ffi.wasmtime_instance_t()
        trap = _TrapPointer()
        raise_if_error(_instantiate(pre.ptr(), self.context, byref(self._handle), byref(trap)))
        if trap:
            raise error_of(wasmtime.Trap._from_ptr(trap))
        self._memory = self._export("memory").memory
        self._memory_at = ctypes.cast(self.context, ctypes.c_void_p).value, ctypes.addressof(self._memory)
        place = self._place()
        self._final_place: tuple[int, int] | None = place if final else None
        if final:
            _madvise(*map(ctypes.c_size_t, place), _NO_HUGE_PAGE)
        self.functions = _Functions(self, exports)
        self.on_host_call: Callable[[int, int], int] = _answer_nothing
        self.clock_ns: Callable[[], int] = coarse_clock_ns
        self.alive = True
        self.stop_word: int | None = None  # the address of a word that asks the guest to end with an error

    def function(self, name: str, parameters: int) -> GuestFunction:
        """An exported function; `functions` caches them."""
        return GuestFunction(self, self._export(name).func, parameters)

    def _export(self, name: str) -> Any:
        item = ffi.wasmtime_extern_t()
        if not _export_get(self.context, byref(self._handle), _text(name), len(name), byref(item)):
            raise SandboxError(f"the guest has no export {name}", "SandboxBroken")
        return item.of

    def ask_to_end(self) -> int:
        """As `TimedStore.ask_to_end`: a guest with a stop word ends with an error that has its stack."""
        if self.stop_word is None:
            return 0
        self.write(self.stop_word, b"\1\0\0\0")
        return ASK_TICKS // 2

    @property
    def memory_size(self) -> int:
        """The current size of the linear memory, in bytes."""
        return (self._final_place or self._place())[1]

    def _place(self) -> tuple[int, int]:
        """The current address and size of the linear memory."""
        return _memory_data(*self._memory_at), _memory_size(*self._memory_at)

    def read(self, pointer: int, length: int) -> bytes:
        """Bytes of the guest's memory.

        Raises:
            SandboxError: when the range is outside of it; nothing is read then.
        """
        return ctypes.string_at(self._address(pointer, length), length)

    def write(self, pointer: int, data: bytes) -> None:
        """Write bytes to the guest's memory.

        Raises:
            SandboxError: when the range is outside of it; nothing is written then.
        """
        ctypes.memmove(self._address(pointer, len(data)), data, len(data))

    def _address(self, pointer: int, length: int) -> int:
        base, size = self._final_place or self._place()
        pointer &= 0xFFFFFFFF
        if length < 0 or pointer + length > size:
            raise SandboxError("the guest passed an address outside of its memory", "SandboxBroken")
        return base + pointer

    def close(self) -> None:
        """Free the guest's memory now, not at the next garbage collection."""
        self.alive = False
        self.functions.close()
        self.on_host_call = _answer_nothing  # it refers to the owner: another reference cycle
        self._final_place = (0, 0)
        self._store.close()


@cache
def _text(name: str) -> Any:
    """The name of an export, for the C API."""
    return ctypes.create_string_buffer(name.encode())


def _answer_nothing(_pointer: int, _length: int) -> int:
    return 0


def coarse_clock_ns() -> int:
    """Wall-clock time in nanoseconds, no finer than a millisecond."""
    return time.time_ns() // 1_000_000 * 1_000_000
