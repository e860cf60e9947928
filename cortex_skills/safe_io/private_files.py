"""Private files of the current user, for secrets and for trust decisions.

Rules kept here:
- a file has mode 0600 in a folder of mode 0700; a file that others may read or write is rejected;
- a change writes a new file that replaces the old one: a reader gets one of the two, complete, also after a power cut;
- a read followed by a write holds a lock across processes;
- a pipe, a device or a folder instead of the file is rejected without waiting for it.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POSIX = os.name == "posix"
if _POSIX:
    import fcntl
else:
    import msvcrt


class NotPrivateError(Exception):
    """A file is not private, not a regular file, or too large; with the problem and a hint."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def read_private(path: Path, max_bytes: int) -> bytes:
    """The content of a private file.

    Args:
        path: the file; a symbolic link is followed.
        max_bytes: the maximum size.

    Raises:
        NotPrivateError: the file is not private, not a regular file, or too large.
        OSError: it cannot be read; FileNotFoundError when it does not exist.
    """
    with open(path, "rb", opener=_without_waiting) as file:
        state = os.fstat(file.fileno())
        if _POSIX and (state.st_mode & 0o077 or state.st_uid != os.geteuid()):
            raise NotPrivateError("can be read or written by others", "take ownership of it and set mode 600")
        if not stat.S_ISREG(state.st_mode):
            raise NotPrivateError("is not a regular file", "replace it by a regular file, or give another path")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise NotPrivateError("is too large", "remove entries that are not needed")
    return data


def stamp_of(path: str | os.PathLike[str]) -> tuple[int, ...] | None:
    """The state of a file, which differs after each change, as the file system records it; None if there is none."""
    try:
        state = os.stat(path)  # noqa: PTH116 - making a Path takes longer
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_mode, state.st_uid


def write_private(path: Path, data: bytes) -> None:
    """Create or replace a private file; its folder is created if needed.

    Raises:
        OSError: it cannot be written; an old file is unchanged.
    """
    make_private_folder(path.parent)
    write_whole(path, data, 0o600)


def write_whole(path: Path, data: bytes, mode: int) -> None:
    """Create or replace a file atomically.

    Args:
        path: the file, in an existing folder.
        data: the content.
        mode: the permissions, such as 0o644.

    Raises:
        OSError: it cannot be written; an old file is unchanged.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600 from the start
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if _POSIX:
                os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to the disk.

    Raises:
        OSError: it failed.
    """
    if _POSIX:
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def make_private_folder(path: Path) -> None:
    """Create a folder of mode 0700 if it does not exist, and the missing ones above it.

    Raises:
        OSError: it cannot be created.
    """
    if not path.parent.is_dir():  # `parents=True` would make them with the mode of every folder
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def check_private_folder(path: Path) -> None:
    """Reject a folder that is not private, and a symbolic link.

    Raises:
        NotPrivateError: it is not a private folder.
        OSError: its state cannot be read; FileNotFoundError when it does not exist.
    """
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotPrivateError("is not a folder", "a symbolic link is rejected too")
    if _POSIX and (state.st_mode & 0o077 or state.st_uid != os.geteuid()):
        raise NotPrivateError("can be opened by others", "take ownership of it and set mode 700")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file, across processes and threads, until the end of the block.

    Args:
        path: the file; the lock is a file beside it.

    Raises:
        OSError: the lock cannot be created.
    """
    make_private_folder(path.parent)
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


def lock(handle: int) -> None:
    """Wait for the lock of an open file, which excludes other processes until `unlock`, or until the file is closed.

    Raises:
        OSError: the file cannot be locked.
    """
    if _POSIX:
        fcntl.flock(handle, fcntl.LOCK_EX)
    else:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]


def unlock(handle: int) -> None:
    """Release the lock of an open file.

    Raises:
        OSError: it cannot be released.
    """
    if _POSIX:
        fcntl.flock(handle, fcntl.LOCK_UN)
    else:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
