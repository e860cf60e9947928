"""What the QuickJS guest may ask of the world: a clock, one host call, and refusals.

Rules kept here:
- WASI preview 1 knows forty functions; this guest imports five of them and gets a clock: there is no file system, and
  what it writes goes nowhere;
- defined once an engine: the callback finds the guest it serves as its thread's current instance;
- a callback never lets an exception through to the engine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from .engine import Engine, function_type, raise_if_error
from .instance import Instance
from .waiting import current

# wasi_snapshot_preview1, `errno`
_SUCCESS, _BADF, _NOSYS = 0, 8, 52

Answer = Callable[[Instance, Any], int]


def _refuse(errno: int) -> Answer:
    return lambda _instance, _cells: errno


def _clock_time_get(instance: Instance, cells: Any) -> int:
    instance.write(cells[2].i32, instance.clock_ns().to_bytes(8, "little", signed=True))
    return _SUCCESS


def _host_call(instance: Instance, cells: Any) -> int:
    return instance.on_host_call(cells[0].i32, cells[1].i32)


# module, name, parameters, results, answer
_IMPORTS: tuple[tuple[str, str, str, str, Answer], ...] = (
    ("wasi_snapshot_preview1", "clock_time_get", "iIi", "i", _clock_time_get),
    ("wasi_snapshot_preview1", "fd_write", "iiii", "i", _refuse(_BADF)),
    ("wasi_snapshot_preview1", "fd_close", "i", "i", _refuse(_BADF)),
    ("wasi_snapshot_preview1", "fd_fdstat_get", "ii", "i", _refuse(_BADF)),
    ("wasi_snapshot_preview1", "fd_seek", "iIii", "i", _refuse(_NOSYS)),
    ("cortex", "host_call", "ii", "i", _host_call),
)


class Imports:
    """A linker with everything that the guest imports, and what must live as long as it does."""

    def __init__(self, engine: Engine) -> None:
        self.linker = wasmtime.Linker(engine.wasm)
        self._kept = [define_import(self.linker, *entry) for entry in _IMPORTS]


def define_import(
    linker: wasmtime.Linker, module: str, name: str, params: str, results: str, answer: Callable[[Any, Any], int]
) -> object:
    """Define one function that guests import; what is returned must live as long as the linker.

    Args:
        linker: where.
        module: the import's module.
        name: the import's name.
        params: its parameters, as `function_type` takes them.
        results: `i` or nothing.
        answer: gets the guest's instance and the cells with the parameters. What it raises stops the guest, and is
            raised again by the instance's `run`.

    """

    def enter(_env: Any, _caller: Any, cells: Any, _count: int) -> int:
        result = 0
        instance = current()
        if isinstance(instance, Instance):
            try:
                instance.give_way()
                result = answer(instance, cells)
            except BaseException as error:
                instance.stop_with(error)
        if results:
            cells[0].i32 = result
        return 0

    callback = ffi.wasmtime_func_unchecked_callback_t(enter)
    kind = function_type(params, results)
    error = ffi.wasmtime_linker_define_func_unchecked(
        linker.ptr(),
        ctypes.create_string_buffer(module.encode()),
        len(module),
        ctypes.create_string_buffer(name.encode()),
        len(name),
        kind.ptr(),
        callback,
        None,
        ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    )
    raise_if_error(error)
    return callback
