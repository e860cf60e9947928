"""Two folders that change names, in one step where the system can.

Rules kept here:
- Linux and macOS exchange the two in one system call: at every moment there is a folder of either name;
- elsewhere, or on a file system that cannot, the old folder is moved aside first. Killed just then, it is found beside,
  under the name `.NAME.replaced`, whole.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_CURRENT_FOLDER = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def exchange(first: Path, second: Path) -> None:
    """Give each of two folders the name of the other.

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


def _exchanged(first: bytes, second: bytes) -> bool:
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(system.renamex_np(first, second, _EXCHANGE) == 0)
        return bool(system.renameat2(_CURRENT_FOLDER, first, _CURRENT_FOLDER, second, _EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):
        return False
