"""Reads a file in another process, and turns its failures into errors.

Rules kept here:
- a file is parsed in another process (`read_worker.py`). A file that crashes it, fills its memory, stops it or grows
  without end is refused like any other broken file; this process continues;
- the other process ends with this call, also when the call fails;
- only a regular file is opened: reading a named pipe would wait for a writer, and a device may have no end.
"""

from __future__ import annotations

import errno
import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any

from cortex_graph.exceptions import (
    GraphError,
    GraphUnavailable,
    InvalidArguments,
    RelativeIri,
    RemoteContext,
    invalid,
)
from cortex_graph.naming.names import Names
from cortex_graph.transfer.progress import Progress
from cortex_graph.workers.processes import WorkerProcess

STALLED_S = 60.0  # without progress
MAX_MEMORY = 4 << 30
_GROWTH = 200  # a prefix of a Turtle file may be long, and used often
_ROOM = 1 << 30
_HINT = "nothing was imported; correct the file and import it again"
_PARTS = "nothing was imported; import it in parts, as N-Triples if it is in another format"
_READABLE = "nothing was imported; check that the file exists and that this user may read it"
_NOT_REGULAR = "nothing was imported; pass a file or a stream, on the command line - with --format for standard input"
_REFERENCES = {kind.code: kind for kind in (RelativeIri, RemoteContext)}
_ABOUT = "`source` "  # how the messages of `invalid` begin, which name no file
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True)
class FileContent:
    """Counts of what a file contains.

    Attributes:
        statements: its triples.
        records: its provenance records.
        ignored: the statements of graphs that are not imported.
        members: the members of JSON-LD that have no meaning in their context, with the number of their values.
        prefixes: that it declares, and the starts of the IRIs that they stand for.

    """

    statements: int
    records: int
    ignored: int
    members: dict[str, int]
    prefixes: dict[str, str]


def read_file(
    file: Path,
    form: str,
    names: Names,
    folder: Path,
    *,
    shown: str,
    guessed: bool,
    base_iri: str | None,
    with_provenance: bool,
    progress: Progress,
) -> FileContent:
    """Check a file and write its content into a folder; `read_worker.py` defines the files."""
    try:
        status = file.stat()
    except OSError as error:
        raise _unreadable(shown, str(error), _READABLE) from error
    if not S_ISREG(status.st_mode):
        raise invalid("source", f"{shown} is not a regular file", hint=_NOT_REGULAR)
    size = status.st_size
    job = {
        "file": str(file.absolute()),
        "format": form,
        "guessed": guessed,
        "most": _ROOM + _GROWTH * size,
        "base_iri": base_iri,
        "folder": str(folder),
        "namespace": names.namespace,
        "base": names.base,
        "with_provenance": with_provenance,
    }
    log = folder / "reader.log"
    with log.open("wb") as errors, _reader(errors) as process:
        process.kill_at(time.monotonic() + STALLED_S)
        with suppress(BrokenPipeError):  # it has ended; its status states why
            process.send(b"J", json.dumps(job).encode())
        last: dict[str, Any] = {}
        while True:
            try:
                kind, content = process.receive()
            except EOFError:
                raise _stalled(shown) if process.timed_out else _ended(process.wait(), log, shown) from None
            message = json.loads(content)
            if kind == b"D":
                return FileContent(**message)
            if kind == b"E":
                raise _error(message, shown)
            if message != last:
                process.kill_at(time.monotonic() + STALLED_S)
                last = message
            progress("checking", min(int(message["read"]), size), size)
            if int(message["written"]) > _ROOM + _GROWTH * size:
                raise _unreadable(shown, f"it grows to more than {_GROWTH} times its size", _PARTS)


@contextmanager
def _reader(errors: IO[bytes]) -> Iterator[WorkerProcess]:
    process = WorkerProcess("cortex_graph.transfer.read_worker", MAX_MEMORY, stderr=errors)
    try:
        yield process
    finally:
        process.close()


def _stalled(shown: str) -> InvalidArguments:
    return _unreadable(shown, f"its reader made no progress for {STALLED_S:.0f} s", _PARTS)


def _error(error: dict[str, Any], shown: str) -> GraphError:
    if (known := _REFERENCES.get(error.get("code", ""))) is not None:
        return known(f"{shown} {error['message']}", hint=error["hint"], details=error["details"])
    if "message" in error:
        message, hint = error["message"], error["hint"] or _HINT
        if message.startswith(_ABOUT):
            message = f"{shown} {message.removeprefix(_ABOUT)}"
        return InvalidArguments(message, hint=hint, details=error["details"])
    if "problem" in error:
        details = {"field": "source"} | {part: error[part] for part in ("line", "column") if error.get(part)}
        return InvalidArguments(f"{shown} {error['problem']}", hint=error.get("hint") or _HINT, details=details)
    if error["errno"] in _FULL or "os error 28" in error["os"]:
        return full(error["os"])
    return _unreadable(shown, error["os"], _READABLE)


def full(problem: object) -> GraphUnavailable:
    """Return the error for a full folder for temporary files."""
    return GraphUnavailable(
        f"the folder for temporary files is full: {problem}",
        hint="free some space, or name another folder in TMPDIR; nothing was changed",
    )


def _ended(code: int, log: Path, shown: str) -> GraphError:
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        causes = "it needs more memory than there is, is made to break its reader, or was changed meanwhile"
        return _unreadable(shown, f"its reader was ended by {name}: {causes}", _PARTS)
    last = log.read_text(errors="replace").strip().splitlines()[-1:]
    if any("MemoryError" in line for line in last):
        return _unreadable(shown, "it needs more memory than the reader of a file may have", _PARTS)
    return GraphUnavailable(f"the reader of {shown} failed: {' '.join(last) or f'exit {code}'}", hint="try again")


def _unreadable(shown: str, problem: str, hint: str) -> InvalidArguments:
    return InvalidArguments(
        f"`source` {shown} cannot be read and checked: {problem}", hint=hint, details={"field": "source"}
    )
