"""The QuickJS guest as it stands when its bootstrap has run, baked into a module: where every sandbox starts.

Rules kept here:
- made once a machine: the bootstrap runs, the memory is baked, the result is compiled and kept by the code cache;
- the image has no `eval`, no `Function` that compiles: the engine's compiler is not part of its context. Source is
  compiled in an instance of its own, which adds the compiler to the context and runs nothing;
- nothing in the image is secret or random: every sandbox begins with the same bytes;
- after the image was taken a skill is loaded, to see which pages that writes to: a guest gets those all at once;
- there are two: one whose memory has its final size, against which accesses are checked with fewer instructions, for
  guests whose limit comes near that size; and one whose memory grows, for larger limits.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import wasmtime

from .code_cache import load_module
from .engine import Engine, constants_of
from .errors import SandboxError, SandboxMemoryError
from .guests import read_guest
from .imports import Imports
from .instance import Instance
from .pages import JOINED, as_constants, differing, from_constants
from .wasm_image import PAGE, bake

# What is exported and called (`guest/engine/guest.c`), with the number of parameters.
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
# The functions of bootstrap.ts, in its order, which is the order of guest.c too.
ENTRIES = ("call", "settle", "takeOutcome", "adopt", "install", "describe")
# What a call of the guest comes to: nothing, an answer, a description of what was thrown, nothing for want of memory.
NOTHING, TEXT, THREW, NO_MEMORY = range(4)

SCRATCH_BYTES = 64 << 10
# What the engine itself needs beside the guest's heap: fragmentation, and the text under way at the border.
OVERHEAD_BYTES = 4 << 20
# The size of the memory that does not grow: its hard limit, whatever the guest does. No guest may be given so little
# that this would be more than 32 MB beyond it.
FIXED_BYTES = 16 << 20
_BAKING_STACK = 128 << 10
_BAKING_BYTES = 16 << 20
_BAKING_S = 30.0
# What is installed and loaded to see which pages nearly every guest will write to.
_REHEARSED_HOST = b'[["read","","read",false]]'
_REHEARSED_SKILL = b"""export default {
  name: "rehearsal",
  onQuery({ results }) { return { results: results.filter((row) => row.object !== null) }; },
};
"""
_MAIL = struct.Struct("<II")


@dataclass(frozen=True)
class Image:
    """Compiled code that starts where the bootstrap ended, and where things lie in its memory.

    Attributes:
        pre: the module, its imports linked.
        memory_bytes: what is in use of its linear memory as it starts.
        final_bytes: the size of its memory from the start and for good; None when it grows.
        used: where it is told how much of its memory is in use, in pages.
        mail: where the address and the length of a text lie that is handed over.
        scratch: a buffer of `SCRATCH_BYTES` for texts on their way in.
        written: the pages that nearly every guest writes to as it starts (`pages.bring`).
        imports: what the linked imports need to stay alive.

    """

    pre: wasmtime.InstancePre
    memory_bytes: int
    final_bytes: int | None
    used: int
    mail: int
    scratch: int
    written: tuple[tuple[int, int], ...]
    imports: Imports


def image_for(engine: Engine, memory_bytes: int) -> Image:
    """The image for guests with this limit, compiled for this engine; the first call on a machine takes a second.

    Args:
        engine: what runs them.
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
        f"{engine.settings},{final_bytes},{JOINED}",
        lambda: _bake(engine, imports, wasm, bootstrap, final_bytes),
        wasm,
        bootstrap,
        _REHEARSED_HOST + _REHEARSED_SKILL,
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
        written=from_constants(constant),
        imports=imports,
    )


def _bake(engine: Engine, imports: Imports, wasm: bytes, bootstrap: bytes, final_bytes: int | None) -> bytes:
    """Run the bootstrap in a fresh guest and bake what it leaves."""
    module = engine.compile(wasm)
    pre = imports.linker.instantiate_pre(module)
    bytecode = _compile(engine, pre, bootstrap, "cortex:bootstrap", as_module=False)
    skill = _compile(engine, pre, _REHEARSED_SKILL, "rehearsal.js", as_module=True)
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

    def rehearse() -> None:
        guest.write(places["scratch"], _REHEARSED_HOST)
        installed = call["guest_enter"](ENTRIES.index("install"), places["scratch"], len(_REHEARSED_HOST))
        guest.write(places["scratch"], skill)
        loaded = call["guest_run"](places["scratch"], len(skill), ENTRIES.index("adopt"))
        if (installed, loaded) != (TEXT, TEXT):
            raise SandboxError("the image cannot load a skill", "SandboxBroken")

    places = guest.run(boot, time.monotonic() + _BAKING_S)
    memory = guest.read(0, guest.memory_size)
    guest.run(rehearse, time.monotonic() + _BAKING_S)
    written = differing(memory, guest.read(0, len(memory)))
    constants = {**places, "image": len(memory), **as_constants(written)}
    return bake(wasm, memory, constants, final_bytes and final_bytes // PAGE)


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
    """What compiling a source text comes to: `TEXT` for bytecode.

    Args:
        guest: a guest whose context has the compiler.
        source: UTF-8 text.
        filename: as it shall stand in stacks.
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
    """The text that the guest hands over.

    Raises:
        SandboxError: when it is longer than `limit` bytes, or not in the guest's memory.

    """
    pointer, length = _MAIL.unpack(guest.read(mail, _MAIL.size))
    if length > limit:
        raise SandboxError(f"a text of {length} bytes crosses a border of {limit}", "RangeError")
    return guest.read(pointer, length)
