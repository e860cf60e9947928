"""Folders and files that are there only while something is being made.

Rules kept here:
- each is locked by the process that made it. What `kill -9` or a power cut leaves behind is not locked any more, and
  the next one that makes such a thing removes it;
- what is not ours (another user's, a link) is never touched;
- a file or folder that is being written appears under its own name once it is whole, and not at all otherwise.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: what is left behind goes after a day
    fcntl = None  # type: ignore[assignment]

_PREFIXES = ("cortex-transfer-", "cortex-import-", "cortex-export-", "cortex-queries-")
_LOCK = ".in-use"
_YOUNG_S = 60.0  # between a folder and its lock
_OLD_S = 86_400.0


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for temporary files (in `TMPDIR`), gone afterwards; those of dead processes go as well."""
    folder, lock = lasting_folder(_PREFIXES[0])
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def lasting_folder(beginning: str) -> tuple[Path, IO[bytes]]:
    """The same for a caller who removes it; it is in use until the file is closed, or the process ends.

    Args:
        beginning: of its name, one of `_PREFIXES`.

    """
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=beginning))
    return folder, _lock_of(folder)


def sweep(place: Path) -> list[Path]:
    """Remove the scratch folders in a place that nobody uses any more; answers which."""
    gone = []
    for folder in [found for prefix in _PREFIXES for found in place.glob(f"{prefix}*")]:
        with suppress(OSError):
            if _is_left_behind(folder):
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(folder)
    return gone


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears once all of it is written and on the disk; a device is written to as it is.

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
    """A folder that appears once everything in it is written; there must be none of that name, or an empty one.

    Raises:
        OSError: it cannot be written, or something is there.

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


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, where the system can."""
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
                elif _is_left_behind(part):
                    shutil.rmtree(part, ignore_errors=True)


def _is_left_behind(folder: Path) -> bool:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        return False
    age = time.time() - found.st_mtime
    lock = folder / _LOCK
    if fcntl is None or not lock.is_file():
        # Before there were locks, folders were called otherwise; a new one has its lock at once.
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
    """The lock of a new folder. It is locked when it appears: nobody may take the folder for left behind meanwhile."""
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
