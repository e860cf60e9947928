"""A proxy in front of a server that drops the answers to some requests, after the server has executed them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

from tests.graph.remote.hostile import hostile


class Dropping:
    """The proxy.

    Attributes:
        url: its address.
        drop: how many answers to changes it drops from now on.
        asked: the path of each request that it passed on.
    """

    def __init__(self, target: str) -> None:
        self.url = ""
        self.drop = 0
        self.asked: list[str] = []
        self._target = target
        self._turn = threading.Lock()
        self.on_drop: Callable[[], None] = lambda: None

    def answer(self, connection: socket.socket, request: bytes) -> None:
        """Pass a request on, and its answer back, unless it is dropped."""
        head, _, body = request.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = dict(line.split(": ", 1) for line in lines)
        with self._turn:
            self.asked.append(path)
        try:
            reply = httpx.request(
                method, self._target + path, headers=headers, content=body, trust_env=False, timeout=60
            )
        except httpx.TransportError:  # the server is dead, and the connection is closed
            return
        with self._turn:
            is_dropped = path == "/update" and self.drop > 0
            self.drop -= is_dropped
        if is_dropped:
            self.on_drop()
            return
        kept = {name: value for name, value in reply.headers.items() if name in ("content-type", "server")}
        lines = [f"{name}: {value}" for name, value in kept.items()]
        start = "\r\n".join([f"HTTP/1.1 {reply.status_code} X", *lines, f"Content-Length: {len(reply.content)}"])
        connection.sendall(f"{start}\r\nConnection: close\r\n\r\n".encode() + reply.content)


@contextmanager
def dropping(target: str) -> Iterator[Dropping]:
    """A proxy of a server until the end of the block."""
    proxy = Dropping(target)
    with hostile(proxy.answer) as server:
        proxy.url = server.url
        yield proxy
