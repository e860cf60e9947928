"""Counts the changes of a store in a folder, in the store and beside it, to detect that some are missing.

Rules kept here:
- each transaction contains its number, as a triple of the default graph, which no namespace, query, export or copy
  reads. Earlier numbers are removed before a flush, so that few are there;
- after a transaction, and before it is answered, the file `.changes` gets the same number; it is synced after a flush.
  After the end of a process it is as new as the last answered change. It may be older, never newer;
- a store whose last number is lower has lost acknowledged changes: it must not be written to, and is not opened for
  that, since RocksDB deletes a damaged log when it opens it;
- when the machine has stopped in between (Linux: another boot id), changes after the last flush may be missing although
  nothing is damaged, since the log is not synced. That is logged, and the store is used;
- before a transaction, the log of changes (`change_log.py`) gets its numbers and the subjects that it writes to;
- a store without the file is from an earlier version, or was restored: its number is adopted, unless the engine reports
  that it has dropped a part of its log.
"""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Store

from cortex_graph.checks.engine_errors import corrupt, explained
from cortex_graph.exceptions import GraphCorrupt
from cortex_graph.stores.change_log import ChangeLog, Touched
from cortex_graph.workers.scratch import whole_file

log = logging.getLogger(__name__)

NAME = ".changes"
_NODE = NamedNode("urn:cortex-graph:changes")
_BYTES = 256  # of the file, which is overwritten in place: that needs no space on a full disk
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# "truncated record body" is a write that was interrupted, so that it was never answered.
_DROPPED = re.compile(r"dropping \d+ bytes; Corruption: (?!truncated record body).*")


@dataclass(frozen=True)
class ChangeRecord:
    """The content of the file.

    Attributes:
        changes: the number of the last answered change.
        flushed: the last change that is in the data files, and not only in the log.
        boot: the boot of the machine in which the file was written; empty where the system has no name for it.
        dropped: whether the engine has dropped a part of a log that was not counted.
    """

    changes: int
    flushed: int
    boot: str
    dropped: bool = False


class ChangeCounter:
    """The counter of an open store. Its methods are called by one thread at a time.

    Args:
        folder: of the store.
        store: open for writing.

    Raises:
        GraphCorrupt: acknowledged changes are missing.
    """

    def __init__(self, folder: Path, store: Store) -> None:
        self.store = store
        self._path = folder / NAME
        counted = _numbers(store)
        self._old = counted[:-1]
        self._count = counted[-1] if counted else 0
        record = read_record(folder)
        is_known = record is not None
        if record is None:
            record = ChangeRecord(self._count, 0, _boot(), _has_dropped(folder))
            with whole_file(self._path) as file:
                file.write(_content(record))
        _refuse(folder, record, self._count)
        if lost := missing(record, self._count):
            log.warning(
                "the store in %s lacks its last %d writes: the machine stopped before they were on the disk",
                folder,
                lost,
            )
        self._flushed = min(record.flushed, self._count)
        self._file = self._path.open("r+b", buffering=0)
        self._write(_content(ChangeRecord(self._count, self._flushed, _boot())))
        self._log = ChangeLog(folder, self._count, is_known=is_known and not missing(record, self._count))

    def next(self, touched: Touched | None, changes: int = 1) -> Quad:
        """Return the quad to write in the transaction with so many changes, which writes to these subjects."""
        self._log.write(self._count + 1, self._count + changes, touched)
        return _quad(self._count + changes)

    def begin_bulk(self) -> None:
        """Note that a bulk operation begins, which is no transaction of this kind."""
        self._log.begin_bulk(self._count)

    def end_bulk(self) -> None:
        """Note that it has ended."""
        self._log.end_bulk(self._count)

    def answered(self, changes: int = 1) -> None:
        """Record that a transaction was written; called before it is answered."""
        if self._count:
            self._old.append(self._count)
        self._count += changes
        self._write(b'{"changes":%20d' % self._count)  # only the start: a quarter of the time

    def flush(self) -> None:
        """Write everything to the data files: the log is empty then."""
        if self._old:
            self.store.update(f"DELETE DATA {{ {' '.join(f'{_quad(old).triple} .' for old in self._old)} }}")
            self._old.clear()
        self.store.flush()
        self._flushed = self._count
        self._write(_content(ChangeRecord(self._count, self._flushed, _boot())))
        with suppress(OSError):
            os.fsync(self._file.fileno())
        self._log.shorten()

    def close(self) -> None:
        """Flush if there is anything in the log, and close the file."""
        if self._file.closed:
            return
        if self._flushed != self._count:
            with suppress(OSError, RuntimeError):  # of a full disk, for instance: the log has the changes
                self.flush()
        self._file.close()
        self._log.close()

    def _write(self, beginning: bytes) -> None:
        with suppress(OSError):  # the change itself is done, and an older number is no error
            self._file.seek(0)
            self._file.write(beginning)


