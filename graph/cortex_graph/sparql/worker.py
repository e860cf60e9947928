"""The process that evaluates queries, so that a query can be killed. Run as a program; imports nothing of ours.

Rules kept here:
- it reads a snapshot, never a store that somebody writes to;
- it can open no socket, where the kernel can see to that (Linux), and it inherits no environment;
- its memory and its processor time are bounded; when the machine runs out of memory, it is the first to go;
- it ends when its parent does: standard input ends then;
- the answer goes out as it is made, in frames: a kind (1 byte), a length (4 bytes, big endian), the content. `H` is the
  header (JSON: whether it is a graph), `D` a piece of the answer, `F` its end, `E` an error (JSON).
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import struct
import sys
import threading
from typing import IO, Any, cast

from pyoxigraph import NamedNode, QueryResultsFormat, QueryTriples, RdfFormat, Store

FRAME = struct.Struct(">cI")
LENGTH = struct.Struct(">I")
PIECE = 1 << 16
NOTHING = NamedNode("urn:cortex-graph:nothing")  # an empty list would mean the store's own default graph

_RESULTS = {
    form.media_type: form
    for form in (QueryResultsFormat.JSON, QueryResultsFormat.XML, QueryResultsFormat.CSV, QueryResultsFormat.TSV)
}
# `prctl(PR_SET_NO_NEW_PRIVS)`, `prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER)`: machine → (AUDIT_ARCH, number of `socket`)
_SOCKET = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}


class Output:
    """Takes the bytes of an answer and sends them as frames."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = bytearray()

    def write(self, data: bytes) -> int:
        """Take some bytes of an answer."""
        self._pending += data
        if len(self._pending) >= PIECE:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Send what was taken."""
        if self._pending:
            self.send(b"D", bytes(self._pending))
            self._pending.clear()

    def send(self, kind: bytes, content: bytes = b"") -> None:
        """Send a frame."""
        rest = memoryview(FRAME.pack(kind, len(content)) + content)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


class Snapshots:
    """The snapshot that was read last, open."""

    def __init__(self) -> None:
        self._path = ""
        self._store: Store | None = None

    def open(self, path: str) -> Store:
        """A snapshot: a folder of RocksDB, or a file of N-Quads that is read into memory."""
        if self._store is None or path != self._path:
            self._store = None
            if os.path.isdir(path):  # noqa: PTH112 - pathlib takes as long to import as a query
                self._store = Store.read_only(path)
            else:
                store = Store()
                store.bulk_load(path=path, format=RdfFormat.N_QUADS, lenient=True)
                self._store = store
            self._path = path
        return self._store


def answer(request: dict[str, Any], snapshots: Snapshots, output: Output) -> None:
    """Evaluate one query and send what it answers."""
    bound_time(request["timeout"])
    try:
        store = snapshots.open(request["snapshot"])
        found = store.query(
            request["text"],
            default_graph=[NamedNode(graph) for graph in request["default"]] or [NOTHING],
            named_graphs=[NamedNode(graph) for graph in request["named"]],
        )
        is_graph = isinstance(found, QueryTriples)
        output.send(b"H", json.dumps({"graph": is_graph}).encode())
        if is_graph:
            form: Any = RdfFormat.from_media_type(request["graphs"])
        else:
            form = _RESULTS[request["results"]]
        found.serialize(cast("IO[bytes]", output), form)
        output.flush()
        output.send(b"F")
    except (SyntaxError, RuntimeError, ValueError, OSError, MemoryError) as error:
        output.send(b"E", json.dumps({"kind": type(error).__name__, "message": str(error)}).encode())


def bound_time(seconds: float) -> None:
    """End the process when it has worked for longer, whatever its parent does."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        bound = int(used.ru_utime + used.ru_stime + seconds * (os.cpu_count() or 1)) + 5
        resource.setrlimit(resource.RLIMIT_CPU, (bound, resource.RLIM_INFINITY))


def bound_memory(size: int) -> None:
    """Refuse the process more memory than this, and offer it to the kernel first when there is none left."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("1000")


def deny_sockets() -> bool:
    """Have the kernel refuse every socket to this process; say whether it does."""
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

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    filter_ = Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return bool(prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.byref(filter_), 0, 0) == 0)


def listen(requests: queue.SimpleQueue[dict[str, Any]], parent: int) -> None:
    """Pass requests on; end the process when standard input ends or the parent is gone."""
    wait = None
    if sys.platform != "win32":
        import select

        poller = select.poll()
        poller.register(0, select.POLLIN | select.POLLHUP)
        wait = poller.poll

    def take(length: int) -> bytes:
        data = b""
        while len(data) < length:
            # A parent that forked has left its end of the pipe to a child, which keeps it open.
            while wait is not None and not wait(1000):
                if os.getppid() != parent:
                    os._exit(0)
            piece = os.read(0, length - len(data))
            if not piece:
                os._exit(0)
            data += piece
        return data

    while True:
        (length,) = LENGTH.unpack(take(LENGTH.size))
        requests.put(json.loads(take(length)))


def main() -> None:
    """Answer queries until standard input ends: `worker.py MEMORY PARENT`."""
    memory, parent = int(sys.argv[1]), int(sys.argv[2])
    deny_sockets()
    bound_memory(memory)
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(requests, parent), daemon=True).start()
    output, snapshots = Output(1), Snapshots()
    with contextlib.suppress(BrokenPipeError):
        while True:
            answer(requests.get(), snapshots, output)


if __name__ == "__main__":
    main()
