"""A backup: a folder with the whole content of a store, and what is needed to verify it.

Rules kept here:
- `manifest.json` has the format version, the time, and the count and canonical hash of each graph;
- a store with files is kept as a snapshot (`store/`), and the manifest has the SHA-256 of each file: a graph is read
  with one of its indexes, and the others must be intact, too. Any other store is kept as sorted N-Triples (`graphs/`);
- a store with files is checked completely before its backup is called good (`checking.py`);
- a backup appears complete or not at all, and only where nothing exists; others may write to the store meanwhile;
- a manifest is untrusted: it is parsed strictly, and names no file outside its folder.
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

from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.store import GraphStore
from cortex_graph.stores.location import store_above
from cortex_graph.transfer.canonical_hash import Digest, digest_of, digest_of_file, spool
from cortex_graph.transfer.checking import checked_snapshot
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.workers.scratch import whole_folder

FORMAT = 1
MANIFEST = "manifest.json"
STORE = "store"
GRAPHS = "graphs"
_MAX_MANIFEST = 256 << 20
_MAX_NAME = 300
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Backup:
    """The content of a backup.

    Attributes:
        folder: its folder.
        kind: `snapshot` or `triples`.
        time: when it was made.
        graphs: the digest of each graph, by its IRI.
        files: the SHA-256 of each file of a snapshot, by its name.
        made_by: the installation that made it, as its manifest states; empty where that is not known.
    """

    folder: Path
    kind: str
    time: datetime
    graphs: dict[str, Digest]
    files: dict[str, str] = field(default_factory=dict)
    made_by: str = ""

    @property
    def triples(self) -> int:
        """The number of triples of all graphs."""
        return sum(digest.count for digest in self.graphs.values())

    def file_of(self, graph: str) -> Path:
        """Return the file of a graph, in a backup of triples."""
        return self.folder / GRAPHS / f"{list(self.graphs).index(graph)}.nt"


def back_up(store: GraphStore, folder: Path | str, *, progress: Progress = silent, made_by: str = "") -> Backup:
    """Back up a store into a folder.

    Args:
        store: others may use it meanwhile.
        folder: must not exist.
        progress: receives reports of the progress.
        made_by: the installation, for the manifest.

    Raises:
        InvalidArguments: the folder exists, or cannot be made.
        GraphCorrupt: the store is damaged, or has lost acknowledged writes.
        GraphUnavailable: the store cannot be read.
    """
    target = Path(folder).absolute()
    if target.exists():
        raise invalid("folder", f"{folder} exists already", hint="name a new folder: a backup replaces nothing")
    if above := store_above(target):
        hint = "name a folder outside it: a backup in a store is lost with the store"
        raise invalid("folder", f"{folder} is in {above}, which is the folder of a store", hint=hint)
    try:
        with whole_folder(target) as part:
            progress("taking a snapshot", 0, None)
            files: dict[str, str] = {}
            if checked_snapshot(store, part / STORE, progress) is not None:
                kind = "snapshot"
                files = {file.name: _sha256(file) for file in sorted((part / STORE).iterdir())}
                with reading(part / STORE) as snapshot:
                    graphs = {
                        graph.value: digest_of(snapshot, graph, progress=progress) for graph in snapshot.graph_names()
                    }
            else:
                kind = "triples"
                graphs = _spool_all(store, part, progress)
            backup = Backup(target, kind, datetime.now(UTC), graphs, files, made_by)
            _write_manifest(part / MANIFEST, backup)
    except OSError as error:
        raise invalid(
            "folder", f"{folder} cannot be written: {error.strerror or error}", hint="is the disk full or read-only?"
        ) from error
    return backup


def read_backup(folder: Path | str) -> Backup:
    """Read the manifest of a backup; `check_store` and `check_files` verify the content.

    Raises:
        InvalidArguments: the folder is not a backup that this version can read.
    """
    path = Path(folder).absolute()
    try:
        file = path / MANIFEST
        status = file.stat()
        if status.st_size > _MAX_MANIFEST or not stat.S_ISREG(status.st_mode):
            raise damaged(folder, "its manifest is too large, or not a file")
        manifest = json.loads(file.read_bytes())
    except OSError as error:
        raise invalid(
            "folder", f"{folder} is not a backup: {error.strerror}", hint="name a folder that `backup` made"
        ) from error
    except (ValueError, RecursionError) as error:
        raise damaged(folder, f"its manifest is not JSON: {error}") from error
    if isinstance(manifest, dict) and manifest.get("format") not in (None, FORMAT):
        raise invalid("folder", f"{folder} has format {manifest['format']}", hint="use the version that made it")
    try:
        graphs = {
            NamedNode(row["graph"]).value: Digest(_count(row["triples"]), _hash(row["sha256"]))
            for row in manifest["graphs"]
        }
        files = {_name(name): _hash(sha256) for name, sha256 in manifest["files"].items()}
        time = datetime.fromisoformat(manifest["time"])
        made_by = manifest.get("madeBy", "")  # earlier versions did not write it
        kind = {"snapshot": "snapshot", "triples": "triples"}[manifest["kind"]]
        is_known = isinstance(made_by, str) and len(made_by) <= _MAX_NAME
        if manifest["format"] != FORMAT or len(graphs) != len(manifest["graphs"]) or not is_known:
            raise ValueError
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise damaged(folder, "its manifest is not what `backup` writes") from error
    return Backup(path, kind, time, graphs, files, made_by)


def check_store(backup: Backup, store: GraphStore, progress: Progress = silent) -> None:
    """Verify that a store has exactly the content of a backup.

    Raises:
        InvalidArguments: it has not.
        GraphUnavailable: it cannot be read.
    """
    for graph in {*backup.graphs, *(graph.value for graph in store.graph_names())}:
        found = digest_of(store, NamedNode(graph), progress=progress)
        if found != backup.graphs.get(graph, Digest(0, "")):
            raise damaged(backup.folder, f"the graph {graph} differs from its manifest")


def check_files(backup: Backup) -> None:
    """Verify the files of a backup of triples against its manifest.

    Raises:
        InvalidArguments: they differ.
    """
    for graph, digest in backup.graphs.items():
        try:
            if not backup.file_of(graph).is_file():
                raise damaged(backup.folder, f"the file of {graph} is missing, or not a file")
            found = digest_of_file(backup.file_of(graph), NamedNode(graph))
        except (OSError, ValueError) as error:
            raise damaged(backup.folder, f"the file of {graph} cannot be used: {error}") from error
        if found != digest:
            raise damaged(backup.folder, f"the graph {graph} differs from its manifest")


@contextmanager
def reading(folder: Path) -> Iterator[GraphStore]:
    """Open the store of a snapshot for reading.

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
        "madeBy": backup.made_by,
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
    """Return the error for a damaged backup."""
    return InvalidArguments(
        f"the backup in {folder} cannot be trusted: {problem}",
        hint="nothing was changed; use another backup",
        details={"field": "folder"},
    )
