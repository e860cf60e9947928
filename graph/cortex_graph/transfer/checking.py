"""Checks the files of a store, as `graph check` and every backup do.

Rules kept here:
- a snapshot is read, so that other processes may write meanwhile; a store that can only be read is read itself;
- every block of every index is read, and the indexes are compared with one another (`index_check.py`);
- the snapshot has all changes that were answered before it was taken (`change_counter.py`);
- the times of all records are in their index (`record_times.py`). A process of an earlier version that writes to the
  store leaves some out; then `check` has the index written again with the next listing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Store

from cortex_graph.checks.engine_errors import corrupt
from cortex_graph.exceptions import GraphUnavailable, invalid
from cortex_graph.index.index_check import check_indexes
from cortex_graph.index.record_times import RecordTimes, forget_times
from cortex_graph.naming.names import Names, namespace_of
from cortex_graph.store import GraphStore, InFolder
from cortex_graph.stores.change_counter import last_number, read_record
from cortex_graph.stores.location import folder_of
from cortex_graph.stores.open_store import open_store
from cortex_graph.stores.shared.read_only import ReadOnlyStore
from cortex_graph.stores.shared.rendezvous import FOLDER
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.workers.scratch import scratch_folder

_INDEX = "/index"


@dataclass(frozen=True)
class CheckedStore:
    """What was found in a sound store.

    Attributes:
        graphs: the number of triples of each graph, by its IRI.
        changes: the number of writes that were counted since the store counts them.
        missing_times: the IRIs of the index graphs that lack times of records, and how many quads each lacks.
    """

    graphs: dict[str, int]
    changes: int
    missing_times: dict[str, int] = field(default_factory=dict)

    @property
    def triples(self) -> int:
        """The number of triples of all graphs."""
        return sum(self.graphs.values())


def check(where: str | Path | Mapping[str, Any], progress: Progress = silent) -> CheckedStore:
    """Check the store in a folder, completely.

    Args:
        where: the store, as for `open_store`; a folder that exists.
        progress: receives reports of the progress.

    Raises:
        GraphCorrupt: it is damaged, or has lost acknowledged writes.
        InvalidArguments: it is not in a folder.
        GraphUnavailable: it cannot be opened, or copied.
    """
    folder = folder_of(where)
    if folder is None:
        raise invalid("store", f"{where} has no files here", hint="check a store in a folder; a server checks its own")
    if not (folder / "CURRENT").exists() and not any(folder.glob("*.sst")):
        raise GraphUnavailable(f"there is no store in {folder}", hint="check the name")
    with closing(open_store(folder)) as store:
        if isinstance(store, InFolder) and store.is_read_only:
            return replace(_checked(folder, folder, _answered(store), progress), missing_times=_missing_times(store))
        with scratch_folder(folder / FOLDER) as scratch:
            checked = checked_snapshot(store, files := scratch / "store", progress)
            if checked is None:  # pragma: no cover - a store in a folder has files
                raise GraphUnavailable(f"the store in {folder} has no files", hint="check the name")
            (files / "LOCK").touch()  # a snapshot has none
            with closing(ReadOnlyStore(files)) as copy:
                missing = _missing_times(copy)
        for graph in missing:
            forget_times(store, NamedNode(graph))
    return replace(checked, missing_times=missing)


def checked_snapshot(store: GraphStore, files: Path, progress: Progress = silent) -> CheckedStore | None:
    """Take a snapshot of a store, and check it.

    Args:
        store: others may use it meanwhile.
        files: the folder for the snapshot; must not exist.
        progress: receives reports of the progress.

    Returns:
        What was found; None for a store that has no files.

    Raises:
        GraphCorrupt: the store is damaged, or has lost acknowledged writes.
    """
    named, answered = (store.folder, _answered(store)) if isinstance(store, InFolder) else (files, 0)
    return _checked(files, named, answered, progress) if store.snapshot(files) else None


def _answered(store: InFolder) -> int:
    """Return the number of the last answered change, which every later snapshot must have."""
    if store.damage is not None:
        raise store.damage
    record = read_record(store.folder)
    return 0 if record is None else record.changes


def _checked(files: Path, named: Path, answered: int, progress: Progress) -> CheckedStore:
    graphs = check_indexes(files, named, lambda graph, rows: progress(f"checking {graph}", rows, None))
    changes = last_number(Store.read_only(os.fspath(files)))
    if changes < answered:
        raise corrupt(named, f"{answered - changes:,} of {answered:,} acknowledged writes are missing")
    return CheckedStore(graphs, changes)


def _missing_times(store: GraphStore) -> dict[str, int]:
    found = {}
    for graph in store.graph_names():
        start, ending, rest = graph.value.rpartition(_INDEX)
        segment = re.split("[:/#]", start)[-1]
        namespace = namespace_of(segment)
        if ending and not rest and namespace is not None:
            names = Names(namespace, start.removesuffix(segment))
            if missing := RecordTimes(store, names).missing():
                found[graph.value] = missing
    return found
