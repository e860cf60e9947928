"""Native code compiled from the guests, kept between processes.

Rules kept here:
- compiled code is run without further checks, so the folder must be the user's alone: created 0700, owned by the
  user, no link, not writable by anybody else; otherwise the cache is not used at all;
- the key holds everything that decides what the code is: the guest's hash, the engine's version and settings, and
  the machine's processor;
- processes that start together compile once: the others wait for the first;
- a file appears whole or not at all (written beside, then renamed), so that a killed process leaves nothing broken;
- without a usable cache everything works, only slower to start; the log says so once.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import wasmtime

if TYPE_CHECKING:
    from .engine import Engine

try:
    import fcntl
except ImportError:  # Windows: every process compiles for itself
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)


def cache_folder() -> Path | None:
    """The private folder for compiled code, created when absent; None when it cannot be made safe."""
    override = os.environ.get("CORTEX_SANDBOX_CACHE")
    if override:
        folder = Path(override)
    else:
        import platformdirs

        folder = Path(platformdirs.user_cache_dir("cortex-skills", appauthor=False)) / "code"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_private(folder, stat.S_ISDIR) else None
    except OSError as error:
        log.warning("no cache for compiled guests in %s (%s): every start compiles anew", folder, error)
        return None


def load_module(engine: Engine, label: str, settings: str, wasm: Callable[[], bytes], *parts: bytes) -> wasmtime.Module:
    """A compiled module, from the cache or compiled now.

    Args:
        engine: the engine that will run it.
        label: a short name for log lines and file names.
        settings: the engine's settings as text; part of the key.
        wasm: makes the module's bytes; only called when the cache has no code.
        parts: what the bytes are made from; part of the key.

    Raises:
        wasmtime.WasmtimeError: when the bytes are no module.

    """
    folder = cache_folder()
    digest = hashlib.sha256()
    machine = f"{version('wasmtime')}|{platform.machine()}|{_processor()}|{settings}"
    for part in (machine.encode(), *parts):
        digest.update(len(part).to_bytes(8, "big") + part)
    path = folder / f"{label}-{digest.hexdigest()[:40]}.cwasm" if folder else None
    if path is not None and (module := _cached(engine.wasm, path)) is not None:
        return module
    with _alone(path):
        if path is not None and (module := _cached(engine.wasm, path)) is not None:
            return module  # another process has just compiled it
        log.info("compiling %s for this machine (once)", label)
        module = engine.compile(wasm())
        if path is not None:
            _store(path, bytes(module.serialize()))
    return module


@contextmanager
def _alone(path: Path | None) -> Iterator[None]:
    """Compile in one process at a time: several that start together would only slow each other down."""
    if path is None or fcntl is None:
        yield
        return
    try:
        handle = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        yield  # a cache that cannot be written to: everybody compiles
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # a child that was forked meanwhile has this open too
        os.close(handle)


def _cached(engine: wasmtime.Engine, path: Path) -> wasmtime.Module | None:
    try:
        if not _is_private(path, stat.S_ISREG):
            return None
        return wasmtime.Module.deserialize_file(engine, str(path))
    except FileNotFoundError:
        return None
    except (OSError, wasmtime.WasmtimeError) as error:
        log.warning("the compiled guest %s cannot be used (%s): compiling anew", path.name, error)
        return None


def _store(path: Path, code: bytes) -> None:
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(code)
                file.flush()
                os.fsync(file.fileno())
            Path(scratch).replace(path)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
    except OSError as error:
        log.warning("the compiled guest could not be kept in %s (%s)", path.parent, error)


def _is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Whether a path is of the kind, this user's own, no link, and writable by nobody else."""
    info = path.lstat()
    if not hasattr(os, "getuid"):
        return is_kind(info.st_mode)
    safe = is_kind(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o022
    if not safe:
        log.warning("%s is not private to this user: compiled guests are not read from it", path)
    return safe


def _processor() -> str:
    """The processor's model and features where the system tells: code compiled for one may not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0].splitlines()
        return "|".join(line for line in lines if line.startswith(("model name", "flags", "Features")))
    except OSError:
        return platform.processor()
