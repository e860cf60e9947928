"""The child process of `native_code`: compiles the module on standard input, and ends.

Rules kept here:
- the output is the length of the native code (8 bytes, little-endian) and the code;
- bytes that are not a module end the process with the reason on standard error.
"""

from __future__ import annotations

import sys

import wasmtime

from cortex_sandbox.engine.engine import Engine
from cortex_sandbox.engine.native_code import SIZE_BYTES


def main(native_stack: int, reservation: int) -> None:
    """Compile for an engine of these dimensions."""
    engine = Engine(native_stack, reservation)
    try:
        code = wasmtime.Module(engine.wasm, sys.stdin.buffer.read()).serialize()
    except wasmtime.WasmtimeError as error:
        sys.exit(str(error).replace("\n", " "))
    sys.stdout.buffer.write(len(code).to_bytes(SIZE_BYTES, "little"))
    sys.stdout.buffer.write(code)
    sys.stdout.buffer.flush()
