"""A backup: a folder with everything that a store holds, and what is needed to check it.

Rules kept here:
- `manifest.json` says the format's version, the time, and for each graph its count and canonical hash;
- a store with files of its own is kept as a snapshot (`store/`), and the manifest has the SHA-256 of each file: a graph
  is read by one of its indexes, and the others must be whole, too. Any other store is kept as sorted N-Triples
  (`graphs/`);
- a backup appears whole or not at all, and only where nothing is; others may write to the store meanwhile;
- a manifest is hostile like any file: it is read strictly, and names no file outside of its folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph.errors import InvalidArguments, invalid
from cortex_graph.store import GraphStore
from cortex_graph.stores.folders import store_above
from cortex_graph.transfer.hashing import Digest, digest_of, digest_of_file, spool
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.scratch import whole_folder

FORMAT = 1
MANIFEST = "manifest.json"
STORE = "store"
GRAPHS = "graphs"
_MAX_MANIFEST = 256 << 20
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Backup:
    """What a backup holds.

    Attributes:
        folder: where it is.
        kind: `snapshot` or `triples`.
        time: when it was made.
        graphs: the digest of each graph, by its IRI.
        files: the SHA-256 of each file of a snapshot, by its name.

    """

    folder: Path
    kind: str
    time: datetime
    graphs: dict[str, Digest]
    files: dict[str, str] = field(default_factory=dict)

    @property
    def triples(self) -> int:
        """How many triples all its graphs hold."""
        return sum(digest.count for digest in self.graphs.values())

    def file_of(self, graph: str) -> Path:
        """Where the triples of a graph are, in a backup of triples."""
        return self.folder / GRAPHS / f"{list(self.graphs).index(graph)}.nt"


def back_up(store: GraphStore, folder: Path | str, *, progress: Progress = silent) -> Backup:
    """Back a store up into a folder.

    Args:
        store: others may use it meanwhile.
        folder: must not be there yet.
        progress: told how far it is.

    Raises:
        InvalidArguments: the folder is there, or cannot be made.
        GraphUnavailable: the store cannot be read.

    """
    target = Path(folder).absolute()
    if target.exists():
        raise invalid("folder", f"{folder} is there already", hint="name a new folder: a backup replaces nothing")
    if above := store_above(target):
        hint = "name a folder beside it: a backup in a store goes with the store"
        raise invalid("folder", f"{folder} is in {above}, which is the folder of a store", hint=hint)
    try:
        with whole_folder(target) as part:
            progress("taking a snapshot", 0, None)
            files: dict[str, str] = {}
            if store.snapshot(part / STORE):
                kind = "snapshot"
                files = {file.name: _sha256(file) for file in sorted((part / STORE).iterdir())}
                with reading(part / STORE) as snapshot:
                    graphs = {
                        graph.value: digest_of(snapshot, graph, progress=progress) for graph in snapshot.graph_names()
                    }
            else:
                kind = "triples"
                graphs = _spool_all(store, part, progress)
            backup = Backup(target, kind, datetime.now(UTC), graphs, files)
            _write_manifest(part / MANIFEST, backup)
    except OSError as error:
        raise invalid(
            "folder", f"{folder} cannot be written: {error.strerror or error}", hint="is the disk full or read-only?"
        ) from error
    return backup


def read_backup(folder: Path | str) -> Backup:
    """What a backup says that it holds; `check_backup` sees whether it does.

    Raises:
        InvalidArguments: the folder holds no backup that this version can read.

    """
    path = Path(folder).absolute()
    try:
        file = path / MANIFEST
        told = file.stat()
        if told.st_size > _MAX_MANIFEST or not stat.S_ISREG(told.st_mode):
            raise damaged(folder, "its manifest is too large, or no file")
        manifest = json.loads(file.read_bytes())
    except OSError as error:
        raise invalid(
            "folder", f"{folder} holds no backup: {error.strerror}", hint="name what `backup` made"
        ) from error
    except (ValueError, RecursionError) as error:
        raise damaged(folder, f"its manifest is not JSON: {error}") from error
    if isinstance(manifest, dict) and manifest.get("format") not in (None, FORMAT):
        raise invalid("folder", f"{folder} is of format {manifest['format']}", hint="use the version that made it")
    try:
        graphs = {
            NamedNode(row["graph"]).value: Digest(_count(row["triples"]), _hash(row["sha256"]))
            for row in manifest["graphs"]
        }
        files = {_name(name): _hash(sha256) for name, sha256 in manifest["files"].items()}
        time = datetime.fromisoformat(manifest["time"])
        kind = {"snapshot": "snapshot", "triples": "triples"}[manifest["kind"]]
        if manifest["format"] != FORMAT or len(graphs) != len(manifest["graphs"]):
            raise ValueError
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise damaged(folder, "its manifest is not what `backup` writes") from error
    return Backup(path, kind, time, graphs, files)


def check_store(backup: Backup, store: GraphStore, progress: Progress = silent) -> None:
    """See whether a store holds what a backup says, and nothing else.

    Raises:
        InvalidArguments: it does not.
        GraphUnavailable: it cannot be read.

    """
    for graph in {*backup.graphs, *(graph.value for graph in store.graph_names())}:
        found = digest_of(store, NamedNode(graph), progress=progress)
        if found != backup.graphs.get(graph, Digest(0, "")):
            raise damaged(backup.folder, f"the graph {graph} is not what its manifest says")


def check_files(backup: Backup) -> None:
    """See whether the files of a backup of triples hold what its manifest says.

    Raises:
        InvalidArguments: they do not.

    """
    for graph, digest in backup.graphs.items():
        try:
            if not backup.file_of(graph).is_file():
                raise damaged(backup.folder, f"the file of {graph} is missing, or no file")
            found = digest_of_file(backup.file_of(graph), NamedNode(graph))
        except (OSError, ValueError) as error:
            raise damaged(backup.folder, f"the file of {graph} cannot be used: {error}") from error
        if found != digest:
            raise damaged(backup.folder, f"the graph {graph} is not what its manifest says")


@contextmanager
def reading(folder: Path) -> Iterator[GraphStore]:
    """The store of a snapshot, to be read only.

    Raises:
        GraphUnavailable: it cannot be opened.

    """
    from cortex_graph.stores.embedded import OxigraphStore

    store = OxigraphStore.read_only(folder)
    try:
        yield store
    finally:
        store.close()


def _spool_all(store: GraphStore, part: Path, progress: Progress) -> dict[str, Digest]:
    folder = part / GRAPHS
    folder.mkdir()
    graphs = {}
    for number, graph in enumerate(store.graph_names()):
        file = folder / f"{number}.nt"
        graphs[graph.value] = spool(store, graph, file, progress=progress)
        with file.open("rb") as written:
            os.fsync(written.fileno())
    return graphs


def _write_manifest(file: Path, backup: Backup) -> None:
    document = {
        "format": FORMAT,
        "kind": backup.kind,
        "time": backup.time.isoformat(),
        "graphs": [
            {"graph": graph, "triples": digest.count, "sha256": digest.sha256}
            for graph, digest in backup.graphs.items()
        ],
        "files": backup.files,
    }
    with file.open("w", encoding="utf-8") as output:
        json.dump(document, output, indent=2)
        output.flush()
        os.fsync(output.fileno())


def _count(given: Any) -> int:
    if type(given) is not int or given < 0:
        raise ValueError
    return given


def _name(given: str) -> str:
    if not _FILE.fullmatch(given):
        raise ValueError
    return given


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _hash(given: Any) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", given):
        raise ValueError
    return str(given)


def damaged(folder: Path | str, problem: str) -> InvalidArguments:
    """The error for a backup that is not what it should be."""
    return InvalidArguments(
        f"the backup in {folder} cannot be trusted: {problem}",
        hint="nothing was changed; use another backup",
        details={"field": "folder"},
    )
