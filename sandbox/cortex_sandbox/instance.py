"""One running WebAssembly guest: raw calls, memory, a deadline.

Rules kept here:
- every pointer and length that comes from the guest is checked against its memory before a byte is read or written;
- a trap never passes as a result: it becomes a typed error, and the instance is dead from then on;
- a guest is asked every twentieth of a second whether it may go on: it is stopped past its deadline, when somebody
  interrupts it from another thread, and when a signal of the host's raised an exception, which is raised again outside;
- at the end of the interpreter running guests are stopped first: a thread that dies inside of one takes the process
  along;
- one thread at a time (the owner holds a lock); while it runs, the instance is that thread's current call
  (`waiting.py`).
"""

from __future__ import annotations

import atexit
import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref
from functools import cache
from typing import Any, TypeVar

import wasmtime
from wasmtime import _ffi as ffi

from .engine import Engine, raise_if_error
from .errors import SandboxError, SandboxMemoryError, SandboxTimeout
from .pages import bring, refuse_huge_pages
from .waiting import Waiting, current, enter

T = TypeVar("T")

# The same C functions once more, with addresses as plain numbers: the hot path reads and writes there. They keep the
# interpreter's lock: they take a moment, and to get the lock back can take far longer.
_library = ctypes.PyDLL(ffi.dll._name)
_memory_data = _library.wasmtime_memory_data
_memory_size = _library.wasmtime_memory_data_size
_memory_data.restype = _memory_size.restype = ctypes.c_size_t
_memory_data.argtypes = _memory_size.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
_call_unchecked = ffi.dll.wasmtime_func_call_unchecked
_instantiate = ffi.dll.wasmtime_instance_pre_instantiate
_export_get = ffi.dll.wasmtime_instance_export_get
_TrapPointer = ctypes.POINTER(ffi.wasm_trap_t)
# A type for an array is dear to make, and gone with the last array of it: those that every guest needs are kept.
_array_of_cells = cache(ffi.wasmtime_val_raw_t.__mul__)

_all_running: set[Instance] = set()
# Further ahead than any host lives; wasmtime adds it to the present epoch.
_NEVER = 1 << 40
_ASK_TICKS = 25
# A guest that calls its host in a loop leaves the interpreter's lock for moments too short for other threads of the
# host to wake up in, the clock's among them: every so often it leaves it for as long as that takes.
_GIVE_WAY_EVERY_S = 0.01
_GIVE_WAY_S = 1e-4
_GO_ON = 0  # WASMTIME_UPDATE_DEADLINE_CONTINUE
_AT_EXIT_S = 2.0


class _Functions(dict[str, "GuestFunction"]):
    """The exported functions of an instance, looked up when first called: there are 450, a call needs a dozen."""

    def __init__(self, instance: Instance, parameters: Mapping[str, int]) -> None:
        self._instance = instance
        self._parameters = parameters

    def __missing__(self, name: str) -> GuestFunction:
        function = self[name] = self._instance.function(name, self._parameters[name])
        return function

    def close(self) -> None:
        """Let go of the instance: a circle that the collector would have to find."""
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
        """Call it with numbers of 32 bits; a trap is raised as a `SandboxError`."""
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
    """What a trap means for a user of the sandbox."""
    kind = trap.trap_code
    if kind is wasmtime.TrapCode.STACK_OVERFLOW:
        return SandboxError("Maximum call stack size exceeded", "RangeError")
    if kind is wasmtime.TrapCode.UNREACHABLE:  # what the guest's allocator ends in when nothing else is left
        return SandboxMemoryError("out of memory", "InternalError")
    return SandboxError(f"the guest stopped: {kind.name if kind else 'for an unknown reason'}", "SandboxBroken")


