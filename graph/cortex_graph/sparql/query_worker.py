"""The process that evaluates queries, so that a query can be killed; see `cortex_graph.workers.processes`.

Rules kept here:
- it reads a snapshot, never a store that another process writes to. Changes that a query must see and the snapshot
  does not have are made in a copy of the snapshot that only this process uses, beside it: the files of data are shared;
- it cannot open a socket (on Linux), and it inherits no environment;
- its memory and its processor time are bounded;
- the answer is sent while it is made, in frames: `H` is the header (JSON: whether it is a graph), `D` a piece of the
  answer, `F` its end, `E` an error (JSON).
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from typing import IO, Any, cast

from pyoxigraph import NamedNode, QueryResultsFormat, QueryTriples, RdfFormat, Store

from cortex_graph.workers.worker_channel import WorkerChannel

PIECE = 1 << 16
_EXACT = "urn:cortex-graph:exact/"  # `exact_numbers.FUNCTIONS`, which is not imported for most queries
_MAX_PIECE = 1 << 24
OF_PROCESS = ".of-"  # and the id of this process, behind the name of a snapshot: what it made of it
NOTHING = NamedNode("urn:cortex-graph:nothing")  # an empty list would mean the store's own default graph

_RESULTS = {
    form.media_type: form
    for form in (QueryResultsFormat.JSON, QueryResultsFormat.XML, QueryResultsFormat.CSV, QueryResultsFormat.TSV)
}
# `prctl(PR_SET_NO_NEW_PRIVS)`, `prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER)`: machine → (AUDIT_ARCH, number of `socket`)
_SOCKET = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}


class AnswerOutput:
    """A file that sends the bytes of an answer as frames."""

    def __init__(self, channel: WorkerChannel) -> None:
        self._channel = channel
        self._pending = bytearray()

    def write(self, data: bytes) -> int:
        """Add bytes to the answer; they are sent in pieces."""
        self._pending += data
        if len(self._pending) >= PIECE:
            self._send()
        return len(data)

    def flush(self) -> None:
        """Do nothing: the engine calls this at the end, which is sent with the rest (`end`)."""

    def end(self) -> None:
        """Send the rest, and the end of the answer."""
        if self._pending:
            self._channel.hold(b"D", bytes(self._pending))
        self._channel.send(b"F")

    def _send(self) -> None:
        for start in range(0, len(self._pending), _MAX_PIECE):
            self._channel.send(b"D", bytes(self._pending[start : start + _MAX_PIECE]))
        self._pending.clear()


class OpenSnapshot:
    """The snapshot of the last query, kept open for the next one, with the changes that were made in it."""

    def __init__(self) -> None:
        self._path = ""
        self._own = ""
        self._store: Store | None = None

    def open(self, path: str, changes: list[tuple[str, str]]) -> Store:
        """Return a snapshot, a folder of RocksDB or a file of N-Quads that is read into memory, with changes."""
        if path != self._path:
            self._close()
            self._path = path
        if changes and not self._own and os.path.isdir(path):  # noqa: PTH112 - pathlib takes as long as a query
            self._store, own = None, f"{path}{OF_PROCESS}{os.getpid()}"
            remove_abandoned(os.path.dirname(path))  # noqa: PTH120
            copy_folder(path, own)
            self._own = own
        if self._store is None:
            self._store = self._opened(path)
        store, self._store = self._store, None  # a copy with a part of the changes is not used again
        for kind, change in changes:
            if kind == "insert":
                store.load(change, RdfFormat.N_QUADS, lenient=True)
            else:
                store.update(change)
        self._store = store
        return store

    def _opened(self, path: str) -> Store:
        if self._own:
            return Store(self._own)
        if os.path.isdir(path):  # noqa: PTH112
            return Store.read_only(path)
        store = Store()
        store.bulk_load(path=path, format=RdfFormat.N_QUADS, lenient=True)
        return store

    def _close(self) -> None:
        self._store = None
        if self._own:
            import shutil

            shutil.rmtree(self._own, ignore_errors=True)
            self._own = ""


def remove_abandoned(folder: str) -> None:
    """Remove what processes that have ended made of the snapshots in a folder."""
    import shutil

    for entry in os.listdir(folder):  # noqa: PTH208
        snapshot, _, pid = entry.rpartition(OF_PROCESS)
        if snapshot and pid.isdecimal() and not _is_alive(int(pid)):
            shutil.rmtree(os.path.join(folder, entry), ignore_errors=True)  # noqa: PTH118


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return pid != os.getpid()


def copy_folder(path: str, target: str) -> None:
    """Copy the folder of a store to which no process writes; its files of data are shared, since none changes."""
    import shutil

    os.mkdir(target, 0o700)  # noqa: PTH102
    for entry in os.scandir(path):
        copied = os.path.join(target, entry.name)  # noqa: PTH118
        with contextlib.suppress(OSError):  # a file system without links
            if entry.name.endswith(".sst"):
                os.link(entry.path, copied)
                continue
        if entry.is_file(follow_symlinks=False):
            shutil.copyfile(entry.path, copied)


def answer(request: dict[str, Any], snapshot: OpenSnapshot, channel: WorkerChannel) -> None:
    """Evaluate one query and send its answer."""
    output = AnswerOutput(channel)
    bound_time(request["timeout"])
    try:
        store = snapshot.open(request["snapshot"], request["changes"])
        found = evaluated(store, request)
        is_graph = isinstance(found, QueryTriples)
        channel.hold(b"H", json.dumps({"graph": is_graph}).encode())
        if is_graph:
            form: Any = RdfFormat.from_media_type(request["graphs"])
        else:
            form = _RESULTS[request["results"]]
        found.serialize(cast("IO[bytes]", output), form)
        output.end()
    except (SyntaxError, RuntimeError, ValueError, OSError, MemoryError) as error:
        channel.send(b"E", json.dumps({"kind": type(error).__name__, "message": str(error)}).encode())


def evaluated(store: Store, request: dict[str, Any]) -> Any:
    """Return the result of a query; of the rewritten query where the engine would answer wrongly (`careful.py`)."""
    if request["named"] is None:  # a question of the store itself, about all graphs
        return store.query(request["text"])
    dataset: dict[str, Any] = {
        "default_graph": [NamedNode(graph) for graph in request["default"]] or [NOTHING],
        "named_graphs": [NamedNode(graph) for graph in request["named"]],
    }
    careful = request["careful"]
    if careful is not None and (
        careful["is_needed"] or not all(store.query(probe, **dataset) for probe in careful["probes"])
    ):
        with contextlib.suppress(SyntaxError):  # the original text has the position of the error
            Store().query(careful["checked"])
            return store.query(careful["text"], **dataset, **_functions(careful))
    return store.query(request["text"], **dataset)


def _functions(careful: dict[str, Any]) -> dict[str, Any]:
    if _EXACT not in careful["text"]:
        return {}
    from cortex_graph.sparql.exact_numbers import aggregates, functions

    return {
        "custom_functions": functions(careful["programs"]),
        "custom_aggregate_functions": aggregates(),
    }


def bound_time(seconds: float) -> None:
    """End the process when it has worked for longer, even if the parent does not kill it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        bound = int(used.ru_utime + used.ru_stime + seconds * (os.cpu_count() or 1)) + 5
        resource.setrlimit(resource.RLIMIT_CPU, (bound, resource.RLIM_INFINITY))


