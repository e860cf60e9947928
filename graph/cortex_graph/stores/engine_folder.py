"""The folder of an Oxigraph store: what may be in it, and how it is opened.

Rules kept here:
- a folder with other files is refused and not changed, and so is one with a part of a store: RocksDB would make an
  empty store in it and delete the rest;
- a store is not opened with so little address space that the engine would abort the process;
- what killed operations have left is removed when the folder is opened, and not before.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from weakref import WeakValueDictionary

from pyoxigraph import Store

from cortex_graph.checks.engine_errors import corrupt, explained, locked
from cortex_graph.exceptions import GraphCorrupt, GraphUnavailable
from cortex_graph.sparql.evaluation import sweep
from cortex_graph.stores.change_counter import ChangeCounter, check_before_opening

try:
    import fcntl
    import resource
except ImportError:  # pragma: no cover - Windows
    fcntl = resource = None  # type: ignore[assignment]

_open_here: WeakValueDictionary[tuple[int, int], ChangeCounter] = WeakValueDictionary()  # by device and inode
_SIZE = Path("/proc/self/statm")
_ADDRESS_SPACE = 768 << 20  # opening takes 560 MiB for a moment, and one import 200 MiB beside an open store
_OLD_LOGS = 3  # of RocksDB, that are not deleted
_ROCKSDB_FILES = ("CURRENT", "LOCK", "LOG*", "IDENTITY", "MANIFEST-*", "OPTIONS-*", "*.log", "*.sst", "*.dbtmp")


def prepare(folder: Path) -> None:
    """Make the folder of a store if it is missing; a folder with other files, or a part of a store, is refused."""
    with _errors_reported(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (folder / "CURRENT").exists():
            return
        foreign = foreign_files(folder)
        is_part = any(file.stat().st_size for kind in ("[0-9]*.sst", "[0-9]*.log") for file in folder.glob(kind))
    if foreign:
        raise GraphUnavailable(
            f"the folder {folder} is not a store and has other files: {', '.join(foreign)}",
            hint="give an empty or a new folder",
            details={"folder": str(folder)},
        )
    if is_part:
        raise corrupt(folder, "its file CURRENT is missing", "CURRENT")


def open_folder(folder: Path) -> tuple[Store, ChangeCounter]:
    """Open the store of a folder for writing.

    Raises:
        StoreLocked: it is open already.
        GraphCorrupt: files or acknowledged changes are missing or damaged.
        GraphUnavailable: the folder cannot be used.
    """
    prepare(folder)
    _check_address_space(folder)
    with _errors_reported(folder):
        status = folder.stat()
        key = (status.st_dev, status.st_ino)
        if key in _open_here:
            raise locked(folder)
        with _not_open_elsewhere(folder):
            check_before_opening(folder)
        _open_here[key] = counter = _counted(folder)
        return counter.store, counter


def _check_address_space(folder: Path) -> None:
    """Refuse to open a store where the engine would abort the process: it cannot report that it gets no memory.

    Raises:
        GraphUnavailable: a limit of the address space (RLIMIT_AS) leaves less than opening and one import take.
    """
    if resource is None or not _SIZE.exists():
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return
    left = most - int(_SIZE.read_text().split()[0]) * resource.getpagesize()
    if left < _ADDRESS_SPACE:
        raise GraphUnavailable(
            f"the folder {folder} cannot be opened: the process may use {most >> 20} MiB of address space, "
            f"{max(0, left) >> 20} MiB of that are left, and the store needs {_ADDRESS_SPACE >> 20} MiB",
            hint=f"raise the limit, for instance `ulimit -v {(most - left + 2 * _ADDRESS_SPACE) >> 10}`, or remove it",
            details={"folder": str(folder)},
        )


def _counted(folder: Path) -> ChangeCounter:
    store = Store(folder)
    remove_leftovers(folder)
    sweep(folder)
    return ChangeCounter(folder, store)


@contextmanager
def _not_open_elsewhere(folder: Path) -> Iterator[None]:
    """Hold RocksDB's lock: the files of a store that another process writes change while they are read.

    Closing the file releases the lock of the whole process, so this process must not have the store open.
    """
    if fcntl is None or not (folder / "LOCK").exists():
        yield
        return
    with (folder / "LOCK").open("r+b") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise locked(folder) from error
        yield


@contextmanager
def _errors_reported(folder: Path) -> Iterator[None]:
    """Convert the errors of opening a folder."""
    try:
        yield
    except GraphCorrupt as error:
        traceback.clear_frames(error.__traceback__)  # they refer to the store and would keep it open
        raise
    except (OSError, RuntimeError, ValueError) as error:
        raise explained(error, f"the folder {folder} cannot be used as a store", folder) from error


def remove_leftovers(folder: Path) -> None:
    """Remove the files of killed bulk operations, and old logs, in a folder that this process has locked.

    RocksDB never does the first, and keeps a thousand logs: one of 140 KB for each time that the folder is opened.
    """
    old_logs = sorted(folder.glob("LOG.old.*"))[:-_OLD_LOGS]
    for file in (*folder.glob("bulk-*.sst"), *old_logs):
        with suppress(OSError):
            file.unlink()


def foreign_files(folder: Path) -> list[str]:
    """Return some files and folders that are not RocksDB's; hidden ones are ignored."""
    foreign = (
        entry.name
        for entry in folder.iterdir()
        if not entry.name.startswith(".") and not any(entry.match(file) for file in _ROCKSDB_FILES)
    )
    return list(islice(foreign, 3))
