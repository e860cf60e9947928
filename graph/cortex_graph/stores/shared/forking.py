"""Protects a forked child from the store of its parent.

Rules kept here:
- RocksDB's threads do not exist in a forked child, so that any operation on a store there, even closing it, may hang or
  crash: it is kept unchanged until the child has ended, and no store is opened there;
- the end of such a child skips the destructors of the C++ library, which would wait for those threads.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_opened_by: int | None = None


@contextmanager
def opens_rocksdb() -> Iterator[None]:
    """Run a block that opens a store on the disk."""
    global _opened_by
    _opened_by = os.getpid()
    yield


def may_open() -> bool:
    """Return whether this process may open a store: no parent had one open."""
    return _opened_by in (None, os.getpid())


def survive_without(store: object) -> None:
    """Keep the store of the parent alive in a forked child."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(store))


def end_without_destructors() -> None:
    """Skip destructors at the end of a forked child whose parent has opened a store."""
    if _opened_by in (None, os.getpid()):
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):  # glibc; handlers run last in, first out, and RocksDB's is in already
        library.on_exit(library._exit, None)
