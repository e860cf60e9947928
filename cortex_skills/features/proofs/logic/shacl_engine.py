"""Evaluation of SHACL shapes in worker processes (`shacl_worker`), with a time limit.

Rules kept here:
- a process evaluates the shapes of one caller at a time; a caller waits for a free process within its time limit;
- the time limit is enforced by killing the process. The start of a process does not count;
- a process receives only triples of the namespace's graph, and only a bounded number of reads and triples;
- a process that was killed, failed, or sent an invalid frame is not used again.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode

from cortex_graph.exceptions import GraphBusy, GraphUnavailable
from cortex_graph.workers.processes import ProcessPool, WorkerProcess
from cortex_skills.cancellation import CancelToken
from cortex_skills.config.extras import check_extra
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.logic.findings import safe_message

MAX_READS = 2_000
MAX_QUADS = 200_000
MEMORY_BYTES = 512 << 20
START_S = 60.0
_SIZE = 2
_WAITING = 1_000
_MAX_FRAME = 8 << 20
_NODE = "<urn:cortex-graph:node>"
_MODULE = "cortex_skills.features.proofs.logic.shacl_worker"

# Returns the matches of a pattern of three N-Triples terms, None for any, as lines of N-Triples.
Reader = Callable[[Sequence[str | None]], list[str]]


@dataclass(frozen=True, slots=True)
class ShapeResult:
    """The result of one set of shapes.

    Attributes:
        applied: how many of the shapes target a node of the statement.
        conforms: whether there is no violation.
        results: the validation results: `{severity, rule, message, node, path, value, shape, called}`.
        is_cut: whether there are more of them.
    """

    applied: int
    conforms: bool
    results: list[dict[str, str]]
    is_cut: bool = False


class ShaclEngine:
    """A pool of processes that evaluate shapes. Safe to use from several threads."""

    def __init__(self) -> None:
        self._pool = _new_pool()

    def evaluate(
        self,
        statement: str,
        shapes: Sequence[str],
        read: Reader,
        *,
        timeout_s: float,
        cancel: CancelToken | None = None,
        nodes: Sequence[NamedNode | Literal] = (),
    ) -> list[ShapeResult]:
        """Evaluate sets of shapes on a statement in its graph, or on nodes.

        Args:
            statement: the triple, as a line of N-Triples; empty to evaluate the nodes in the graph as it is read.
            shapes: the Turtle text of each set.
            read: reads the graph; the statement need not be in it.
            nodes: on which the shapes are evaluated; without any, on the nodes of the statement.
            timeout_s: the time limit once a process is ready, in seconds.
            cancel: cancels the call.

        Raises:
            CortexError: `proof_timeout`; `proof_failed`: the shapes cannot be evaluated, or read too much; `cancelled`;
                `graph_unavailable`: no process can be started; `config_invalid`: the extra `shacl` is not installed.
        """
        check_extra("shacl", "evaluating SHACL shapes")
        pool = self._pool
        process = _acquired(pool, timeout_s, cancel)
        is_reusable = False
        try:
            process.kill_at(time.monotonic() + timeout_s)
            with nullcontext() if cancel is None else cancel.interrupts(process.kill):
                named = "".join(f"{_NODE} {_NODE} {node} .\n" for node in nodes)
                _send(process, {"statement": statement, "nodes": named, "shapes": list(shapes)})
                results = _results(process, read, len(shapes))
            is_reusable = not process.timed_out
        except (EOFError, BrokenPipeError):
            if cancel is not None:
                cancel.check()
            raise _ended(process, timeout_s) from None
        except (ValueError, KeyError, TypeError) as error:
            message = f"the process that evaluates shapes sent an invalid frame: {str(error)[:200]}"
            raise CortexError("proof_failed", message) from None
        finally:
            pool.release(process, reusable=is_reusable)
        return results

    def prepare(self, timeout_s: float, cancel: CancelToken | None = None) -> None:
        """Wait until a process is free, and started, for a caller whose time begins then.

        Raises:
            CortexError: as `evaluate`.
        """
        check_extra("shacl", "evaluating SHACL shapes")
        self._pool.release(_acquired(self._pool, timeout_s, cancel), reusable=True)

    def pids(self) -> list[int]:
        """The ids of the processes."""
        return self._pool.pids()

    def close(self) -> None:
        """End all processes; the next evaluation starts new ones."""
        self._pool.close()
        self._pool = _new_pool()


def _new_pool() -> ProcessPool:
    return ProcessPool(
        _MODULE,
        "shapes",
        memory_bytes=MEMORY_BYTES,
        size=_SIZE,
        waiting=_WAITING,
        prepare=_wait_until_ready,
        environment={"PYTHONHASHSEED": "0"},
    )


def _acquired(pool: ProcessPool, timeout_s: float, cancel: CancelToken | None) -> WorkerProcess:
    try:
        return pool.acquire(time.monotonic() + timeout_s, cancel)
    except GraphBusy:
        raise CortexError(
            "proof_timeout", "all processes that evaluate shapes are busy", hint="try again later"
        ) from None
    except GraphUnavailable as error:
        raise CortexError("graph_unavailable", str(error), hint=error.hint) from error


def _wait_until_ready(process: WorkerProcess) -> None:
    """Wait until a process has loaded its modules and is confined."""
    process.kill_at(time.monotonic() + START_S)
    try:
        process.receive(_MAX_FRAME)
    except (EOFError, ValueError) as error:
        message = f"the process that evaluates shapes did not start (status {process.close()})"
        raise CortexError("graph_unavailable", message, hint="check that pyshacl is installed") from error
    process.kill_at(None)


def _send(process: WorkerProcess, document: dict[str, Any]) -> None:
    process.send(b"J", json.dumps(document).encode())


def _results(process: WorkerProcess, read: Reader, count: int) -> list[ShapeResult]:
    """The results of an evaluation, after all reads of the process were answered."""
    reads = quads = 0
    while "read" in (frame := json.loads(process.receive(_MAX_FRAME)[1])):
        reads += 1
        lines = read(frame["read"])
        quads += len(lines)
        if reads > MAX_READS or quads > MAX_QUADS:
            raise CortexError(
                "proof_failed",
                f"the shapes read more of the graph than allowed ({MAX_READS} patterns, {MAX_QUADS} statements)",
                hint="start the rules at the nodes of the statement, and bind more variables in their queries",
            )
        _send(process, {"triples": "\n".join(lines)})
    if "failed" in frame:
        raise CortexError("proof_failed", f"the shapes cannot be applied: {safe_message(str(frame['failed']), 500)}")
    results = [
        ShapeResult(int(each["applied"]), bool(each["conforms"]), list(each["results"]), bool(each["more"]))
        for each in frame["sets"]
    ]
    if len(results) != count:
        raise ValueError("it has another number of results than rule sets")
    return results


def _ended(process: WorkerProcess, timeout_s: float) -> CortexError:
    """The error for a process that ended during an evaluation."""
    if process.timed_out:
        hint = "write shapes that read less of the graph, or raise skillSandbox.proofTimeoutMs"
        return CortexError(
            "proof_timeout", f"the shapes took longer than {timeout_s:.3g} s and were stopped", hint=hint
        )
    status = process.close()
    if -status in (signal.SIGABRT, signal.SIGSEGV):
        return CortexError("proof_failed", "the shapes need too much memory, or nest too deeply")
    message = f"the process that evaluates shapes has ended (status {status})"
    return CortexError("proof_failed", message, hint="try again; the machine may be out of memory")


# One for all plugins of this process: between two evaluations, a worker keeps only parsed shapes.
ENGINE = ShaclEngine()
