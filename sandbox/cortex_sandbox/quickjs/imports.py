"""The functions that the QuickJS guest imports: a clock, one host call, and refusals.

Rules kept here:
- the guest imports five functions of WASI preview 1. It gets a clock; there is no file system, and its output is
  dropped;
- every other effect goes through `host_call`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wasmtime

from cortex_sandbox.engine.engine import Engine
from cortex_sandbox.engine.instance import Instance
from cortex_sandbox.engine.linker import define_import

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


# module, name, parameters, results, function
_IMPORTS: tuple[tuple[str, str, str, str, Answer], ...] = (
    ("wasi_snapshot_preview1", "clock_time_get", "iIi", "i", _clock_time_get),
    ("wasi_snapshot_preview1", "fd_write", "iiii", "i", _refuse(_BADF)),
    ("wasi_snapshot_preview1", "fd_close", "i", "i", _refuse(_BADF)),
    ("wasi_snapshot_preview1", "fd_fdstat_get", "ii", "i", _refuse(_BADF)),
    ("wasi_snapshot_preview1", "fd_seek", "iIii", "i", _refuse(_NOSYS)),
    ("cortex", "host_call", "ii", "i", _host_call),
)


class Imports:
    """A linker with everything that the guest imports, and the callbacks, which must live as long as the linker."""

    def __init__(self, engine: Engine) -> None:
        self.linker = wasmtime.Linker(engine.wasm)
        self._callbacks = [define_import(self.linker, *entry) for entry in _IMPORTS]
