"""Reads a file that came from elsewhere.

Rules kept here:
- only a regular file is read: not a symbolic link, a pipe or a device, and without waiting for one;
- its size is checked first, and never more than the limit is read.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


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
