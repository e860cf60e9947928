"""Files that are this user's alone: secrets, and what decides who is trusted.

Rules kept here:
- a file is 0600 in a folder of 0700 that is made for it; one that others may read or write is not read;
- a change goes into a new file that takes the old one's place: a reader sees the one or the other, whole, also after a
  power cut;
- who reads, changes and writes does so under a lock that other processes keep to;
- a pipe, a device or a folder in a file's place is refused, without waiting for it.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_POSIX = os.name == "posix"


class NotPrivateError(Exception):
    """A file that is not ours alone, no file, or too large; the message says which, `hint` what to do."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def read_private(path: Path, max_bytes: int) -> bytes:
    """The content of a file that is this user's alone.

    Args:
        path: the file; a symbolic link in its place is followed.
        max_bytes: how long it may be.

    Raises:
        NotPrivateError: it is not what it has to be.
        OSError: it cannot be read; FileNotFoundError when it is not there.

    """
    with open(path, "rb", opener=_without_waiting) as file:
        state = os.fstat(file.fileno())
        if _POSIX and (state.st_mode & 0o077 or state.st_uid != os.geteuid()):
            raise NotPrivateError("can be read or written by others", "make it your own, with mode 600")
        if not stat.S_ISREG(state.st_mode):
            raise NotPrivateError("is no file", "put a file in its place, or name another")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise NotPrivateError("is too large", "take out what is not needed")
    return data


def write_private(path: Path, data: bytes) -> None:
    """Put a file, this user's alone, in the place of what is there; its folder is made when it is not there.

    Raises:
        OSError: it cannot be written; what was there is there still.

    """
    make_private_folder(path.parent)
    write_whole(path, data, 0o600)


def write_whole(path: Path, data: bytes, mode: int) -> None:
    """Put a file in the place of what is there, if anything: whole or not at all.

    Args:
        path: the file; its folder is there.
        data: what it holds.
        mode: who may read and write it, such as 0o644.

    Raises:
        OSError: it cannot be written; what was there is there still.

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
    """Make the names in a folder durable.

    Raises:
        OSError: it cannot be done.

    """
    if _POSIX:
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def make_private_folder(path: Path) -> None:
    """Make a folder that is this user's alone, when there is none.

    Raises:
        OSError: it cannot be made.

    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def check_private_folder(path: Path) -> None:
    """Refuse a folder that is not this user's alone; a symbolic link in its place is refused too.

    Raises:
        NotPrivateError: it is not what it has to be.
        OSError: it cannot be looked at; FileNotFoundError when it is not there.

    """
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotPrivateError("is no folder", "a symbolic link is none either")
    if _POSIX and (state.st_mode & 0o077 or state.st_uid != os.geteuid()):
        raise NotPrivateError("can be opened by others", "make it your own, with mode 700")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes and threads away from a file until the end of the block.

    Args:
        path: the file; the lock is a file beside it.

    Raises:
        OSError: the lock cannot be made.

    """
    make_private_folder(path.parent)
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _POSIX:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        else:
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
        yield
    finally:
        os.close(handle)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
