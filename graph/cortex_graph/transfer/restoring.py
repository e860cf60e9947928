"""Restores a backup into a store.

Rules kept here:
- a backup is verified before anything is replaced, and existing data is replaced only on request;
- a folder is written next to the old one and exchanged with it in one step (`scratch.exchange`), so that it contains
  the whole old or the whole new store at any time. No process may have it open meanwhile;
- the graphs of a server are filled first, then rid of other quads, and verified. That is not one step: after a kill
  they have too many quads, and the same command continues. Graphs that are not in the backup are not changed;
- the backup is never changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph.exceptions import GraphCorrupt, GraphUnavailable, StoreLocked, invalid
from cortex_graph.index.record_times import forget_times
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.engine_folder import foreign_files
from cortex_graph.stores.location import folder_of
from cortex_graph.stores.open_store import open_store
from cortex_graph.transfer.backup import STORE, Backup, check_files, check_store, damaged, read_backup, reading
from cortex_graph.transfer.canonical_hash import spool
from cortex_graph.transfer.comparing import difference, extra_quads
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.read_process import full
from cortex_graph.workers.scratch import exchange, scratch_folder, sync_folder, whole_folder

try:
    import fcntl
except ImportError:  # Windows, where a folder that is open cannot be renamed
    fcntl = None  # type: ignore[assignment]

_AT_ONCE = 5_000


def restore(
    folder: Path | str, where: str | Path | Mapping[str, Any], *, replace: bool = False, progress: Progress = silent
) -> Backup:
    """Restore a backup into a store.

    Args:
        folder: a folder that `back_up` made.
        where: the store, as for `open_store`; not `memory:`.
        replace: whether existing data may be replaced.
        progress: receives reports of the progress.

    Returns:
        The backup.

    Raises:
        InvalidArguments: the folder is not a backup, it is damaged, or the store is not empty.
        StoreLocked: another process has the folder of the store open.
        GraphUnavailable: the store cannot be written.
    """
    backup = read_backup(folder)
    place = folder_of(where)
    if place is not None:
        # The target of a link is replaced, not the link.
        _into_folder(backup, Path(os.path.realpath(place)), replace, progress)
    elif where == "memory:":
        raise invalid("store", "is in memory and would be lost at once", hint="name a folder or a server")
    else:
        with closing(open_store(where)) as store:
            restore_into(backup, store, replace=replace, progress=progress)
    return backup


def _into_folder(backup: Backup, place: Path, replace: bool, progress: Progress) -> None:
    source = Path(os.path.realpath(backup.folder))
    if place == source or source in place.parents:
        raise invalid("store", f"{place} is in the backup itself", hint="name another folder")
    if place in source.parents:
        raise invalid("folder", f"{source} is in the store that it would replace", hint="move it out first")
    new = place.with_name(f".{place.name}.restoring")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _locked(place) as is_there:
            if is_there and not replace:
                _refuse_unless_empty(place)
            shutil.rmtree(new, ignore_errors=True)  # of a killed restore
            with whole_folder(new) as part:
                _fill(backup, part, progress)
            if is_there:
                exchange(new, place)
                sync_folder(place.parent)
                shutil.rmtree(new, ignore_errors=True)
            else:
                new.rename(place)
                sync_folder(place.parent)
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        raise GraphUnavailable(
            f"the store in {place} cannot be written: {error.strerror or error}",
            hint="it was not changed; see whether the disk is full or read-only",
        ) from error


@contextmanager
def _locked(place: Path) -> Iterator[bool]:
    """Keep other processes from opening the store in a folder; yields whether it exists."""
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        yield place.exists()
        return
    if not place.is_dir():
        raise GraphUnavailable(f"{place} is not a folder", hint="give a new name")
    is_store = any(place.glob("*.sst")) or (place / "CURRENT").exists()
    if not is_store and (
        foreign := [entry.name for entry in islice(place.iterdir(), 100) if not entry.name.startswith(".")]
    ):
        raise GraphUnavailable(
            f"the folder {place} is not a store and has other files: {', '.join(foreign[:3])}",
            hint="give an empty or a new folder",
        )
    if is_store and (foreign := foreign_files(place)):
        raise GraphUnavailable(
            f"the folder {place} has other files than its store, which would be lost: {', '.join(foreign)}",
            hint="move it elsewhere, and restore again",
        )
    with suppress(GraphCorrupt):  # it is replaced
        OxigraphStore(place).close()  # raises when this process has it open, unlike the lock below
    # RocksDB's lock. Reading the store does not take it; closing the file releases it.
    with (place / "LOCK").open("ab") if fcntl else nullcontext() as lock:
        if fcntl is not None:
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[arg-type]
            except OSError as error:
                raise StoreLocked(
                    f"the store in {place} is open in another process",
                    hint="stop the processes that use it, and restore again",
                    details={"folder": str(place)},
                ) from error
        yield True


def _refuse_unless_empty(place: Path) -> None:
    if any(place.glob("*.sst")) or (place / "CURRENT").exists():
        with reading(place) as store:
            _refuse_if(store.graph_names(), str(place))


def _refuse_if(there: list[NamedNode], where: str) -> None:
    if there:
        raise invalid(
            "store",
            f"{where} has {there[0].value} already",
            hint="restore into an empty store, or replace its content (--replace)",
        )


def _fill(backup: Backup, part: Path, progress: Progress) -> None:
    """Make a store in a folder from a backup, and verify it."""
    progress("restoring", 0, None)
    if backup.kind == "snapshot":
        _copy_files(backup, part)
    else:
        check_files(backup)
        with closing(OxigraphStore(part)) as store:
            for graph in backup.graphs:
                store.bulk_load(backup.file_of(graph), NamedNode(graph))
            store.flush()
    with _trusted(backup), reading(part) as store:
        check_store(backup, store, progress)


def _copy_files(backup: Backup, part: Path) -> None:
    """Copy the files instead of linking them: changes of the store must not change the backup."""
    for name, sha256 in backup.files.items():
        source = backup.folder / STORE / name
        if source.is_symlink() or not source.is_file():
            raise damaged(backup.folder, f"{name} is missing in its snapshot")
        hasher = hashlib.sha256()
        with source.open("rb") as old, (part / name).open("xb") as new:
            while chunk := old.read(1 << 20):
                hasher.update(chunk)
                new.write(chunk)
            new.flush()
            os.fsync(new.fileno())
        if hasher.hexdigest() != sha256:
            raise damaged(backup.folder, f"{name} in its snapshot was changed")


@contextmanager
def _trusted(backup: Backup) -> Iterator[None]:
    """Report failures to read the copy of a backup as damage of the backup."""
    try:
        yield
    except GraphUnavailable as error:
        raise damaged(backup.folder, error.message) from error


def restore_into(backup: Backup, store: GraphStore, *, replace: bool, progress: Progress = silent) -> None:
    """Restore a backup into an open store, graph by graph; see `restore`."""
    with scratch_folder() as folder, store.maintenance:
        if not replace:
            graphs = map(NamedNode, backup.graphs)
            _refuse_if([graph for graph in graphs if store.count(Pattern(graph), 1)], "the store")
        for graph, file in _files(backup, folder, progress).items():
            _make_same(store, graph, file, folder, progress)
            if not store.keeps_order:  # such a store is written to without times
                forget_times(store, graph)


def _files(backup: Backup, folder: Path, progress: Progress) -> dict[NamedNode, Path]:
    """Return the sorted N-Triples of each graph, verified."""
    if backup.kind == "triples":
        check_files(backup)
        return {NamedNode(graph): backup.file_of(graph) for graph in backup.graphs}
    files = {}
    try:
        with _trusted(backup), reading(backup.folder / STORE) as store:
            for number, (graph, digest) in enumerate(backup.graphs.items()):
                file = folder / f"{number}.nt"
                if spool(store, NamedNode(graph), file, progress=progress) != digest:
                    raise damaged(backup.folder, f"the graph {graph} differs from its manifest")
                files[NamedNode(graph)] = file
    except OSError as error:
        raise full(error) from error
    return files


def _make_same(store: GraphStore, graph: NamedNode, file: Path, folder: Path, progress: Progress) -> None:
    """Make a graph have exactly the triples of a file."""
    beside = graph.value.removesuffix("/provenance").removesuffix("/index")
    load(store, file, graph, NamedNode(f"{beside}/index"), folder, progress)
    with TemporaryDirectory(dir=folder) as sorting:
        extra = extra_quads(store, graph, file, Path(sorting))
        while some := list(islice(extra, _AT_ONCE)):
            store.apply(remove=some)
        progress(f"verifying {graph.value}", 0, None)
        found = difference(store, graph, file, Path(sorting))
    if found.missing or found.extra:
        raise GraphUnavailable(
            f"the graph {graph.value} lacks {found.missing} triples and has {found.extra} too many",
            hint="if no other process writes to it, restore again: it continues",
        )
