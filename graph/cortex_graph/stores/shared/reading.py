"""A store in a folder that this process cannot write to: it may not, or the disk is full.

Rules kept here:
- it shows what the store held when it was opened, and refuses every change;
- nobody may write meanwhile, or what is read would be undefined: RocksDB's lock is held as a reader, so that no owner
  can open the store. Where there is no lock to hold, only a file system that is read-only is safe enough.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

from pyoxigraph import Store

from cortex_graph.errors import GraphUnavailable, StoreLocked
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared.forking import opens_rocksdb

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

_ROOM = 512 << 10  # bytes on the disk; to open a store takes 350 KB


class ReadingStore(OxigraphStore):
    """A store that is only read.

    Args:
        folder: where it lives.

    Raises:
        StoreLocked: somebody writes to it.
        GraphUnavailable: it cannot be read, or nobody can be kept from writing to it.

    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, self._where = folder, f"the store in {folder}"
        self._was_full = os.access(folder, os.W_OK)
        self._evaluation.use(folder)
        self._lock_file = _lock(folder)
        try:
            with opens_rocksdb():
                self._store = Store.read_only(os.fspath(folder))
        except (OSError, RuntimeError, ValueError) as error:
            self._unlock()
            raise GraphUnavailable(
                f"the folder {folder} can be neither written to nor read as a store: {error}",
                hint="check that it is a store, and whose it is",
                details={"folder": str(folder)},
            ) from error

    @staticmethod
    def is_for(folder: Path) -> bool:
        """Whether a folder holds a store and cannot be written to."""
        return (folder / "CURRENT").exists() and (not os.access(folder, os.W_OK) or _is_full(folder))

    def insert(self, *_: Any, **__: Any) -> NoReturn:
        """Refused."""
        problem, hint = "its folder cannot be written to", "make the folder writable and open the store again"
        if self._was_full:
            problem = "the disk was full when it was opened"
            hint = f"free some space, and restart the process that has the store open ({os.getpid()})"
        raise GraphUnavailable(
            f"{self._where} is read-only: {problem}", hint=hint, details={"folder": str(self._folder)}
        )

    remove = apply = apply_at = bulk_insert = bulk_load = insert

    def flush(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """See `GraphStore`."""
        super().close()
        self._unlock()

    def _unlock(self) -> None:
        file, self._lock_file = self._lock_file, None
        if file is not None:
            os.close(file)


def _is_full(folder: Path) -> bool:
    if not hasattr(os, "statvfs"):  # pragma: no cover - Windows
        return False
    told = os.statvfs(folder)
    return told.f_blocks > 0 and told.f_bavail * told.f_frsize < _ROOM  # a system without blocks does not tell


def _lock(folder: Path) -> int | None:
    details = {"folder": str(folder)}
    if fcntl is not None:
        try:
            file = os.open(folder / "LOCK", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            file = -1
        if file >= 0:
            try:
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError as error:
                os.close(file)
                raise StoreLocked(
                    f"the store in {folder} is open in another process, and this one may not write to its folder",
                    hint="stop the other process, or run as the user whose folder it is",
                    details=details,
                ) from error
            return file
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            return None
    raise GraphUnavailable(
        f"the folder {folder} cannot be written to, and nobody can be kept from writing to it while it is read",
        hint="make the folder writable, or copy it",
        details=details,
    )
