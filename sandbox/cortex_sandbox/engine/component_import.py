"""Functions of the host that components import, with the values that they pass.

Rules kept here:
- as `linker.py`: a function finds the guest that called it as the current one of its thread, and no exception passes
  through the engine;
- a text or list from the guest is read only up to a size; a list of bytes is copied as a whole, since wasmtime-py takes
  5 µs for each byte, in which no deadline is noticed;
- the engine limits what a guest passes in one call (128 MiB, as it counts), before any of it is here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wasmtime import _ffi as ffi
from wasmtime import component as wit

from cortex_sandbox.engine.engine import raise_if_error
from cortex_sandbox.engine.reentrancy import current
from cortex_sandbox.engine.timed_store import TimedStore

MAX_ITEMS = 1_000

_Val = ffi.wasmtime_component_val_t
_SIZE, _VALUE_AT = ctypes.sizeof(_Val), _Val.of.offset
_U8, _U16, _S32 = (
    kind.value for kind in (ffi.WASMTIME_COMPONENT_U8, ffi.WASMTIME_COMPONENT_U16, ffi.WASMTIME_COMPONENT_S32)
)
_STRING, _ENUM = ffi.WASMTIME_COMPONENT_STRING.value, ffi.WASMTIME_COMPONENT_ENUM.value
_LIST, _RECORD = ffi.WASMTIME_COMPONENT_LIST.value, ffi.WASMTIME_COMPONENT_RECORD.value
_RESULT = ffi.WASMTIME_COMPONENT_RESULT.value
_NO_FINALIZER = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))


@dataclass(frozen=True, slots=True)
class WitResult:
    """A value of a type `result`: its case and its payload, None without one."""

    is_ok: bool
    payload: Any


class U16(int):
    """An integer of the type `u16`; other integers are `s32`."""


def define_component_import(
    instance: wit.LinkerInstance, name: str, answer: Callable[..., Any], max_bytes: Callable[[Any], int]
) -> object:
    """Define one imported function; the returned object must live as long as the linker.

    Args:
        instance: the imported instance.
        name: the function.
        answer: called with the guest's store and the arguments: `s32` as int, texts and names of enumerations as str,
            bytes as bytes, lists as list (an empty one as `b""`), records as dict. Its result is one of these, a
            `U16`, a `WitResult`, or None for no result.
        max_bytes: called with the guest's store; a text or list of more bytes is passed as None.
    """

    def enter(_env: Any, _context: Any, _type: Any, arguments: Any, count: int, results: Any, result_count: int) -> Any:
        store = current()
        if isinstance(store, TimedStore):
            try:
                store.give_way()
                limit = max_bytes(store)
                value = answer(store, *(_lifted(arguments[index], limit) for index in range(count)))
                if result_count:
                    _lower(value, results[0])
                return 0
            except BaseException as error:
                store.stop_with(error)
        return ctypes.cast(ffi.wasmtime_error_new(b"stopped"), ctypes.c_void_p).value

    callback = ffi.wasmtime_component_func_callback_t(enter)
    raw = name.encode()
    error = ffi.wasmtime_component_linker_instance_add_func(
        instance.ptr(), ctypes.create_string_buffer(raw), len(raw), callback, None, _NO_FINALIZER
    )
    raise_if_error(error)
    return callback


def _lifted(val: Any, max_bytes: int) -> Any:
    """A value from the guest; the engine frees its memory."""
    kind = val.kind
    if kind == _S32:
        return int(val.of.s32)
    if kind in (_STRING, _ENUM):
        text = val.of.string if kind == _STRING else val.of.enumeration
        return ffi.to_str(text) if text.size <= max_bytes else None
    if kind == _LIST:
        size, data = val.of.list.size, val.of.list.data
        if not size:
            return b""
        if data[0].kind == _U8:
            return ctypes.string_at(data, size * _SIZE)[_VALUE_AT::_SIZE] if size <= max_bytes else None
        return [_lifted(data[index], max_bytes) for index in range(size)] if size <= MAX_ITEMS else None
    if kind == _RECORD:
        entries = val.of.record
        return {
            ffi.to_str(entries.data[index].name): _lifted(entries.data[index].val, max_bytes)
            for index in range(entries.size)
        }
    raise TypeError(f"a value of the kind {kind} is not part of the world")


def _lower(value: Any, val: Any) -> None:
    """Write a value for the guest; the engine owns it from then on."""
    of = val.of
    if isinstance(value, WitResult):
        of.result.is_ok = value.is_ok
        of.result.val = None
        if value.payload is not None:
            payload = _Val()
            _lower(value.payload, payload)
            of.result.val = ffi.wasmtime_component_val_new(ctypes.byref(payload))
        val.kind = _RESULT
    elif isinstance(value, int):
        val.kind = _U16 if isinstance(value, U16) else _S32
        of.s32 = int(value)
    elif isinstance(value, str):
        of.string = ffi.str_to_capi(value)
        val.kind = _STRING
    elif isinstance(value, bytes):
        ffi.wasmtime_component_vallist_new_uninit(ctypes.byref(of.list), len(value))
        cells = bytearray(_SIZE * len(value))
        cells[::_SIZE] = bytes([_U8]) * len(value)
        cells[_VALUE_AT::_SIZE] = value
        ctypes.memmove(of.list.data, bytes(cells), len(cells))
        val.kind = _LIST
    elif isinstance(value, list):
        ffi.wasmtime_component_vallist_new_uninit(ctypes.byref(of.list), len(value))
        for index, item in enumerate(value):
            _lower(item, of.list.data[index])
        val.kind = _LIST
    elif isinstance(value, dict):
        ffi.wasmtime_component_valrecord_new_uninit(ctypes.byref(of.record), len(value))
        for index, (name, item) in enumerate(value.items()):
            of.record.data[index].name = ffi.str_to_capi(name)
            _lower(item, of.record.data[index].val)
        val.kind = _RECORD
    else:
        raise TypeError(f"a {type(value).__name__} is not part of the world")
