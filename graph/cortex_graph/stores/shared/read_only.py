# ruff: noqa: D102 - the operations are those of `GraphStore`
"""A store in a folder to which this process cannot write: it has no permission, the disk is full, or data are missing.

Rules kept here:
- it shows the content of the store when it was opened, and refuses every change;
- of a store that has lost acknowledged writes it shows the rest, and every change is refused with the loss;
- no process may write meanwhile, which would make reads undefined: RocksDB's lock is held as a reader, so that no
  process can own the store. Where there is no lock, only a read-only file system is safe enough.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

from pyoxigraph import Store

from cortex_graph.checks.engine_errors import explained
from cortex_graph.exceptions import GraphCorrupt, GraphUnavailable, StoreLocked
from cortex_graph.stores.change_reader import ChangeReader
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared.forking import opens_rocksdb

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

_ROOM = 512 << 10  # bytes on the disk; opening a store takes 350 KB


def _may_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


class ReadOnlyStore(OxigraphStore):
    """A store that is only read.

    Args:
        folder: of the store.
        damage: what it has lost, if that is why it is not written to.

    Raises:
        StoreLocked: another process writes to it.
        GraphCorrupt: its files are so damaged that it cannot be opened.
        GraphUnavailable: it cannot be read, or other processes cannot be kept from writing to it.
    """

    def __init__(self, folder: Path, damage: GraphCorrupt | None = None) -> None:
        super().__init__()
        self.damage = None if damage is None else damage.with_traceback(None)
        self._folder, self._where, self._log = folder, f"the store in {folder}", ChangeReader(folder)
        self._was_full = _may_write(folder)
        self._evaluation.use(folder)
        self._lock_file = _lock(folder)
        try:
            with opens_rocksdb():
                self._store = Store.read_only(os.fspath(folder))
        except (OSError, RuntimeError, ValueError) as error:
            self._unlock()
            raise explained(
                error, f"the folder {folder} can be neither written to nor read as a store", folder
            ) from error

    @staticmethod
    def is_for(folder: Path) -> bool:
        """Return whether a folder has a store and cannot be written to."""
        return (folder / "CURRENT").exists() and (not _may_write(folder) or _is_full(folder))

    def insert(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse the change."""
        if self.damage is not None:
            raise GraphCorrupt(
                f"{self.damage.message}; it is read-only", hint=self.damage.hint, details=self.damage.details
            )
        problem, hint = "its folder cannot be written to", "make the folder writable and open the store again"
        details = {"folder": str(self._folder)}
        if self._was_full:
            problem = "the disk was full when it was opened"
            hint = f"free some space, and restart the process that has the store open ({os.getpid()})"
            details["process"] = str(os.getpid())
        raise GraphUnavailable(f"{self._where} is read-only: {problem}", hint=hint, details=details)

    remove = apply = apply_at = bulk_insert = bulk_load = insert

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        super().close()
        self._unlock()

    def _unlock(self) -> None:
        file, self._lock_file = self._lock_file, None
        if file is not None:
            os.close(file)


def _is_full(folder: Path) -> bool:
    if not hasattr(os, "statvfs"):  # pragma: no cover - Windows
        return False
    status = os.statvfs(folder)
    return status.f_blocks > 0 and status.f_bavail * status.f_frsize < _ROOM  # some file systems report no blocks


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
        f"the folder {folder} cannot be written to, and other processes cannot be kept from writing to it",
        hint="make the folder writable, or copy it",
        details=details,
    )
