"""The process that runs esbuild: it starts the service once, and forks a child for each request.

Rules kept here:
- guard pages and traps by signals need signal handlers, which a plugin does not install in the process of its host.
  This process has no descriptor, environment or memory of the host;
- the service has bundled one constant before the first fork, and waits for input then. A child answers one request and
  ends, so that nothing of one skill is there for another; where the system cannot fork, so does this process;
- the kernel ends a child at the deadline of its request, and limits its processor time and memory;
- this process ends when its input does.

The input is the path of the native code, empty for code that follows, then the requests, each with its length before it
(`SIZE`): a JSON list of the files, the entry, the packages, the options, the seconds and the maximum size of the
response. The output is an answer to each, `HEAD` and bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import struct
from pathlib import Path
from typing import Any, NoReturn

import wasmtime

from cortex_sandbox.engine.engine import BUNDLER_MEMORY_BYTES, Engine, bundler_dimensions, deep_threads
from cortex_sandbox.engine.guests import manifest
from cortex_sandbox.engine.instance import Instance
from cortex_sandbox.engine.linker import define_import
from cortex_sandbox.engine.reentrancy import enter
from cortex_sandbox.esbuild.protocol import build_request, version_end
from cortex_sandbox.esbuild.wasi import Call, Finished, WasiState, calls

try:
    import resource

    from cortex_sandbox.engine.process_limits import allowed, set_limit
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SIZE = struct.Struct("<Q")
HEAD = struct.Struct("<cQ")
# What an answer is: ready; code that does not run here; the output of the service; more output than permitted; output
# that is not whole; the deadline.
READY, UNUSABLE, OUTPUT, TOO_LONG, STOPPED, LATE = b"r", b"u", b"o", b"t", b"s", b"l"
_FORKS = hasattr(os, "fork")
# Few collections: most runs end before the first. Near the memory limit there are more.
_ENVIRONMENT = ("PWD=/", "GOGC=400", f"GOMEMLIMIT={BUNDLER_MEMORY_BYTES // 2}")
_FIRST_BYTES = 1 << 20
# What a child may use beside the memory of the guest: its input and output, several times.
_BESIDE_BYTES = 512 << 20
_DESCRIPTORS = 16


def main() -> NoReturn:
    """Start esbuild, and answer requests until the input ends."""
    code: Path | bytes = Path(os.fsdecode(_read()))
    if code == Path():
        code = _read()
    engine = Engine(*bundler_dimensions())
    try:
        if isinstance(code, Path):
            module = wasmtime.Module.deserialize_file(engine.wasm, str(code))
        else:
            module = wasmtime.Module.deserialize(engine.wasm, code)
        service = Instance(engine, _linked(engine, module), BUNDLER_MEMORY_BYTES, {"_start": 0})
    except (OSError, wasmtime.WasmtimeError) as error:
        _answer(UNUSABLE, str(error).encode())
        os._exit(1)
    service.deadline = math.inf
    first = "first.ts"
    service.wasi = WasiState({first: "export default 1"}, build_request(first), _FIRST_BYTES, _wait)  # type: ignore[attr-defined]

    def run() -> NoReturn:
        try:
            enter(service)
            service.functions["_start"]()
        finally:
            _end(STOPPED)

    deep_threads.run(run)
    os._exit(1)


def _linked(engine: Engine, module: wasmtime.Module) -> wasmtime.InstancePre:
    linker = wasmtime.Linker(engine.wasm)
    arguments = ("esbuild", f"--service={manifest()['esbuild']}")
    for name, params, results, call in calls(arguments, _ENVIRONMENT):
        _callbacks.append(define_import(linker, "wasi_snapshot_preview1", name, params, results, _on_instance(call)))
    return linker.instantiate_pre(module)


# Linked modules call these functions: they must live as long as the process.
_callbacks: list[object] = []


def _on_instance(call: Call) -> Any:
    def called(instance: Any, cells: Any) -> int:
        try:
            return call(instance.wasi, instance, cells)
        except Finished:
            _end(TOO_LONG if instance.wasi.too_long else OUTPUT, bytes(instance.wasi.output))
        except BaseException:
            _end(STOPPED)

    return called


def _wait(wasi: WasiState) -> None:
    """Called when the service waits for input: once it has answered the first request, go on with the next one."""
    after_version = version_end(wasi.output)
    if after_version is None:
        return
    _limit_memory()
    _answer(READY)
    while (request := _read()) and _FORKS and (child := os.fork()):
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):  # it has written nothing, or the host has ended it
            timers = (signal.SIGALRM, signal.SIGXCPU)
            _answer(LATE if os.WTERMSIG(status) in timers else STOPPED)
    files, entry, packages, options, timeout_s, response_bytes = json.loads(request)
    _limit_time(timeout_s)
    folder = hashlib.sha256(repr(sorted(files.items())).encode("utf-8", "replace")).hexdigest()
    del wasi.output[after_version:]
    placed = {f"{folder}/{path}": text for path, text in files.items()}
    wasi.take(placed, build_request(entry, packages, f"/{folder}", options), response_bytes)


def _limit_memory() -> None:
    """Limit what this process and its children may allocate and open."""
    if resource is None:
        return
    for kind, limit in (
        (resource.RLIMIT_DATA, BUNDLER_MEMORY_BYTES + _BESIDE_BYTES),  # without the address space that is only reserved
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _DESCRIPTORS),
    ):
        set_limit(kind, limit)


def _limit_time(seconds: float) -> None:
    """End this process by a signal after this time, or as much processor time and a second."""
    if resource is None:
        return  # the host ends it
    used = math.ceil(resource.getrusage(resource.RUSAGE_SELF).ru_utime + seconds) + 1
    kind = resource.RLIMIT_CPU
    resource.setrlimit(kind, (allowed(kind, used), allowed(kind, used + 1)))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _end(kind: bytes, content: bytes = b"") -> NoReturn:
    _answer(kind, content)
    os._exit(0)


def _answer(kind: bytes, content: bytes = b"") -> None:
    left = memoryview(HEAD.pack(kind, len(content)) + content)
    while left:
        left = left[os.write(1, left) :]


def _read() -> bytes:
    """The next part of the input; this process ends when there is none."""
    (size,) = SIZE.unpack(_bytes(SIZE.size))
    return _bytes(size)


def _bytes(size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        piece = os.read(0, min(size - len(found), 1 << 20))
        if not piece:
            os._exit(0)
        found += piece
    return bytes(found)
