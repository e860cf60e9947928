"""esbuild as a guest: one request, one response, one instance.

Rules kept here:
- every run has its own instance and sees only the files of its request (`wasi.py`);
- the files are in a folder whose name no import can contain, a digest of them all: a path that climbs above the folder,
  or starts at the root, does not lead back to them;
- run time, memory and the size of the response are limited;
- nothing outlives a run, no thread and no open file, so that the process can fork at any time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import wasmtime

from cortex_sandbox.engine.code_cache import load_module
from cortex_sandbox.engine.engine import BUNDLER_MEMORY_BYTES, Engine, bundler_engine, deep_threads
from cortex_sandbox.engine.guests import manifest, read_guest
from cortex_sandbox.engine.instance import Instance
from cortex_sandbox.engine.linker import define_import
from cortex_sandbox.errors import SandboxError, SandboxTimeout
from cortex_sandbox.esbuild.protocol import build_request, decode_output
from cortex_sandbox.esbuild.wasi import Call, Finished, WasiState, calls

_START = {"_start": 0}
# Few collections: most runs end before the first. Near the memory limit there are more.
_ENVIRONMENT = ("PWD=/", "GOGC=400", f"GOMEMLIMIT={BUNDLER_MEMORY_BYTES // 2}")


class ResponseTooLong(Exception):
    """The response exceeds its size limit."""


class _Run(Instance):
    """An instance with the state of its WASI calls."""

    def __init__(self, engine: Engine, wasi: WasiState) -> None:
        super().__init__(engine, _linked(engine), BUNDLER_MEMORY_BYTES, _START)
        self.wasi = wasi


def build(
    files: Mapping[str, str],
    entry: str,
    *,
    packages: Mapping[str, str],
    options: Sequence[str],
    timeout_s: float,
    response_bytes: int,
) -> dict[str, Any]:
    """Esbuild's response to a request to bundle `entry`.

    Args:
        files: text by relative POSIX path.
        entry: one of these paths.
        packages: one of these paths by the name of the package that it stands for.
        options: of the command line of esbuild.
        timeout_s: wall-clock seconds, without the time to compile esbuild itself, once per machine.
        response_bytes: the maximum size of the response.

    Raises:
        SandboxTimeout: past the time limit.
        SandboxError: named `Interrupted`, when the interpreter exits during the run.
        ResponseTooLong: more than `response_bytes`.
        ValueError: esbuild stopped before it responded: out of memory or stack.
    """
    engine = bundler_engine()
    folder = hashlib.sha256(repr(sorted(files.items())).encode("utf-8", "replace")).hexdigest()
    placed = {f"{folder}/{path}": text for path, text in files.items()}
    wasi = WasiState(placed, build_request(entry, packages, f"/{folder}", options), response_bytes)
    run = _Run(engine, wasi)
    try:
        deadline = time.monotonic() + timeout_s
        deep_threads.run(
            lambda: run.run(run.functions["_start"], deadline),
            run.interrupt,
            deadline=deadline,
            when_late=engine.clock.advance,
        )
    except Finished as finished:
        finished.__traceback__ = None  # it would keep all frames alive, the caller's too, until the next collection
        if wasi.too_long:
            raise ResponseTooLong from None
    except SandboxError as error:
        if error.name == "Interrupted":
            raise
        if isinstance(error, SandboxTimeout) or time.monotonic() >= deadline:
            raise SandboxTimeout("stopped: transpiling took longer than its time limit", "Timeout") from None
        raise ValueError("esbuild stopped before it responded") from None
    finally:
        run.close()
    return decode_output(bytes(wasi.output))


def prepare_bundler() -> None:
    """Compile esbuild, if that was not done on this machine."""
    _linked(bundler_engine())


@cache
def _linked(engine: Engine) -> wasmtime.InstancePre:
    """The compiled module with its imports."""
    digest = manifest()["sha256"]["esbuild.wasm"].encode()
    module = load_module(engine, "esbuild", engine.settings, lambda: read_guest("esbuild.wasm"), digest)
    linker = wasmtime.Linker(engine.wasm)
    arguments = ("esbuild", f"--service={manifest()['esbuild']}")
    for name, params, results, call in calls(arguments, _ENVIRONMENT):
        _callbacks.append(define_import(linker, "wasi_snapshot_preview1", name, params, results, _on_instance(call)))
    return linker.instantiate_pre(module)


# Linked modules call these functions: they must live as long as the process.
_callbacks: list[object] = []


def _on_instance(call: Call) -> Any:
    return lambda instance, cells: call(instance.wasi, instance, cells)
