"""Modes of files that hold for root too, in a test: without the capabilities to override them (Linux)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
_OVERRIDE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def without_override() -> Iterator[None]:
    """Files are as this process's user owns them until the block ends, in this thread and in those that it starts."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    effective = sets[0]
    sets[0] = effective & ~_OVERRIDE
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")
    try:
        yield
    finally:
        sets[0] = effective
        libc.capset(header, sets)
