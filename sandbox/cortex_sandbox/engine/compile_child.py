"""The child process of `native_code`: compiles the module on standard input, and ends.

Rules kept here:
- the input is the path to keep the code at (empty for none) and the module, each after its length (8 bytes,
  little-endian); an input that ends early ends the process, so that no part of a module is compiled;
- it ends its work also when the process that started it was killed, so that the next start finds the code;
- code that was kept is not written to the output, only `KEPT`; else the length of the code and the code;
- bytes that are not a module end the process with the reason on standard error.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import wasmtime

from cortex_sandbox.engine.cache import store
from cortex_sandbox.engine.engine import Engine
from cortex_sandbox.engine.native_code import COMPILE_S, KEPT, SIZE_BYTES


def main(native_stack: int, reservation: int) -> None:
    """Compile for an engine of these dimensions."""
    path, wasm = os.fsdecode(_read()), _read()
    too_late = threading.Timer(COMPILE_S, os._exit, (1,))
    too_late.daemon = True
    too_late.start()
    engine = Engine(native_stack, reservation)
    try:
        code = wasmtime.Module(engine.wasm, wasm).serialize()
    except wasmtime.WasmtimeError as error:
        sys.exit(str(error).replace("\n", " "))
    if path and store(Path(path), code):
        sys.stdout.buffer.write(KEPT)
    else:
        sys.stdout.buffer.write(len(code).to_bytes(SIZE_BYTES, "little"))
        sys.stdout.buffer.write(code)
    sys.stdout.buffer.flush()


def _read() -> bytes:
    """The next part of the input."""
    size = sys.stdin.buffer.read(SIZE_BYTES)
    content = sys.stdin.buffer.read(int.from_bytes(size, "little"))
    if len(size) < SIZE_BYTES or len(content) < int.from_bytes(size, "little"):
        sys.exit("the input ended early")
    return content
