"""C that needs no library → a WebAssembly module that calls nobody, as `cortex_sandbox/pure.py` runs it.

Rules kept here:
- what the C calls and does not have is an error: nothing is left to be imported;
- every warning is an error;
- Zig lays the stack first, so that what runs out of it traps;
- the memory has its size from the start and for good: wasmtime then checks each access against a number, which takes a
  tenth less time than to look the size up. Nothing of it is touched before it is used.
"""

from __future__ import annotations

from pathlib import Path

from compiler import Compiler

_MEMORY_BYTES = 512 << 20

FLAGS = (
    "--target=wasm32-freestanding",
    "-nostdlib",
    "-O2",
    "-flto",
    "-msimd128",
    "-mbulk-memory",
    "-funsigned-char",
    "-fno-sanitize=undefined",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wl,--no-entry",
    "-Wl,-z,stack-size=65536",
    f"-Wl,--initial-memory={_MEMORY_BYTES}",
    f"-Wl,--max-memory={_MEMORY_BYTES}",
    "-Wl,--gc-sections",
    "-Wl,--strip-all",
)


def build(folder: Path, wasm: Path, compiler: Compiler) -> None:
    """Compile every C file of a folder to one module.

    Args:
        folder: where they are.
        wasm: where the module goes.
        compiler: what does it.

    Raises:
        RuntimeError: when it refuses.

    """
    compiler.compile(FLAGS, sorted(path.name for path in folder.glob("*.c")), folder, wasm)
