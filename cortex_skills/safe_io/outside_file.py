"""Reads a file or a folder that came from elsewhere.

Rules kept here:
- only a regular file is read: not a symbolic link, a pipe or a device, and without waiting for one;
- its size is checked first, and never more than the limit is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from itertools import islice
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

PACKAGES = frozenset({"node_modules"})
"""The folders of installed packages, from which a skill loads nothing."""

GENERATED = PACKAGES | {"__pycache__"}
"""The folders that programs write beside sources: nothing in them is a file of a skill."""

NOT_SHIPPED = PACKAGES | {".git", ".hg", ".svn"}
"""The folders of version control and of installed packages, from which nothing is signed, packed or served."""


class OutsideFileError(Exception):
    """A file that is not read; the text says why, such as `is larger than 4 KiB`."""


def read_outside(path: Path, most: int) -> bytes:
    """The content of a file.

    Args:
        path: the file.
        most: its maximum size, in bytes.

    Raises:
        OutsideFileError: it is not a regular file, is too large, or cannot be read.
    """
    try:
        if path.is_symlink():
            raise OutsideFileError("is a symbolic link: give the file itself")
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise OutsideFileError("is not a regular file")
            data = file.read(most + 1) if state.st_size <= most else None
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        raise OutsideFileError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if data is None or len(data) > most:
        raise OutsideFileError(f"is larger than {most:,} bytes")
    return data


def read_folder(folder: Path, *, most_files: int, most_bytes: int, left_out: Collection[str] = ()) -> dict[str, bytes]:
    """The files of a folder by path, with `/`, sorted.

    Args:
        folder: the folder.
        most_files: the maximum number of files and folders.
        most_bytes: the maximum size of all files together.
        left_out: paths that are not read, beside those of `NOT_SHIPPED`.

    Raises:
        OutsideFileError: it has something that is not a regular file or a folder, is too large, or cannot be read.
    """
    found: dict[str, bytes] = {}
    pending, entries, size = [folder], 0, 0
    if folder.is_symlink():
        raise OutsideFileError("is a symbolic link: give the folder itself")
    while pending:
        place = pending.pop()
        try:
            with os.scandir(place) as listing:
                inside = list(islice(listing, most_files + 1))
        except OSError as error:
            raise OutsideFileError(f"has a folder that cannot be read: {place.name}: {error.strerror}") from None
        entries += len(inside)
        if entries > most_files:
            raise OutsideFileError(f"has more than {most_files:,} files and folders")
        for entry in inside:
            path = Path(entry.path)
            name = path.relative_to(folder).as_posix()
            if entry.name in NOT_SHIPPED or name in left_out:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
                continue
            try:
                found[name] = read_outside(path, most_bytes - size)
            except OutsideFileError as error:
                raise OutsideFileError(f"has a file that is not read: {name} {error}") from None
            size += len(found[name])
    return dict(sorted(found.items()))
