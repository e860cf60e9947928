"""Temporary folders and files, and atomic replacement.

Rules kept here:
- each temporary folder and file is locked by the process that made it. What a killed process or a power cut leaves
  behind is unlocked, and is removed by the next process that makes one;
- files of other users and links are never touched;
- a file or folder that is being written appears under its name when it is complete, or not at all.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: files left behind are removed after a day
    fcntl = None  # type: ignore[assignment]

_PREFIXES = ("cortex-transfer-", "cortex-import-", "cortex-export-", "cortex-queries-")
_LOCK = ".in-use"
_YOUNG_S = 60.0  # between the creation of a folder and of its lock
_OLD_S = 86_400.0
_CURRENT_FOLDER = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


@contextmanager
def scratch_folder(place: Path | None = None) -> Iterator[Path]:
    """Make a folder for temporary files, removed afterwards; also removes those of ended processes.

    Args:
        place: where; None for the folder for temporary files (`TMPDIR`).
    """
    folder, lock = lasting_folder(_PREFIXES[0], place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def lasting_folder(beginning: str, place: Path | None = None) -> tuple[Path, IO[bytes]]:
    """Make a temporary folder that the caller removes; it is in use until the returned file is closed.

    Args:
        beginning: the start of its name, one of `_PREFIXES`.
        place: where; None for the folder for temporary files.
    """
    place = place or Path(tempfile.gettempdir())
    sweep(place)
    folder = Path(tempfile.mkdtemp(prefix=beginning, dir=place))
    return folder, _lock_of(folder)


def sweep(place: Path) -> list[Path]:
    """Remove the unused scratch folders in a folder; returns them."""
    gone = []
    for folder in [found for prefix in _PREFIXES for found in place.glob(f"{prefix}*")]:
        with suppress(OSError):
            if _is_left_behind(folder):
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(folder)
    return gone


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears when it is complete and on the disk; a device is written to directly.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    _sweep_parts(path)
    part = _part_of(path)
    try:
        with part.open("xb") as file:
            _locked(file)
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Write a folder that appears when it is complete; no folder of that name may exist, or an empty one.

    Raises:
        OSError: it cannot be written, or exists.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep_parts(path)
    part = _part_of(path)
    part.mkdir(mode=0o700)
    lock = _lock_of(part)
    try:
        yield part
        sync_folder(part)
        (part / _LOCK).unlink()
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    finally:
        lock.close()
    sync_folder(path.parent)


def exchange(first: Path, second: Path) -> None:
    """Exchange the names of two folders, in one step on Linux and macOS.

    Elsewhere, or on a file system without that operation, the second folder is renamed to `.NAME.replaced` first, where
    it is found complete after a crash.

    Raises:
        OSError: they could not be renamed.
    """
    if not _exchanged(os.fsencode(first), os.fsencode(second)):
        aside = second.with_name(f".{second.name}.replaced")
        second.rename(aside)
        try:
            first.rename(second)
        except OSError:
            aside.rename(second)
            raise
        aside.rename(first)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _part_of(path: Path) -> Path:
    return path.with_name(f".{path.name[:200]}.{os.getpid()}.part")


def _sweep_parts(path: Path) -> None:
    beginning = f".{path.name[:200]}."
    with suppress(OSError):
        for part in path.parent.iterdir():
            number = part.name.removeprefix(beginning).removesuffix(".part")
            if part.name != f"{beginning}{number}.part" or not number.isdecimal():
                continue
            with suppress(OSError):
                if stat.S_ISREG(part.lstat().st_mode):
                    if _is_unlocked(part):
                        part.unlink()
                elif _is_left_behind(part, int(number)):
                    shutil.rmtree(part, ignore_errors=True)


def _is_running(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _is_left_behind(folder: Path, pid: int | None = None) -> bool:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        return False
    age = time.time() - found.st_mtime
    lock = folder / _LOCK
    if fcntl is None or not lock.is_file():
        if pid is not None and not _is_running(pid):
            return True
        # Earlier versions used other names and no locks; a new folder has its lock at once.
        return age > (_YOUNG_S if folder.name.startswith((_PREFIXES[0], ".")) and fcntl else _OLD_S)
    return _is_unlocked(lock)


def _is_unlocked(file: Path) -> bool:
    if fcntl is None:
        return time.time() - file.lstat().st_mtime > _OLD_S
    with file.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def _lock_of(folder: Path) -> IO[bytes]:
    """Lock a new folder. The lock file is locked when it appears, so that no process removes the folder meanwhile."""
    if fcntl is None:
        return (folder / _LOCK).open("wb")
    new = folder / f"{_LOCK}.new"
    lock = new.open("wb")
    _locked(lock)
    new.rename(folder / _LOCK)
    return lock


def _locked(file: IO[bytes]) -> None:
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _exchanged(first: bytes, second: bytes) -> bool:
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(system.renamex_np(first, second, _EXCHANGE) == 0)
        return bool(system.renameat2(_CURRENT_FOLDER, first, _CURRENT_FOLDER, second, _EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):
        return False
