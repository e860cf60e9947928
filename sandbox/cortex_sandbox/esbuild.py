"""esbuild as a guest: one request, one answer, one instance.

Rules kept here:
- every run starts from the same image, made when this package was built (`hatch_build.py`): a service that waits for
  its request. It sees the files of its request (`world.py`) and nothing that another run left. The pages that it will
  write to, as far as the build saw them, it gets all at once;
- time and memory are limited as for any guest, and so is the answer;
- nothing outlives a run, no thread and no file, so that a fork may come at any time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import wasmtime

from .code_cache import load_module
from .engine import BUNDLER_MEMORY_BYTES, Engine, bundler_engine, constants_of, deep_threads
from .errors import SandboxError, SandboxTimeout
from .esbuild_protocol import PREPARED_ENTRY, PREPARED_KEY, build_request, decode_answer, prepared_request
from .guests import read_guest
from .imports import define_import
from .instance import Instance
from .pages import from_constants
from .world import CALLS, Call, Finished, World

_START = {"_start": 0}
_KEY = 0  # the image's own requests have others


class AnswerTooLong(Exception):
    """The answer has more bytes than it may have."""


class _Image(NamedTuple):
    pre: wasmtime.InstancePre
    written: Sequence[tuple[int, int]]


class _Run(Instance):
    """An instance with the world that it sees."""

    def __init__(self, engine: Engine, image: _Image, world: World) -> None:
        super().__init__(engine, image.pre, BUNDLER_MEMORY_BYTES, _START, written=image.written)
        self.world = world


def build(files: Mapping[str, str], entry: str, *, timeout_s: float, answer_bytes: int) -> dict[str, Any] | None:
    """What esbuild answers when asked for the module whose first file is `entry`; None when it broke off.

    Args:
        files: text by relative POSIX path.
        entry: one of these paths.
        timeout_s: wall-clock seconds, apart from compiling esbuild itself, which happens once a machine.
        answer_bytes: the longest answer.

    Raises:
        SandboxTimeout: past the time limit.
        SandboxError: named `Interrupted`, when the interpreter ends meanwhile.
        AnswerTooLong: more than `answer_bytes`.

    """
    engine = bundler_engine()
    image = _image(engine)
    request = prepared_request(PREPARED_KEY) if entry == PREPARED_ENTRY else build_request(_KEY, entry)
    world = World(files, request, answer_bytes)
    run = _Run(engine, image, world)
    try:
        deadline = time.monotonic() + timeout_s
        deep_threads.run(lambda: run.run(run.functions["_start"], deadline), run.interrupt)
    except Finished as finished:
        finished.__traceback__ = None  # or its frames, the caller's too, would live until the next garbage collection
        if world.too_long:
            raise AnswerTooLong from None
    except SandboxError as error:
        if error.name == "Interrupted":
            raise
        if isinstance(error, SandboxTimeout) or time.monotonic() >= deadline:
            raise SandboxTimeout("stopped: transpiling took longer than its time limit", "Timeout") from None
        return None
    finally:
        run.close()
    return None if world.answer is None else decode_answer(world.answer)


@cache
def _image(engine: Engine) -> _Image:
    wasm = read_guest("esbuild.wasm")
    module = load_module(engine, "esbuild", engine.settings, lambda: wasm, wasm)
    linker = wasmtime.Linker(engine.wasm)
    for name, params, results, call in CALLS:
        _kept.append(define_import(linker, "wasi_snapshot_preview1", name, params, results, _bound(call)))
    pre = linker.instantiate_pre(module)
    return _Image(pre, from_constants(constants_of(engine, pre)))


# The callbacks that linked modules call: they live as long as the process.
_kept: list[object] = []


def _bound(call: Call) -> Any:
    return lambda instance, cells: call(instance.world, instance, cells)
