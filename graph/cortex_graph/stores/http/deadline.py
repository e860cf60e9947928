"""A deadline for a whole HTTP exchange.

Rules kept here:
- httpx gives each read a time limit, so a server that sends one byte a second could block a caller for any time. Here
  each read and each write gets the remaining time of the exchange;
- a deadline applies to the thread that waits;
- cancelling an exchange closes its connection, at any stage.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore
import httpx

from cortex_graph.cancellation import Cancellation, interruptible

_PIECE = 1 << 16  # of a write with one time limit
_waiting = threading.local()


class Deadline:
    """The time until which an exchange may last.

    Args:
        seconds: the time until then.
        cancel: cancels the call.
    """

    def __init__(self, seconds: float, cancel: Cancellation | None = None) -> None:
        self.seconds = seconds
        self.was_stopped = False
        self._at = time.monotonic() + seconds
        self._cancel = cancel
        self._stream: httpcore.NetworkStream | None = None

    def left(self) -> float:
        """Return the remaining seconds; 0.0 after the deadline."""
        return max(0.0, self._at - time.monotonic())

    @contextmanager
    def holds(self) -> Iterator[None]:
        """Apply the deadline to all waits of this thread in a block."""
        before = getattr(_waiting, "deadline", None)
        _waiting.deadline = self
        self._stream = None
        try:
            with interruptible(self._cancel, self._cut):
                yield
        finally:
            _waiting.deadline = before

    def waits_on(self, stream: httpcore.NetworkStream | None) -> None:
        """Set the stream that is closed when the call is cancelled."""
        self._stream = stream

    def _cut(self) -> None:
        self.was_stopped = True
        self._at = 0.0
        connection = self._stream.get_extra_info("socket") if self._stream else None
        if connection is not None:
            with suppress(OSError):
                # Not the method of a TLS socket, which would wait for the other side.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _left(timeout: float | None, over: type[Exception], stream: httpcore.NetworkStream | None = None) -> float | None:
    deadline: Deadline | None = getattr(_waiting, "deadline", None)
    if deadline is None:
        return timeout
    deadline.waits_on(stream)
    left = deadline.left()
    if not left:
        raise over("the deadline has passed")
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
    def __init__(self, address_of: Callable[[str, int], str] | None) -> None:
        self._address_of = address_of

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        if self._address_of is not None:
            host = self._address_of(host, port)
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(super().connect_tcp(host, port, left, local_address, socket_options))


class DeadlineTransport(httpx.HTTPTransport):
    """The connections of a client, with deadlines. No proxy, no redirect, no HTTP/2.

    Args:
        connections: how many at most.
        address_of: returns the IP address to connect to, of a host and a port; TLS still checks the host's name.
    """

    def __init__(self, connections: int, address_of: Callable[[str, int], str] | None = None) -> None:
        # httpx has no argument for the network backend, so the pool is made here. The TLS settings are those of
        # httpcore.
        self._pool = httpcore.ConnectionPool(
            max_connections=connections, keepalive_expiry=5.0, network_backend=_Backend(address_of)
        )
