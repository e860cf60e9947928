"""Native code compiled from the guests, kept between processes (`cache.py` has the folder and its checks).

Rules kept here:
- the key holds everything that determines the code: the guest's digest, the engine's version and settings, and the
  processor;
- processes that start at the same time compile once: the others wait for the first, or for its compiler, which ends its
  work and keeps the code when that process is killed;
- this process never compiles (`native_code.py`): its memory does not depend on whether the code was in the cache.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import wasmtime

from cortex_sandbox.compiling import compiles
from cortex_sandbox.engine.cache import cache_folder, is_private
from cortex_sandbox.engine.native_code import check_waiting, compile_apart, compile_into
from cortex_sandbox.errors import SandboxError

if TYPE_CHECKING:
    from wasmtime.component import Component

    from cortex_sandbox.engine.engine import Engine

try:
    import fcntl
except ImportError:  # Windows: every process compiles
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

Code = TypeVar("Code", "wasmtime.Module", "Component")

_LOOK_S = 0.05


def load_module(engine: Engine, label: str, settings: str, wasm: Callable[[], bytes], *parts: bytes) -> wasmtime.Module:
    """A compiled module, from the cache or compiled now; arguments and errors as `load_code`."""
    return load_code(wasmtime.Module, engine, label, settings, wasm, *parts)


def load_code(
    kind: type[Code], engine: Engine, label: str, settings: str, wasm: Callable[[], bytes], *parts: bytes
) -> Code:
    """A compiled module or component, from the cache or compiled now.

    Args:
        kind: what the bytes are.
        engine: the engine that will run it.
        label: a short name for log lines and file names.
        settings: the engine's settings as text; part of the key.
        wasm: returns the module's bytes; called only when the cache has no code.
        parts: the inputs of these bytes, or their digest; part of the key.

    Raises:
        SandboxError: as `compile_apart`.
    """
    folder = cache_folder()
    digest = hashlib.sha256()
    machine = f"{_version()}|{platform.machine()}|{_processor()}|{settings}"
    for part in (machine.encode(), *parts):
        digest.update(len(part).to_bytes(8, "big") + part)
    path = folder / f"{label}-{digest.hexdigest()[:40]}.cwasm" if folder else None
    if path is not None and (module := _cached(kind, engine.wasm, path)) is not None:
        return module
    with compiles(label), _alone(path) as lock:
        if path is not None and (module := _cached(kind, engine.wasm, path)) is not None:
            return module  # another process has compiled it meanwhile
        log.info("compiling %s for this machine (once)", label)
        code = None
        if path is not None:
            code = compile_into(path, lock, engine.dimensions, wasm())
            # The file is preferred to the bytes: it is mapped, and pages that are not used take no memory.
            if code is None and (module := _cached(kind, engine.wasm, path)) is not None:
                return module
        return kind.deserialize(engine.wasm, code or compile_apart(engine.dimensions, wasm()))


@contextmanager
def _alone(path: Path | None) -> Iterator[int | None]:
    """Compile in one process at a time; gives the descriptor that has the lock, if any."""
    if path is None or fcntl is None:
        yield None
        return
    try:
        handle = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        yield None  # the cache cannot be written to: every process compiles
        return
    try:
        while not _locked(handle):
            check_waiting()
            time.sleep(_LOOK_S)
        yield handle
        fcntl.flock(handle, fcntl.LOCK_UN)  # closing is not enough: a child forked meanwhile has it open too
    except SandboxError as error:
        if error.name != "Interrupted":  # else a compiler is still at work, with this lock
            fcntl.flock(handle, fcntl.LOCK_UN)
        raise
    except Exception:
        fcntl.flock(handle, fcntl.LOCK_UN)
        raise
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _cached(kind: type[Code], engine: wasmtime.Engine, path: Path) -> Code | None:
    try:
        if not is_private(path, stat.S_ISREG):
            return None
        return kind.deserialize_file(engine, str(path))
    except FileNotFoundError:
        return None
    except (OSError, wasmtime.WasmtimeError) as error:
        log.warning("the compiled guest %s cannot be used (%s): compiling again", path.name, error)
        return None


def _version() -> str:
    """The engine's version, from the name of its metadata folder; `importlib.metadata` is slow to import."""
    beside = Path(wasmtime.__file__).parents[1].glob("wasmtime-*.dist-info")
    if versions := sorted(path.name[len("wasmtime-") : -len(".dist-info")] for path in beside):
        return " ".join(versions)
    from importlib.metadata import version

    return version("wasmtime")


def _processor() -> str:
    """The processor's model and features, where the system reports them: code for one may not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0].splitlines()
        return "|".join(line for line in lines if line.startswith(("model name", "flags", "Features")))
    except OSError:
        return platform.processor()
