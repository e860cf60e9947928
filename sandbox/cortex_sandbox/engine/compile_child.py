"""The child process of `native_code`: compiles the module on standard input, and ends.

Rules kept here:
- the input is the path to keep the code at (empty for none) and the module, each after its length (8 bytes,
  little-endian); an input that ends early ends the process, so that no part of a module is compiled;
- it ends its work also when the process that started it was killed, so that the next start finds the code;
- code that was kept is not written to the output, only `KEPT`; else the length of the code and the code;
- compiling a module from outside uses at most `FOREIGN_MEMORY_BYTES` of address space, or ends the process;
- bytes that are not a module or a component end the process with the status `INVALID` and the reason on standard
  error. So does a module from outside that takes longer than `FOREIGN_COMPILE_S`.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import NoReturn

import wasmtime
from wasmtime.component import Component

from cortex_sandbox.engine.cache import store
from cortex_sandbox.engine.engine import FOREIGN, Engine
from cortex_sandbox.engine.native_code import COMPILE_S, FOREIGN_COMPILE_S, INVALID, KEPT, SIZE_BYTES

FOREIGN_MEMORY_BYTES = 4 << 30
# The version and the layer in the second word of a component; a core module has version 1 and layer 0.
_COMPONENT = b"\0asm\x0d\0\1\0"


def main(native_stack: int, engine_kind: int, portable: int) -> None:
    """Compile for an engine of these dimensions."""
    path, wasm = os.fsdecode(_read()), _read()
    foreign = engine_kind == FOREIGN
    if foreign:
        _limit_memory()
    too_late = threading.Timer(FOREIGN_COMPILE_S if foreign else COMPILE_S, _give_up, (foreign,))
    too_late.daemon, too_late.name = True, "cortex-compiling-deadline"
    too_late.start()
    engine = Engine(native_stack, engine_kind, portable)
    kind = Component if wasm.startswith(_COMPONENT) else wasmtime.Module
    try:
        code = kind(engine.wasm, wasm).serialize()
    except wasmtime.WasmtimeError as error:
        _refuse(str(error))
    if path and store(Path(path), code):
        sys.stdout.buffer.write(KEPT)
    else:
        sys.stdout.buffer.write(len(code).to_bytes(SIZE_BYTES, "little"))
        sys.stdout.buffer.write(code)
    sys.stdout.buffer.flush()


def _limit_memory() -> None:
    """Limit the memory of this process, where the system can: a module from outside may be made to need much."""
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = FOREIGN_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(FOREIGN_MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _refuse(reason: str) -> NoReturn:
    sys.stderr.write(reason.replace("\n", " "))
    sys.stderr.flush()
    os._exit(INVALID)


def _give_up(foreign: bool) -> None:
    if foreign:
        _refuse(f"compiling it takes longer than {FOREIGN_COMPILE_S:.0f} s")
    os._exit(1)


def _read() -> bytes:
    """The next part of the input."""
    size = sys.stdin.buffer.read(SIZE_BYTES)
    content = sys.stdin.buffer.read(int.from_bytes(size, "little"))
    if len(size) < SIZE_BYTES or len(content) < int.from_bytes(size, "little"):
        sys.exit("the input ended early")
    return content