def check_before_opening(folder: Path) -> None:
    """Check that a store that was not closed has all changes, before RocksDB replays its log and deletes it.

    Raises:
        GraphCorrupt: changes are missing, or files of the store are damaged.
    """
    record = read_record(folder)
    if record is None or (record.flushed == record.changes and not record.dropped):
        return
    try:
        count = last_number(Store.read_only(os.fspath(folder)))
    except (OSError, RuntimeError) as error:
        raise explained(error, f"the folder {folder} cannot be used as a store", folder) from error
    _refuse(folder, record, count)


def missing(record: ChangeRecord, count: int) -> int:
    """Return how many answered changes a store with this last number has lost."""
    return max(0, record.changes - count)


def last_number(store: Store) -> int:
    """Return the number of the last change of a store; 0 when none was counted."""
    return max(_numbers(store), default=0)


def read_record(folder: Path) -> ChangeRecord | None:
    """Read the file of a folder; None when there is none.

    Raises:
        GraphCorrupt: it is damaged.
    """
    try:
        with (folder / NAME).open("rb") as file:
            content = file.read(_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explained(error, f"the folder {folder} cannot be used as a store", folder) from error
    try:
        record = ChangeRecord(**orjson.loads(content))
        if type(record.changes) is not int or type(record.flushed) is not int or record.changes < record.flushed:
            raise ValueError
    except (ValueError, TypeError) as error:
        raise GraphCorrupt(
            f"the count of changes of the store in {folder} is damaged: {NAME}",
            hint=f"remove {folder / NAME}, check the store with `cortex-skills graph check`, and restore a backup if "
            "changes are missing",
            details={"folder": str(folder), "file": str(folder / NAME)},
        ) from error
    return record


def _refuse(folder: Path, record: ChangeRecord, count: int) -> None:
    if record.dropped:
        raise corrupt(folder, "a part of its log is damaged, and an unknown number of writes is missing")
    lost = missing(record, count)
    if lost and (count < record.flushed or record.boot == _boot()):
        raise corrupt(
            folder, f"{lost:,} of {record.changes:,} acknowledged writes are missing, since its log is damaged"
        )


def _numbers(store: Store) -> list[int]:
    quads = store.quads_for_pattern(_NODE, _NODE, None, DefaultGraph())
    return sorted(int(quad.object.value) for quad in quads if isinstance(quad.object, Literal))


def _quad(number: int) -> Quad:
    return Quad(_NODE, _NODE, Literal(number))


def _content(record: ChangeRecord) -> bytes:
    """Return the whole file. The first number has a fixed width, so that it can be overwritten alone."""
    rest = orjson.dumps({"flushed": record.flushed, "boot": record.boot, "dropped": record.dropped})
    return (b'{"changes":%20d,' % record.changes + rest[1:]).ljust(_BYTES)


def _has_dropped(folder: Path) -> bool:
    """Return whether the engine has dropped damaged parts of the log when it opened the store."""
    try:
        with (folder / "LOG").open(encoding="utf-8", errors="replace") as lines:
            return any(_DROPPED.search(line) for line in lines)
    except OSError:
        return False


def _boot() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