def deny_sockets() -> bool:
    """Refuse every socket to this process in the kernel; returns whether that is possible."""
    machine = _SOCKET.get(os.uname().machine) if sys.platform == "linux" else None
    if machine is None or sys.maxsize < 2**32:
        return False
    import ctypes

    arch, socket = machine

    def step(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("=HBBI", code, yes, no, value)

    program = (
        step(0x20, 0, 0, 4)  # load the architecture
        + step(0x15, 0, 3, arch)  # another one: refuse (x86-64 can make calls of i386)
        + step(0x20, 0, 0, 0)  # load the number of the call
        + step(0x35, 1, 0, 0x40000000)  # x32: refuse
        + step(0x15, 0, 1, socket)  # `socket`: refuse
        + step(0x06, 0, 0, 0x00050000 | 1)  # EPERM
        + step(0x06, 0, 0, 0x7FFF0000)  # allow
    )
    buffer = ctypes.create_string_buffer(program, len(program))

    class SocketFilter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    filter_ = SocketFilter(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return bool(prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.byref(filter_), 0, 0) == 0)


def main() -> None:
    """Answer queries until the parent ends."""
    channel = WorkerChannel()
    deny_sockets()
    channel.watch_parent()
    snapshot = OpenSnapshot()
    with contextlib.suppress(BrokenPipeError):
        while True:
            answer(json.loads(channel.receive()[1]), snapshot, channel)
