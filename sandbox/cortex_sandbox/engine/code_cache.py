"""Native code compiled from the guests, kept between processes (`cache.py` has the folder and its checks).

Rules kept here:
- the key holds everything that determines the code: the guest's digest, the engine's version and settings, and the
  processor. Code that came with the package (`portable.py`) is kept under the same name;
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
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import wasmtime

from cortex_sandbox.compiling import compiles
from cortex_sandbox.engine.cache import cache_folder, is_private, store
from cortex_sandbox.engine.native_code import check_waiting, compile_apart, compile_into
from cortex_sandbox.engine.portable import code_of_package
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
Used = TypeVar("Used")
# A file, or the code itself.
NativeCode = Path | bytes | bytearray

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

    def use(code: NativeCode) -> Code:
        if isinstance(code, Path):
            return kind.deserialize_file(engine.wasm, str(code))
        return kind.deserialize(engine.wasm, code)

    return use_code(use, engine.dimensions, label, settings, wasm, *parts)


def use_code(
    use: Callable[[NativeCode], Used],
    dimensions: tuple[int, ...],
    label: str,
    settings: str,
    wasm: Callable[[], bytes],
    *parts: bytes,
) -> Used:
    """What `use` makes of native code from the cache, of the package, or compiled now.

    Args:
        use: called with a file, or with the code where it cannot be kept; raises `wasmtime.WasmtimeError` or `OSError`
            for code that does not run here.
        dimensions: of the engine that will run it.
        label: a short name for log lines and file names.
        settings: the engine's settings as text; part of the key.
        wasm: returns the module's bytes; called only when there is no code.
        parts: the inputs of these bytes, or their digest; part of the key.

    Raises:
        SandboxError: as `compile_apart`.
    """
    folder = cache_folder()
    name = _name(label, settings, *parts)
    path = folder / f"{name}-{hashlib.sha256(_processor().encode()).hexdigest()[:8]}.cwasm" if folder else None
    if (used := _tried(use, path)) is not None or (used := _of_package(use, name, path)) is not None:
        return used
    with compiles(label), _alone(path) as lock:
        if (used := _tried(use, path)) is not None:
            return used  # another process has compiled it meanwhile
        log.info("compiling %s for this machine (once)", label)
        code = None
        if path is not None:
            code = compile_into(path, lock, dimensions, wasm())
            # The file is preferred to the bytes: it is mapped, and pages that are not used take no memory.
            if code is None and (used := _tried(use, path)) is not None:
                return used
        return use(code or compile_apart(dimensions, wasm()))


def _name(label: str, settings: str, *parts: bytes) -> str:
    """The name of code: everything that it depends on but the processor's features."""
    digest = hashlib.sha256()
    machine = f"{_version()}|{sys.platform}|{platform.machine()}|{settings}"
    for part in (machine.encode(), *parts):
        digest.update(len(part).to_bytes(8, "big") + part)
    return f"{label}-{digest.hexdigest()[:40]}"


def _of_package(use: Callable[[NativeCode], Used], name: str, path: Path | None) -> Used | None:
    """What `use` makes of the code that came with the package, kept in the cache; None without code that runs here."""
    code = code_of_package(name)
    if code is None:
        return None
    return _tried(use, path if path is not None and store(path, code) else code)


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


def _tried(use: Callable[[NativeCode], Used], code: NativeCode | None) -> Used | None:
    """What `use` makes of code; None when there is none that can be trusted and runs here."""
    try:
        if code is None or (isinstance(code, Path) and not is_private(code, stat.S_ISREG)):
            return None
        return use(code)
    except FileNotFoundError:
        return None
    except (OSError, wasmtime.WasmtimeError) as error:
        name = code.name if isinstance(code, Path) else "of this package"
        log.warning("the compiled guest %s cannot be used (%s): compiling again", name, error)
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
