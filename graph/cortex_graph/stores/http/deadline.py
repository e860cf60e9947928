"""A time that holds for a whole exchange over HTTP, whatever the server does.

Rules kept here:
- httpx gives each read its time, so a server that sends one byte a second keeps a caller for as long as it likes. Here
  each read and each write gets what is left of the whole;
- the deadline is that of the thread that is waiting;
- an exchange that is stopped has its connection cut, whatever it waits for there.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore
import httpx

from cortex_graph.stopping import Stop, waiting

_PIECE = 1 << 16  # of what is written under one time
_waiting = threading.local()


class Deadline:
    """A moment after which nothing is waited for.

    Args:
        seconds: until then.
        stop: ends the waiting before.

    """

    def __init__(self, seconds: float, stop: Stop | None = None) -> None:
        self.seconds = seconds
        self.was_stopped = False
        self._at = time.monotonic() + seconds
        self._stop = stop
        self._stream: httpcore.NetworkStream | None = None

    def left(self) -> float:
        """Seconds until then; 0.0 when it is over."""
        return max(0.0, self._at - time.monotonic())

    @contextmanager
    def holds(self) -> Iterator[None]:
        """What this thread waits for in here ends by then."""
        before = getattr(_waiting, "deadline", None)
        _waiting.deadline = self
        self._stream = None
        try:
            with waiting(self._stop, self._cut):
                yield
        finally:
            _waiting.deadline = before

    def waits_on(self, stream: httpcore.NetworkStream | None) -> None:
        """Know what to cut."""
        self._stream = stream

    def _cut(self) -> None:
        self.was_stopped = True
        self._at = 0.0
        connection = self._stream.get_extra_info("socket") if self._stream else None
        if connection is not None:
            with suppress(OSError):
                # Not that of TLS: its own would wait for the other side.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _left(timeout: float | None, over: type[Exception], stream: httpcore.NetworkStream | None = None) -> float | None:
    deadline: Deadline | None = getattr(_waiting, "deadline", None)
    if deadline is None:
        return timeout
    deadline.waits_on(stream)
    left = deadline.left()
    if not left:
        raise over("the time is over")
    return left if timeout is None else min(left, timeout)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore.ReadTimeout, self._stream))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            self._stream.write(buffer[start : start + _PIECE], _left(timeout, httpcore.WriteTimeout, self._stream))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout, httpcore.ConnectTimeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(super().connect_tcp(host, port, left, local_address, socket_options))


class DeadlineTransport(httpx.HTTPTransport):
    """The connections of a client, on which deadlines hold. No proxy, no redirect, no HTTP/2.

    Args:
        connections: how many there may be at once.

    """

    def __init__(self, connections: int) -> None:
        # httpx has no argument for the network; the pool is made as it makes it. Its TLS settings are httpcore's own.
        self._pool = httpcore.ConnectionPool(
            max_connections=connections, keepalive_expiry=5.0, network_backend=_Backend()
        )
