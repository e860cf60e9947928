"""The evaluation of queries over an embedded store: snapshots of it, read by processes that can be killed.

Rules kept here:
- a query is read as tokens once more: whoever asks a store, it asks no other server;
- its time begins with the call, and covers waiting for a process and the making of a snapshot;
- the processes and the folder of snapshots are made with the first query; what a process that was killed has left goes
  with the next one that makes such a folder.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from pyoxigraph import NamedNode, QueryResultsFormat, RdfFormat

from cortex_graph.errors import GraphUnavailable, invalid
from cortex_graph.sparql.process import QuerySyntax, too_slow
from cortex_graph.sparql.snapshots import Revisions, Snapshots
from cortex_graph.sparql.text import read_tokens
from cortex_graph.sparql.workers import Workers
from cortex_graph.stopping import Stop
from cortex_graph.store import Answer, Dataset

FOLDER = ".queries"  # in the folder of a store
_DEPTH = 1000  # whoever asks a store directly has no limits of a user's; beyond this the engine overflows


class Evaluation:
    """Evaluates queries over one store.

    Args:
        revisions: the writes to the store.
        folder: where the store lives; None for one in memory.
        take: writes a copy of some graphs of it, or of all, to a path.
        workers: the processes; None for some of its own.

    """

    def __init__(
        self,
        revisions: Revisions,
        folder: Path | None,
        take: Callable[[Path, frozenset[NamedNode]], None],
        workers: Workers | None = None,
    ) -> None:
        self._folder = None if folder is None else folder.absolute()
        self._snapshots = Snapshots(revisions, self._place, take, per_graphs=folder is None)
        self._lock = threading.Lock()
        self._workers = workers
        self._release: Callable[[], object] = bool  # lets others remove the copies

    @property
    def workers(self) -> Workers:
        """The processes."""
        with self._lock:
            if self._workers is None:
                self._workers = Workers()
            return self._workers

    def query(
        self,
        text: str,
        dataset: Dataset,
        results: QueryResultsFormat,
        graphs: RdfFormat,
        timeout_s: float,
        stop: Stop | None = None,
    ) -> Answer:
        """Evaluate a query; see `GraphStore.query`."""
        deadline = time.monotonic() + timeout_s
        read_tokens(text, _DEPTH)
        try:
            snapshot = self._snapshots.lease(frozenset((*dataset.default, *dataset.named)))
        except OSError as error:
            raise GraphUnavailable(
                f"the store cannot be copied for a query: {error.strerror or error}",
                hint="see whether the disk, or the folder for temporary files, is full",
            ) from error
        left = deadline - time.monotonic()
        if left <= 0:
            self._snapshots.release(snapshot)
            raise too_slow()
        request = {
            "snapshot": str(snapshot.path),
            "text": text,
            "default": [graph.value for graph in dataset.default],
            "named": [graph.value for graph in dataset.named],
            "results": results.media_type,
            "graphs": graphs.media_type,
            "timeout": left,
        }
        try:
            running = self.workers.ask(request, deadline, lambda: self._snapshots.release(snapshot), stop)
        except QuerySyntax as error:
            raise invalid("query", f"is not SPARQL 1.1: {error}") from error
        return Answer(graphs if json.loads(running.header)["graph"] else results, running.chunks)

    def use(self, copy: Path) -> None:
        """Read this copy of the store, and make none: nobody writes to it."""
        self._snapshots.use(copy)

    def close(self) -> None:
        """End what is running, and remove the snapshots."""
        with self._lock:
            workers = self._workers
        if workers is not None:
            workers.close()
        self._snapshots.close()
        self._release()

    def _place(self) -> Path:
        if self._folder is None:
            from cortex_graph.transfer.scratch import lasting_folder

            folder, in_use = lasting_folder("cortex-queries-")
            self._release = weakref.finalize(self, in_use.close)
            return folder
        place = self._folder / FOLDER
        place.mkdir(mode=0o700, exist_ok=True)
        return place


def sweep(folder: Path) -> None:
    """Remove the snapshots that a process which was killed has left in the folder of a store."""
    if (folder / FOLDER).is_symlink():  # none of ours is one: the copies would lie elsewhere, and stay
        (folder / FOLDER).unlink(missing_ok=True)
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