class Instance:
    """A guest in a store of its own.

    Args:
        engine: whose code runs it.
        pre: the module with its imports linked.
        memory_bytes: how far the linear memory may grow in all.
        exports: the exported functions that will be called, with the number of their parameters.
        final: whether the memory has that size from the start and for good; it is then looked up once, and never
            backed by huge pages.
        written: the pages that it will write to as it starts (`pages.bring`).

    """

    def __init__(
        self,
        engine: Engine,
        pre: wasmtime.InstancePre,
        memory_bytes: int,
        exports: Mapping[str, int],
        *,
        final: bool = False,
        written: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._engine = engine
        self._store = wasmtime.Store(engine.wasm)
        self._store.set_limits(memory_size=memory_bytes, instances=1, memories=1, tables=1)
        self._store.set_epoch_deadline(_NEVER)
        ffi.wasmtime_store_epoch_deadline_callback(self._store.ptr(), _may_go_on, None, _NO_FINALIZER)
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
            refuse_huge_pages(*place)
        bring(place[0], written)
        self.functions = _Functions(self, exports)
        self.on_host_call: Callable[[int, int], int] = _answer_nothing
        self.clock_ns: Callable[[], int] = coarse_clock_ns
        self.deadline = 0.0
        self._gives_way_at = 0.0
        self.outer: Waiting | None = None
        self.alive = True
        self.stopped: SandboxError | None = None
        self._kept: BaseException | None = None

    def function(self, name: str, parameters: int) -> GuestFunction:
        """An exported function; `functions` keeps those that were asked for."""
        return GuestFunction(self, self._export(name).func, parameters)

    def _export(self, name: str) -> Any:
        item = ffi.wasmtime_extern_t()
        if not _export_get(self.context, byref(self._handle), _text(name), len(name), byref(item)):
            raise SandboxError(f"the guest has no export {name}", "SandboxBroken")
        return item.of

    def run(self, work: Callable[[], T], deadline: float, outer: Waiting | None = None) -> T:
        """What `work()` returns; guest code that runs in it is stopped at `deadline` (monotonic seconds).

        Args:
            work: calls the guest.
            deadline: when the guest is stopped.
            outer: the call whose host function asks for this, when that is on another thread.

        """
        before = enter(self)
        self.outer = outer or before
        self._gives_way_at = time.monotonic() + _GIVE_WAY_EVERY_S
        self._engine.clock.enter()
        self.keep_to(deadline)
        _all_running.add(self)
        try:
            return work()
        finally:
            _all_running.discard(self)
            enter(before)
            self.outer = None
            self._engine.clock.leave()
            if self._kept is not None:
                kept, self._kept = self._kept, None
                raise kept

    def keep_to(self, deadline: float) -> None:
        """From now on, stop what runs at `deadline` (monotonic seconds)."""
        self.deadline = deadline
        self._store.set_epoch_deadline(self._ticks())

    def stop_with(self, error: BaseException) -> None:
        """Stop the guest at its next step, and raise `error` to whoever called it."""
        self._kept = error
        self._store.set_epoch_deadline(0)

    def give_way(self) -> None:
        """Let other threads of the host run, when it is time; said at every call that the guest makes."""
        now = time.monotonic()
        if now >= self._gives_way_at:
            time.sleep(_GIVE_WAY_S)
            self._gives_way_at = now + _GIVE_WAY_EVERY_S

    def interrupt(self) -> None:
        """Stop the guest soon, from any thread; its caller gets a `SandboxError` named `Interrupted`."""
        self.stopped = SandboxError("stopped: it was interrupted", "Interrupted")

    def ask(self) -> int:
        """For how many ticks the guest may go on; 0 when it may not."""
        if self.stopped is None and self._kept is None and time.monotonic() < self.deadline:
            return self._ticks()
        self.stopped = self.stopped or SandboxTimeout("stopped: the time limit was reached", "Timeout")
        return 0

    def _ticks(self) -> int:
        return min(self._engine.clock.ticks_for(self.deadline - time.monotonic()), _ASK_TICKS)

    @property
    def memory_size(self) -> int:
        """The size of the linear memory now, in bytes."""
        return (self._final_place or self._place())[1]

    def _place(self) -> tuple[int, int]:
        """Where the linear memory lies now, and its size."""
        return _memory_data(*self._memory_at), _memory_size(*self._memory_at)

    def read(self, pointer: int, length: int) -> bytes:
        """Bytes of the guest's memory.

        Raises:
            SandboxError: when they lie outside of it; nothing is read then.

        """
        return ctypes.string_at(self._address(pointer, length), length)

    def write(self, pointer: int, data: bytes) -> None:
        """Put bytes into the guest's memory.

        Raises:
            SandboxError: when they would lie outside of it; nothing is written then.

        """
        ctypes.memmove(self._address(pointer, len(data)), data, len(data))

    def _address(self, pointer: int, length: int) -> int:
        base, size = self._final_place or self._place()
        pointer &= 0xFFFFFFFF
        if length < 0 or pointer + length > size:
            raise SandboxError("the guest named memory that it does not have", "SandboxBroken")
        return base + pointer

    def close(self) -> None:
        """Give the guest's memory back now, not when the collector comes by."""
        self.alive = False
        self.functions.close()
        self.on_host_call = _answer_nothing  # its owner's: another circle
        self._final_place = (0, 0)
        self._store.close()


@cache
def _text(name: str) -> Any:
    """The name of an export, as the C interface takes it."""
    return ctypes.create_string_buffer(name.encode())


def _answer_nothing(_pointer: int, _length: int) -> int:
    return 0


def _on_epoch(_context: Any, _data: Any, delta: Any, kind: Any) -> int:
    """Called by the engine on the guest's thread when the ticks that it was given are over."""
    instance = current()
    ticks = 0
    if isinstance(instance, Instance):
        try:
            ticks = instance.ask()
        except BaseException as error:  # a signal's handler raised, here of all places
            instance.stop_with(error)
    if not ticks:
        return int(ctypes.cast(ffi.wasmtime_error_new(_STOPPED), ctypes.c_void_p).value or 0)
    delta[0] = ticks
    kind[0] = _GO_ON
    return 0


_STOPPED = ctypes.create_string_buffer(b"stopped")
_NO_FINALIZER = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))
_may_go_on = ffi.dll.wasmtime_store_epoch_deadline_callback.argtypes[1](_on_epoch)


@atexit.register
def _stop_all() -> None:
    """Let every running guest end before the interpreter does."""
    deadline = time.monotonic() + _AT_EXIT_S
    while _all_running and time.monotonic() < deadline:
        for instance in list(_all_running):
            instance.interrupt()
        time.sleep(0.01)


def coarse_clock_ns() -> int:
    """Wall-clock time in nanoseconds, no finer than a millisecond."""
    return time.time_ns() // 1_000_000 * 1_000_000
