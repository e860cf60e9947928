"""One query on one process, from its start to the end of its answer.

Rules kept here:
- a query that has run out of time, that is cancelled, or whose answer is closed before its end, is killed with its
  process;
- the status with which a process ended decides the error of its query.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from cortex_graph.cancellation import Cancellation, interruptible
from cortex_graph.checks.engine_errors import damage_in
from cortex_graph.exceptions import GraphError, GraphUnavailable, InvalidArguments, QueryLimit, QueryTimeout
from cortex_graph.sparql.query_worker import PIECE
from cortex_graph.sparql.recent_changes import as_text
from cortex_graph.sparql.snapshots import Lease
from cortex_graph.workers.processes import ProcessPool, WorkerProcess

MEMORY_BYTES = 1 << 30
_MODULE = "cortex_graph.sparql.query_worker"


class QuerySyntax(InvalidArguments):
    """The engine does not parse the text as SPARQL."""


def query_pool(size: int | None = None, waiting: int = 32, memory_bytes: int = MEMORY_BYTES) -> ProcessPool:
    """Return a pool of processes that evaluate queries; see `ProcessPool`."""
    return ProcessPool(_MODULE, "queries", memory_bytes=memory_bytes, size=size, waiting=waiting)


def run_query(
    pool: ProcessPool,
    request: dict[str, Any],
    lease: Lease,
    deadline: float,
    at_end: Callable[[], None],
    cancel: Cancellation | None = None,
    folder: Path | None = None,
) -> tuple[bool, Generator[bytes, None, None]]:
    """Evaluate a query; returns when the first bytes of its result have arrived, or all of it.

    Returns whether the result is an RDF graph, and its bytes. Closing them ends the query.

    Args:
        pool: the processes, see `query_pool`.
        request: see `query_worker.py`; what to read and `timeout` are added.
        lease: what to read; `at_end` releases it.
        deadline: when the query is killed, by `time.monotonic`.
        at_end: called once, when the query has ended for any reason.
        cancel: cancels the call.
        folder: of the store, for errors about its files.

    Raises:
        GraphBusy: all processes are busy.
        GraphError: the query failed.
    """
    try:
        left = deadline - time.monotonic()
        if left <= 0:
            raise too_slow()
        request = request | {"timeout": left}
        run = _Run(pool, pool.acquire(deadline, cancel), at_end, cancel, folder)
    except BaseException:
        at_end()
        raise
    try:
        is_graph = run.begin(request, lease, deadline)
        chunks = run.chunks()
        next(chunks)  # to the first piece; closing it ends the query from now on
    except BaseException:
        run.end()
        raise
    return is_graph, chunks


def too_slow() -> QueryTimeout:
    """Return the error for a query that has run out of time."""
    return QueryTimeout("the query took longer than it may", hint="bind more of its patterns, or give it more time")


class _Run:
    def __init__(
        self,
        pool: ProcessPool,
        process: WorkerProcess,
        at_end: Callable[[], None],
        cancel: Cancellation | None,
        folder: Path | None,
    ) -> None:
        self._folder = folder
        self._pool = pool
        self._process = process
        self._at_end = at_end
        self._cancel = cancel
        self._is_done = False  # whether the process waits for the next request
        self._ended = False
        self._first: list[bytes] = []

    def begin(self, request: dict[str, Any], lease: Lease, deadline: float) -> bool:
        """Send the request, and read until a first piece or the end of the answer has arrived."""
        self._process.kill_at(deadline)
        path = str(lease.snapshot.path)
        known, self._process.reads = self._process.reads, None
        made = known[1] if known is not None and known[0] == path else 0
        request = request | {"snapshot": path, "changes": as_text(lease.changes[made:])}
        try:
            self._process.send(b"Q", json.dumps(request).encode())
        except BrokenPipeError:
            raise _ended(self._process) from None
        is_graph = bool(json.loads(self._read()[1])["graph"])
        self._process.reads = (path, max(made, len(lease.changes)))
        while sum(map(len, self._first)) < PIECE:
            kind, content = self._read()
            if kind == b"F":
                self.end()
                break
            self._first.append(content)
        return is_graph

    def chunks(self) -> Generator[bytes, None, None]:
        """Yield nothing once, then the pieces of the answer."""
        try:
            yield b""
            while self._first:
                yield self._first.pop(0)
            while not self._ended:
                kind, content = self._read()
                if kind == b"F":
                    break
                yield content
        finally:
            self.end()

    def end(self) -> None:
        """Release the process; it is killed if the query still runs."""
        if self._ended:
            return
        self._ended = True
        self._pool.release(self._process, reusable=self._is_done)
        self._at_end()

    def _read(self) -> tuple[bytes, bytes]:
        with interruptible(self._cancel, self._process.kill):
            try:
                kind, content = self._process.receive()
            except EOFError:
                raise _ended(self._process) from None
        if kind == b"E":
            error = _error(self._process, self._folder, **json.loads(content))
            self._is_done = not isinstance(error, QueryLimit)
            raise error
        self._is_done = kind == b"F"
        return kind, content


def _ended(process: WorkerProcess) -> GraphError:
    """Return the error of a query whose process has ended."""
    status = process.wait()
    if process.timed_out or -status == getattr(signal, "SIGXCPU", None):
        return too_slow()
    if -status == signal.SIGABRT:
        return _too_large(process)
    if -status == signal.SIGSEGV:
        return InvalidArguments(
            "the query is too long a chain for the engine", hint="join fewer parts with operators or in a pattern"
        )
    return GraphUnavailable(
        f"the process that evaluated the query has ended (status {status})",
        hint="ask again; the machine may be out of memory",
    )


def _error(process: WorkerProcess, folder: Path | None, kind: str, message: str) -> GraphError:
    if kind == "SyntaxError":
        return QuerySyntax(message)
    if kind == "MemoryError":
        return _too_large(process)
    if folder is not None and (damage := damage_in(message, folder)) is not None:
        return damage
    if kind == "RuntimeError":
        return InvalidArguments(f"the query cannot be evaluated: {message}", details={"field": "query"})
    return GraphUnavailable(f"the query failed: {message}", hint="see whether the disk is full")


def _too_large(process: WorkerProcess) -> QueryLimit:
    return QueryLimit(
        f"the query needs more than {process.memory_bytes >> 20} MiB of memory",
        # The engine's aggregates collect the error of a damaged block until the memory is exhausted.
        hint="bind more of its patterns, or sort and group less. If the store is small, its files may be damaged: "
        "`cortex-skills graph check`",
        details={"memoryBytes": process.memory_bytes},
    )
