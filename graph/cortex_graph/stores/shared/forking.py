"""What a forked child must not touch.

Rules kept here:
- RocksDB's threads are not there in a forked child, so that whatever is done with a store there, even closing it,
  may hang or crash: it is kept as it is until the child has ended, and never opened anew;
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
    """Around the opening of a store on the disk."""
    global _opened_by
    _opened_by = os.getpid()
    yield


def may_open() -> bool:
    """Whether this process may open a store: it is not the child of one that had."""
    return _opened_by in (None, os.getpid())


def survive_without(store: object) -> None:
    """In a forked child: keep the parent's store as it is, and end without its destructors."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(store))


def end_without_destructors() -> None:
    """In a forked child of a process that has opened a store: end at once, when the interpreter has ended."""
    if _opened_by in (None, os.getpid()):
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):  # glibc; handlers run last in, first out, and RocksDB's is in already
        library.on_exit(library._exit, None)
