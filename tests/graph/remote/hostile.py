"""A server on loopback that sends the raw bytes of a test."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

TRUE = b'{"head":{},"boolean":true}'
JSON = "application/sparql-results+json"

Answer = Callable[[socket.socket, bytes], None]


def response(
    status: int = 200, body: bytes = TRUE, kind: str = JSON, length: int | None = None, extra: str = ""
) -> bytes:
    """A whole response; `length` is its Content-Length."""
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body) if length is None else length}\r\n"
    )
    return f"{head}{extra}Connection: close\r\n\r\n".encode() + body


def says(*answers: bytes) -> Answer:
    """Answers these in turn, the last one for ever."""
    rest = list(answers)

    def answer(connection: socket.socket, request: bytes) -> None:
        connection.sendall(rest.pop(0) if len(rest) > 1 else rest[0])

    return answer


class Hostile:
    """What the server was asked, and how it answers.

    Args:
        answer: writes to a connection; may wait for `over`.

    """

    def __init__(self, answer: Answer) -> None:
        self.requests: list[bytes] = []
        self.over = threading.Event()
        self.answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def close(self) -> None:
        self.over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._talk, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(60)
            request = b""
            while b"\r\n\r\n" not in request:
                if not (piece := connection.recv(65536)):
                    return
                request += piece
            head, _, body = request.partition(b"\r\n\r\n")
            length = int(
                next((line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
            )
            while len(body) < length:
                body += connection.recv(65536)
            self.requests.append(head + b"\r\n\r\n" + body)
            self.answer(connection, self.requests[-1])


@contextmanager
def hostile(answer: Answer) -> Iterator[Hostile]:
    """A server until the end of the block."""
    server = Hostile(answer)
    try:
        yield server
    finally:
        server.close()
