"""The image: the QuickJS guest after its bootstrap has run, baked into a module. Every sandbox starts from it.

Rules kept here:
- made once per machine: the bootstrap runs, the memory is baked, the result is compiled and kept by the code cache;
- the image has no `eval` and no `Function` constructor that compiles: the compiler is not part of its context. Source
  is compiled in a separate instance, which adds the compiler to the context and runs nothing;
- nothing in the image is secret or random: every sandbox starts with the same bytes;
- there are two images: one with a memory of fixed size, whose access checks take fewer instructions, and one with a
  memory that grows, for larger limits.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import wasmtime

from cortex_sandbox.engine.bake import PAGE, bake
from cortex_sandbox.engine.code_cache import load_module
from cortex_sandbox.engine.engine import Engine, constants_of
from cortex_sandbox.engine.guests import read_guest
from cortex_sandbox.engine.instance import Instance
from cortex_sandbox.errors import SandboxError, SandboxMemoryError
from cortex_sandbox.quickjs.imports import Imports

# The exported functions (`guest/engine/guest.c`) that are called, with their numbers of parameters.
EXPORTS: Mapping[str, int] = {
    "guest_add_compiler": 0,
    "guest_alloc": 1,
    "guest_compile": 4,
    "guest_enter": 3,
    "guest_limit": 3,
    "guest_run": 3,
}
_BAKING: Mapping[str, int] = {
    "_initialize": 0,
    "guest_boot": 2,
    "guest_free": 1,
    "guest_mail": 0,
    "guest_scratch": 0,
    "guest_start": 0,
    "guest_used": 0,
}
# The functions of bootstrap.ts, in the order of bootstrap.ts and guest.c.
ENTRIES = ("call", "settle", "takeOutcome", "adopt", "install", "describe")
# The status of a call: no result, a result, a description of an error, out of memory.
NOTHING, TEXT, THREW, NO_MEMORY = range(4)

SCRATCH_BYTES = 64 << 10
# Memory of the engine beside the guest's heap: fragmentation, and the text that crosses the border.
OVERHEAD_BYTES = 4 << 20
# The size of the memory that does not grow. It must be at most 32 MB above the smallest limit of a guest.
FIXED_BYTES = 16 << 20
_BAKING_STACK = 128 << 10
_BAKING_BYTES = 16 << 20
_BAKING_S = 30.0
_MAIL = struct.Struct("<II")
STOP_AT = _MAIL.size  # `mail.stop` in guest.c, relative to `mail`


@dataclass(frozen=True)
class Image:
    """A compiled image, with addresses in its memory.

    Attributes:
        pre: the module with its imports linked.
        memory_bytes: the memory in use at the start.
        final_bytes: the fixed size of the memory; None when it grows.
        used: the address of the number of pages in use.
        mail: the address of the pointer to and length of a text for the host.
        scratch: the address of a buffer of `SCRATCH_BYTES` for texts from the host.
        imports: the linked imports, which must stay alive.
    """

    pre: wasmtime.InstancePre
    memory_bytes: int
    final_bytes: int | None
    used: int
    mail: int
    scratch: int
    imports: Imports


def image_for(engine: Engine, memory_bytes: int) -> Image:
    """The image for guests with this limit, compiled for this engine; the first call on a machine takes a second.

    Args:
        engine: the engine of the guests.
        memory_bytes: the limit of their JavaScript heap.

    Raises:
        FileNotFoundError: when the build did not bring the guests.
    """
    fixed = _image(engine, FIXED_BYTES)
    return fixed if fixed.memory_bytes + memory_bytes + OVERHEAD_BYTES <= FIXED_BYTES else _image(engine, None)


@cache
def _image(engine: Engine, final_bytes: int | None) -> Image:
    wasm, bootstrap = read_guest("quickjs.wasm"), read_guest("bootstrap.js")
    imports = Imports(engine)
    module = load_module(
        engine,
        "quickjs",
        f"{engine.settings},{final_bytes}",
        lambda: _bake(engine, imports, wasm, bootstrap, final_bytes),
        wasm,
        bootstrap,
    )
    pre = imports.linker.instantiate_pre(module)
    constant = constants_of(engine, pre)
    return Image(
        pre=pre,
        memory_bytes=constant["image"],
        final_bytes=final_bytes,
        used=constant["used"],
        mail=constant["mail"],
        scratch=constant["scratch"],
        imports=imports,
    )


def _bake(engine: Engine, imports: Imports, wasm: bytes, bootstrap: bytes, final_bytes: int | None) -> bytes:
    """Run the bootstrap in a new guest and bake its memory."""
    module = load_module(engine, "quickjs-core", engine.settings, lambda: wasm, wasm)
    pre = imports.linker.instantiate_pre(module)
    bytecode = _compile(engine, pre, bootstrap, "cortex:bootstrap", as_module=False)
    guest = Instance(engine, pre, _BAKING_BYTES, {**EXPORTS, **_BAKING})
    call = guest.functions

    def boot() -> dict[str, int]:
        _start(guest)
        code = call["guest_alloc"](len(bytecode))
        guest.write(code, bytecode)
        if call["guest_boot"](code, len(bytecode)):
            raise SandboxError("the bootstrap did not run", "SandboxBroken")
        guest.write(code, bytes(len(bytecode)))
        call["guest_free"](code)
        return {"mail": call["guest_mail"](), "scratch": call["guest_scratch"](), "used": call["guest_used"]()}

    places = guest.run(boot, time.monotonic() + _BAKING_S)
    memory = guest.read(0, guest.memory_size)
    return bake(wasm, memory, {**places, "image": len(memory)}, final_bytes and final_bytes // PAGE)


def _compile(engine: Engine, pre: wasmtime.InstancePre, source: bytes, filename: str, *, as_module: bool) -> bytes:
    guest = Instance(engine, pre, _BAKING_BYTES, {**EXPORTS, **_BAKING})

    def compile_it() -> bytes:
        _start(guest)
        guest.functions["guest_add_compiler"]()
        if compile_source(guest, source, filename, as_module=as_module) != TEXT:
            raise SandboxError(f"{filename} does not compile", "SandboxBroken")
        return read_mail(guest, guest.functions["guest_mail"](), len(source) * 8)

    return guest.run(compile_it, time.monotonic() + _BAKING_S)


def _start(guest: Instance) -> None:
    guest.functions["_initialize"]()
    if guest.functions["guest_start"]():
        raise SandboxError("the guest did not start", "SandboxBroken")
    guest.functions["guest_limit"](0, _BAKING_BYTES // PAGE, _BAKING_STACK)


def compile_source(guest: Instance, source: bytes, filename: str, *, as_module: bool) -> int:
    """Compile a source text; the status, `TEXT` for bytecode.

    Args:
        guest: a guest whose context has the compiler.
        source: UTF-8 text.
        filename: the name in stack traces.
        as_module: whether it is an ES module or a script.
    """
    name = filename.encode("utf-8", "replace").replace(b"\0", b"?")
    text = guest.functions["guest_alloc"](len(source) + len(name) + 2)
    if not text:
        raise SandboxMemoryError("the source text does not fit into the memory limit", "InternalError")
    guest.write(text, source)
    guest.write(text + len(source), b"\0" + name + b"\0")
    return guest.functions["guest_compile"](text, len(source), text + len(source) + 1, as_module)


def read_mail(guest: Instance, mail: int, limit: int) -> bytes:
    """The text that the guest passes to the host.

    Raises:
        SandboxError: when it is longer than `limit` bytes, or not in the guest's memory.
    """
    pointer, length = _MAIL.unpack(guest.read(mail, _MAIL.size))
    if length > limit:
        raise SandboxError(f"a text of {length} bytes exceeds the transfer limit of {limit}", "RangeError")
    return guest.read(pointer, length)
