"""Has a file read by a process that may end badly, and makes errors of ours of how it ends.

Rules kept here:
- a file is parsed in another process (`reader.py`). One that crashes it, fills its memory, stops it or grows without
  end is refused like any other that is broken; the process that asked goes on;
- that process ends with this call, however the call ends.
"""

from __future__ import annotations

import errno
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from cortex_graph.errors import GraphError, GraphUnavailable, InvalidArguments
from cortex_graph.names import Names
from cortex_graph.transfer.progress import Progress

STALLED_S = 60.0  # without a sign of progress
_GROWTH = 200  # a prefix of a Turtle file may be long, and used often
_ROOM = 1 << 30
_HINT = "nothing was imported; mend the file and import it again"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True)
class Read:
    """What a file held: its triples, its records, and statements of graphs that are not imported."""

    statements: int
    records: int
    ignored: int


def read_file(
    file: Path,
    form: str,
    names: Names,
    folder: Path,
    *,
    shown: str,
    base_iri: str | None,
    with_provenance: bool,
    progress: Progress,
) -> Read:
    """Check a file and write what it holds into a folder; see `reader.py` for the files.

    Raises:
        InvalidArguments: the file is broken (`details`: line, column), or made to break its reader.
        GraphUnavailable: the folder for temporary files is full.

    """
    try:
        size = file.stat().st_size
    except OSError as error:
        raise _unreadable(shown, str(error)) from error
    job = {
        "file": str(file.absolute()),
        "format": form,
        "base_iri": base_iri,
        "folder": str(folder),
        "namespace": names.namespace,
        "base": names.base,
        "with_provenance": with_provenance,
    }
    log = folder / "reader.log"
    with log.open("wb") as errors, _reader(job, errors) as process:
        for message in _messages(process, shown):
            if "read" in message:
                progress("checking", min(int(message["read"]), size), size)
                if int(message["written"]) > _ROOM + _GROWTH * size:
                    raise _unreadable(shown, f"it grows to more than {_GROWTH} times its size")
            elif "done" in message:
                return Read(**message["done"])
            else:
                raise _error(message["error"], shown)
        raise _ended(process.wait(), log, shown)


@contextmanager
def _reader(job: dict[str, Any], errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    # -P: what lies in the current folder is not imported.
    command = [sys.executable, "-P", "-m", "cortex_graph.transfer.reader"]
    process = subprocess.Popen(  # noqa: S603 - our own module
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
    )
    try:
        with process:
            try:
                assert process.stdin is not None  # noqa: S101 - a pipe, see above
                process.stdin.write(json.dumps(job).encode() + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass  # it has ended; how is told by its code
            try:
                yield process
            finally:
                process.kill()
    finally:
        process.wait()


def _messages(process: subprocess.Popen[bytes], shown: str) -> Iterator[dict[str, Any]]:
    """What the reader says, until it ends; one that stalls is given up."""
    said: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        assert process.stdout is not None  # noqa: S101
        for line in process.stdout:
            said.put(line)
        said.put(b"")

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        before: dict[str, Any] = {}
        patience = STALLED_S
        while True:
            try:
                line = said.get(timeout=patience)
            except queue.Empty:
                raise _stalled(shown) from None
            if not line:
                return
            message = json.loads(line)
            if message == before:
                patience -= 0.2
                if patience <= 0:
                    raise _stalled(shown)
            else:
                before, patience = message, STALLED_S
            yield message
    finally:
        process.kill()
        listener.join()


def _stalled(shown: str) -> InvalidArguments:
    return _unreadable(shown, f"its reader made no progress for {STALLED_S:.0f} s")


def _error(told: dict[str, Any], shown: str) -> GraphError:
    if "message" in told:
        hint = told["hint"] or _HINT
        return InvalidArguments(told["message"], hint=hint, details=told["details"])
    if "problem" in told:
        details = {"field": "source"} | {part: told[part] for part in ("line", "column") if told.get(part)}
        return InvalidArguments(f"{shown} {told['problem']}", hint=_HINT, details=details)
    if told["errno"] in _FULL or "os error 28" in told["os"]:
        return full(told["os"])
    return _unreadable(shown, told["os"])


def full(problem: object) -> GraphUnavailable:
    """The error for a folder for temporary files that is full."""
    return GraphUnavailable(
        f"the folder for temporary files is full: {problem}",
        hint="make room, or name another folder in TMPDIR; nothing was changed",
    )


def _ended(code: int, log: Path, shown: str) -> GraphError:
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return _unreadable(shown, f"its reader was ended by {name}: the file is made to break it, or changed meanwhile")
    last = log.read_text(errors="replace").strip().splitlines()[-1:]
    if any("MemoryError" in line for line in last):
        return _unreadable(shown, "it needs more memory than the reader of a file may have")
    return GraphUnavailable(f"the reader of {shown} failed: {' '.join(last) or f'exit {code}'}", hint="try again")


def _unreadable(shown: str, problem: str) -> InvalidArguments:
    return InvalidArguments(
        f"`source` {shown} cannot be read and checked: {problem}", hint=_HINT, details={"field": "source"}
    )
