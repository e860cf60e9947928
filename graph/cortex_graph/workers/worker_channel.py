"""The worker's end of the pipes of `cortex_graph.workers.processes`.

Rules kept here:
- frames both ways: a kind (1 byte), a length (4 bytes, big endian), the content;
- the memory of the process is bounded before the first message; when the machine runs out of memory, the kernel ends
  this process first;
- the process ends when its parent ends: standard input is closed then.
"""

from __future__ import annotations

import contextlib
import os
import queue
import struct
import sys
import threading

FRAME = struct.Struct(">cI")
_CHUNK_BYTES = 1 << 20


class WorkerChannel:
    """The connection to the parent; made once, at the start of `main()`. Standard output is discarded from then on."""

    def __init__(self) -> None:
        memory_bytes, self.parent_pid = (int(argument) for argument in sys.argv[1:3])
        self._output = os.dup(1)
        os.dup2(2, 1)
        self._requests: queue.SimpleQueue[tuple[bytes, bytes]] | None = None
        self._held = b""
        bound_memory(memory_bytes)

    def hold(self, kind: bytes, content: bytes = b"") -> None:
        """Send a short frame together with the next one."""
        self._held += FRAME.pack(kind, len(content)) + content

    def send(self, kind: bytes, content: bytes = b"") -> None:
        """Send a frame."""
        left = memoryview(self._held + FRAME.pack(kind, len(content)) + content)
        self._held = b""
        while left:
            left = left[os.write(self._output, left) :]

    def receive(self) -> tuple[bytes, bytes]:
        """Return the kind and the content of the next frame. The process ends when there is none."""
        return self._read_frame() if self._requests is None else self._requests.get()

    def watch_parent(self) -> None:
        """Start a thread that ends the process with its parent even while a request is processed."""
        self._requests = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(self._requests,), name="cortex-requests", daemon=True).start()

    def _listen(self, requests: queue.SimpleQueue[tuple[bytes, bytes]]) -> None:
        while True:
            requests.put(self._read_frame())

    def _read_frame(self) -> tuple[bytes, bytes]:
        kind, length = FRAME.unpack(self._read(FRAME.size))
        return kind, self._read(length)

    def _read(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            if self._requests is not None:
                self._wait_for_input()
            piece = os.read(0, min(_CHUNK_BYTES, length - len(data)))
            if not piece:
                os._exit(0)
            data += piece
        return bytes(data)

    def _wait_for_input(self) -> None:
        """Wait for input; a child that the parent forked can keep the pipe open after the end of the parent."""
        if sys.platform == "win32":
            return
        import select

        poller = select.poll()
        poller.register(0, select.POLLIN | select.POLLHUP)
        while not poller.poll(1000):
            if os.getppid() != self.parent_pid:
                os._exit(0)


def bound_memory(size: int) -> None:
    """Bound the memory of this process, in bytes; the kernel ends it first when the machine runs out of memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("1000")
