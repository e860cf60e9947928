"""Functions of the host that guests import.

Rules kept here:
- a function is defined once per linker and finds the guest that called it as the current instance of its thread;
- no exception passes through the engine: it stops the guest, and `Instance.run` raises it again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from cortex_sandbox.engine.engine import function_type, raise_if_error
from cortex_sandbox.engine.reentrancy import current
from cortex_sandbox.engine.timed_store import TimedStore


def define_import(
    linker: wasmtime.Linker, module: str, name: str, params: str, results: str, answer: Callable[[Any, Any], int]
) -> object:
    """Define one imported function; the returned object must live as long as the linker.

    Args:
        linker: the linker of the guests.
        module: the import's module.
        name: the import's name.
        params: its parameters, as `function_type` takes them.
        results: `i`, or empty for no result.
        answer: called with the guest's instance and the cells with the parameters.
    """

    def enter(_env: Any, _caller: Any, cells: Any, _count: int) -> int:
        result = 0
        instance = current()
        if isinstance(instance, TimedStore):
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
