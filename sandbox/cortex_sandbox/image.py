"""The QuickJS guest as it stands when its bootstrap has run, baked into a module: where every sandbox starts.

Rules kept here:
- made once a machine: the bootstrap runs, the memory is baked, the result is compiled and kept by the code cache;
- the image has no `eval`, no `Function` that compiles: the engine's compiler is not part of its context. Source is
  compiled in an instance of its own, which adds the compiler to the context and runs nothing;
- nothing in the image is secret or random: every sandbox begins with the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import wasmtime

from .code_cache import load_module
from .engine import Engine
from .errors import SandboxMemoryError
from .guests import read_guest
from .imports import Imports
from .instance import Instance
from .wasm_image import bake

# What is exported and called, with the number of parameters.
EXPORTS: Mapping[str, int] = {
    "JS_AddIntrinsicEval": 1,
    "qjs_call": 4,
    "qjs_compile": 6,
    "qjs_eval_bytecode": 2,
    "qjs_execute_pending_job": 0,
    "qjs_free_cstring": 1,
    "qjs_free_value": 1,
    "qjs_get_context_ptr": 0,
    "qjs_get_exception": 0,
    "qjs_get_string_len": 2,
    "qjs_is_exception": 1,
    "qjs_is_job_pending": 0,
    "qjs_is_undefined": 1,
    "qjs_new_string": 2,
    "qjs_set_max_stack_size": 1,
    "qjs_set_memory_limit": 1,
    "wasm_free": 1,
    "wasm_malloc": 1,
}
_BAKING: Mapping[str, int] = {
    "_initialize": 0,
    "qjs_get_global": 0,
    "qjs_get_prop_uint32": 2,
    "qjs_get_undefined": 0,
    "qjs_init2": 1,
    "qjs_new_host_function": 3,
    "qjs_set_prop_string": 3,
}
# The functions of bootstrap.ts, in its order.
ENTRIES = ("call", "settle", "takeOutcome", "adopt", "inspect", "install", "describe")

# Bits of qjs_init2: which parts of the language a context gets.
_DATE, _EVAL, _REGEXP, _JSON, _PROXY, _MAP_SET, _TYPED_ARRAYS, _PROMISE, _BIG_INT = (1 << bit for bit in range(9))
_IN_IMAGE = _DATE | _REGEXP | _JSON | _PROXY | _MAP_SET | _TYPED_ARRAYS | _PROMISE | _BIG_INT

SCRATCH_BYTES = 64 << 10
_BAKING_STACK = 128 << 10
_BAKING_S = 30.0
# The name under which the bootstrap finds its one host function, before it removes it.
HOST_NAME = "__host"


@dataclass(frozen=True)
class Image:
    """Compiled code that starts where the bootstrap ended, and where things lie in its memory.

    Attributes:
        pre: the module, its imports linked.
        memory_bytes: the linear memory that it starts with.
        entries: the handle of each function of the bootstrap, by name.
        undefined: a handle of `undefined`.
        scratch: a buffer of `SCRATCH_BYTES` for arguments on their way in.
        imports: what the linked imports need to stay alive.

    """

    pre: wasmtime.InstancePre
    memory_bytes: int
    entries: Mapping[str, int]
    undefined: int
    scratch: int
    imports: Imports


@cache
def image_for(engine: Engine) -> Image:
    """The image, compiled for this engine; the first call on a machine takes about a second.

    Raises:
        FileNotFoundError: when the build did not bring the guests.

    """
    wasm, bootstrap = read_guest("quickjs.wasm"), read_guest("bootstrap.js")
    imports = Imports(engine)
    module = load_module(
        engine.wasm,
        "quickjs",
        engine.settings,
        lambda: _bake(engine, imports, wasm, bootstrap),
        wasm,
        bootstrap,
    )
    pre = imports.linker.instantiate_pre(module)
    constant, memory_bytes = _read_places(engine, pre)
    return Image(
        pre=pre,
        memory_bytes=memory_bytes,
        entries={name: constant[name] for name in ENTRIES},
        undefined=constant["undefined"],
        scratch=constant["scratch"],
        imports=imports,
    )


def _read_places(engine: Engine, pre: wasmtime.InstancePre) -> tuple[dict[str, int], int]:
    """Where things lie, which the image exports as globals, and how large its memory is."""
    store = wasmtime.Store(engine.wasm)
    store.set_epoch_deadline(1)
    exports: Any = pre.instantiate(store).exports(store)
    places = {name: int(exports[name].value(store)) for name in (*ENTRIES, "undefined", "scratch")}
    return places, exports["memory"].data_len(store)


def _bake(engine: Engine, imports: Imports, wasm: bytes, bootstrap: bytes) -> bytes:
    """Run the bootstrap in a fresh guest and bake what it leaves."""
    module = wasmtime.Module(engine.wasm, wasm)
    pre = imports.linker.instantiate_pre(module)
    bytecode = _compile_bootstrap(engine, pre, bootstrap)
    guest = Instance(engine, pre, 16 << 20, {**EXPORTS, **_BAKING})

    def boot() -> dict[str, int]:
        call = guest.functions
        call["_initialize"]()
        call["qjs_init2"](_IN_IMAGE)
        call["qjs_set_max_stack_size"](_BAKING_STACK)
        scratch = call["wasm_malloc"](SCRATCH_BYTES)
        guest.write(scratch, HOST_NAME.encode() + b"\0host\0")
        host = call["qjs_new_host_function"](scratch + len(HOST_NAME) + 1, 4, 1)
        call["qjs_set_prop_string"](call["qjs_get_global"](), scratch, host)
        call["qjs_free_value"](host)
        code = call["wasm_malloc"](len(bytecode))
        guest.write(code, bytecode)
        functions = call["qjs_eval_bytecode"](code, len(bytecode))
        call["wasm_free"](code)
        places = {name: call["qjs_get_prop_uint32"](functions, index) for index, name in enumerate(ENTRIES)}
        call["qjs_free_value"](functions)
        guest.write(scratch, bytes(SCRATCH_BYTES))
        return {**places, "undefined": call["qjs_get_undefined"](), "scratch": scratch}

    places = guest.run(boot, time.monotonic() + _BAKING_S)
    return bake(wasm, guest.read(0, guest.memory_size), places)


def _compile_bootstrap(engine: Engine, pre: wasmtime.InstancePre, bootstrap: bytes) -> bytes:
    guest = Instance(engine, pre, 16 << 20, {**EXPORTS, **_BAKING})

    def compile_it() -> bytes:
        call = guest.functions
        call["_initialize"]()
        call["qjs_init2"](_IN_IMAGE | _EVAL)
        call["qjs_set_max_stack_size"](_BAKING_STACK)
        return compile_source(guest, bootstrap, "cortex:bootstrap", flags=0)

    return guest.run(compile_it, time.monotonic() + _BAKING_S)


def compile_source(guest: Instance, source: bytes, filename: str, *, flags: int) -> bytes:
    """The bytecode of a source text; empty when it does not compile (the guest then holds the exception).

    Args:
        guest: a guest whose context has the compiler.
        source: UTF-8 text.
        filename: as it shall stand in stacks.
        flags: 0 for a script, 1 for an ES module.

    """
    call = guest.functions
    name = filename.encode("utf-8", "replace").replace(b"\0", b"?")
    text = call["wasm_malloc"](len(source) + len(name) + 6)
    if not text:
        raise SandboxMemoryError("the source text does not fit into the memory limit", "InternalError")
    guest.write(text, source)
    guest.write(text + len(source), b"\0" + name + b"\0")
    length_at = text + len(source) + len(name) + 2
    code = call["qjs_compile"](text, len(source), text + len(source) + 1, flags, 0, length_at)
    if not code:
        return b""
    length = int.from_bytes(guest.read(length_at, 4), "little")
    return guest.read(code, length)
