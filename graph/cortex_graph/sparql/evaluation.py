"""Evaluates queries over an embedded store: on snapshots, which are read by processes that can be killed.

Rules kept here:
- every text is tokenised once more, so that no query that reaches the store can query another server;
- a query that the engine would answer wrongly is rewritten (`careful.py`);
- the time limit begins with the call, and includes waiting for a process and making a snapshot;
- processes and the folder of snapshots are made with the first query; what a killed process leaves is removed by the
  next one that makes such a folder.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from pyoxigraph import NamedNode, QueryResultsFormat, RdfFormat

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphError, GraphUnavailable, invalid
from cortex_graph.sparql.careful import careful_query
from cortex_graph.sparql.exact_numbers import FUNCTIONS
from cortex_graph.sparql.query_run import QuerySyntax, query_pool, run_query
from cortex_graph.sparql.snapshots import Revisions, SnapshotCache
from cortex_graph.sparql.tokens import MOST_DEPTH, read_tokens
from cortex_graph.store import Dataset, QueryAnswer
from cortex_graph.workers.processes import ProcessPool

_CHECK_S = 600.0
FOLDER = ".queries"  # in the folder of a store


class NumberState(Protocol):
    """Whether a store may have numbers that the engine does not calculate with (`stores/long_numbers.py`)."""

    may_exist: bool
    question: str

    def begin_check(self) -> bool:
        """Return whether the caller should ask `question`; True once."""

    def found_none(self) -> None:
        """Record that the answer is no."""


class QueryEvaluator:
    """Evaluates queries over one store.

    Args:
        revisions: the writes to the store.
        folder: the folder of the store; None for a store in memory.
        take: writes a copy of some graphs, or of all, to a path.
        workers: the processes, which stay when the store is closed; None for processes of its own.
        numbers: returns whether the store may have numbers that the engine does not calculate with.
    """

    def __init__(
        self,
        revisions: Revisions,
        folder: Path | None,
        take: Callable[[Path, frozenset[NamedNode]], None],
        workers: ProcessPool | None,
        numbers: Callable[[], NumberState],
    ) -> None:
        self._numbers = numbers
        self._folder = self._named = None if folder is None else folder.absolute()
        self._snapshots = SnapshotCache(revisions, self._snapshot_folder, take, per_graphs=folder is None)
        self._lock = threading.Lock()
        self._workers = workers
        self._are_shared = workers is not None
        self._release: Callable[[], object] = bool  # unlocks the folder of copies

    @property
    def workers(self) -> ProcessPool:
        """The processes."""
        with self._lock:
            if self._workers is None:
                self._workers = query_pool()
            return self._workers

    def query(
        self,
        text: str,
        dataset: Dataset,
        results: QueryResultsFormat,
        graphs: RdfFormat,
        timeout_s: float,
        cancel: Cancellation | None = None,
    ) -> QueryAnswer:
        """Evaluate a query; see `GraphStore.query`."""
        deadline = time.monotonic() + timeout_s
        tokens = read_tokens(text, MOST_DEPTH)
        try:
            lease = self._snapshots.lease(frozenset((*dataset.default, *dataset.named)))
        except OSError as error:
            raise GraphUnavailable(
                f"the store cannot be copied for a query: {error.strerror or error}",
                hint="see whether the disk, or the folder for temporary files, is full",
            ) from error
        # After the snapshot was taken, which has no number that was not announced.
        numbers = self._numbers()
        careful = careful_query(text, tokens, dataset, has_long_numbers=numbers.may_exist)
        if careful is not None and FUNCTIONS in careful.text and numbers.begin_check():
            threading.Thread(target=self._check, args=(numbers,), name="cortex-numbers", daemon=True).start()
        request = {
            "careful": None if careful is None else asdict(careful),
            "text": text,
            "default": [graph.value for graph in dataset.default],
            "named": [graph.value for graph in dataset.named],
            "results": results.media_type,
            "graphs": graphs.media_type,
        }
        try:
            is_graph, chunks = run_query(
                self.workers, request, lease, deadline, lambda: self._snapshots.release(lease), cancel, self._named
            )
        except QuerySyntax as error:
            raise invalid("query", f"is not SPARQL 1.1: {error}") from error
        return QueryAnswer(graphs if is_graph else results, chunks, () if careful is None else careful.warnings)

    def _check(self, numbers: NumberState) -> None:
        """Ask a copy of the store whether it has a long number; a check that fails is made by the next process."""
        with suppress(GraphError, OSError, ValueError):
            lease = self._snapshots.lease(frozenset())
            request = {"text": numbers.question, "careful": None, "named": None}
            request |= {"results": QueryResultsFormat.JSON.media_type}
            deadline = time.monotonic() + _CHECK_S
            _, chunks = run_query(self.workers, request, lease, deadline, lambda: self._snapshots.release(lease))
            if not json.loads(b"".join(chunks))["boolean"]:
                numbers.found_none()

    def use(self, copy: Path) -> None:
        """Read this copy of the store, to which no process writes, instead of making copies."""
        self._named = copy
        self._snapshots.use(copy)

    def close(self) -> None:
        """End the running queries, and remove the snapshots."""
        with self._lock:
            workers = self._workers
        if workers is not None and not self._are_shared:
            workers.close()
        self._snapshots.close()
        self._release()

    def _snapshot_folder(self) -> Path:
        if self._folder is None:
            from cortex_graph.workers.scratch import lasting_folder

            folder, in_use = lasting_folder("cortex-queries-")
            self._release = weakref.finalize(self, in_use.close)
            return folder
        place = self._folder / FOLDER
        place.mkdir(mode=0o700, exist_ok=True)
        return place


def sweep(folder: Path) -> None:
    """Remove the snapshots that a killed process has left in the folder of a store."""
    if (folder / FOLDER).is_symlink():  # not made here, and its target is not removed
        (folder / FOLDER).unlink(missing_ok=True)
    shutil.rmtree(folder / FOLDER, ignore_errors=True)
