"""A journal at a moment at which no writer changes it.

Rules kept here:
- the head and the sizes of the files are read under the lock of the head, so that what is behind the head is of no
  writer that is still at work.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from cortex_skills.audit.journal_files import day_files
from cortex_skills.audit.journal_head import LENGTH, NAME, JournalHead, read_head
from cortex_skills.safe_io.private_files import lock

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class JournalState:
    """A journal at a moment at which no writer changes it.

    Attributes:
        content: of the file `head`; None if it is missing.
        sizes: of the files, in bytes, in their order.
    """

    content: bytes | None
    sizes: dict[Path, int]


def state_of(folder: Path) -> JournalState:
    """The journal in a folder, as no writer is changing it.

    Raises:
        OSError: the head cannot be read.
    """
    try:
        handle = _opened(folder / NAME)
    except FileNotFoundError:
        return JournalState(None, _sizes(folder))
    try:
        lock(handle)
        return JournalState(os.pread(handle, LENGTH + 1, 0), _sizes(folder))
    finally:
        os.close(handle)


def _opened(head: Path) -> int:
    """The head, to lock and read; of a copy that cannot be written, too."""
    try:
        return os.open(head, os.O_RDWR | NO_FOLLOW)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return os.open(head, os.O_RDONLY | NO_FOLLOW)


def _sizes(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in day_files(folder)}


def snapshot(folder: Path) -> JournalHead | None:
    """The head of the journal in a folder, as no writer is changing it; None if there is none, or it is damaged.

    Raises:
        OSError: the head cannot be read.
    """
    return read_head(state_of(folder).content or b"")
