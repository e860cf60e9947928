"""Messages over a socket between two processes of one user.

Rules kept here:
- a message is a header (JSON) and a body (bytes), with a bounded length that is sent first. Nothing is unpickled;
- a message that was begun must be complete within `FRAME_S`, in both directions. On the side of a client no step waits
  longer than `SILENCE_S`, and one that waits longer than `NOTICE_S` is reported;
- both sides prove that they know the token of the owner's record before any other message (HMAC-SHA-256 over the
  nonces of both sides, RFC 2104); the token itself is never sent;
- an empty message is a keepalive, which the receiver skips;
- `multiprocessing.connection` does not fit: its `send_bytes` and `recv_bytes` have no deadline within a message, and
  another thread cannot end them.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import orjson

from cortex_graph.exceptions import InvalidArguments
from cortex_graph.stores.shared import protocol_limits

PROTOCOL = 1
_PREFIX = struct.Struct(">II")  # of header and body together, of the header
_KEEPALIVE = _PREFIX.pack(0, 0)
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_READ_BYTES = 64 << 10
_LARGE_READ_BYTES = 1 << 20
_NO_LIMIT = float("inf")

Given = TypeVar("Given")
Result = TypeVar("Result")


class ConnectionLost(Exception):
    """The other side has ended."""


class PeerSilent(Exception):
    """The other side sends nothing, or does not receive, within the time limit."""


class ProtocolViolation(Exception):
    """The other side violates the protocol, or does not know the token."""


class Message(NamedTuple):
    """A header and a body."""

    header: dict[str, Any]
    body: bytes


class Channel:
    """One connection. One thread at a time uses it, except for `send_keepalive` and `cut`.

    Args:
        connected: the socket.
        on_wait: on the side of a client, called when the other side has not answered for `NOTICE_S`.
    """

    def __init__(self, connected: socket.socket, on_wait: Callable[[], None] | None = None) -> None:
        self._socket = connected
        self._on_wait = on_wait
        self._sending = threading.Lock()
        self._received = bytearray()
        if connected.family != getattr(socket, "AF_UNIX", None):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        """Send a message.

        Raises:
            InvalidArguments: it is too long, or not serialisable as JSON; nothing was sent.
            PeerSilent: the other side does not receive it.
            ConnectionLost: the other side has ended.
        """
        try:
            head = orjson.dumps(header)
        except TypeError as error:  # lone surrogates in a text, numbers beyond 64 bits
            raise InvalidArguments(f"an argument cannot be sent to another process: {error}") from error
        length = len(head) + len(body)
        if length > protocol_limits.FRAME_BYTES:
            raise InvalidArguments(
                f"{length >> 20} MiB are too long for one message between processes",
                hint=f"write it in parts of less than {protocol_limits.FRAME_BYTES >> 20} MiB, each literal included",
            )
        try:
            with self._sending:
                rest = memoryview(b"".join((_PREFIX.pack(length, len(head)), head, body)))
                until = time.monotonic() + protocol_limits.FRAME_S
                while rest:
                    rest = rest[self._step(self._socket.send, rest, until) :]
        except TimeoutError as error:
            raise PeerSilent from error
        except OSError as error:
            raise ConnectionLost from error

    def receive(self, timeout_s: float | None = None, *, most: int | None = None) -> Message:
        """Receive the next message.

        Args:
            timeout_s: the time to wait for a message or a keepalive, in seconds; None for no limit.
            most: its maximum size in bytes; None for `FRAME_BYTES`.

        Raises:
            PeerSilent: nothing arrived in time.
            ConnectionLost: the other side has ended.
            ProtocolViolation: the message is malformed.
        """
        while True:
            started = None if timeout_s is None else time.monotonic() + timeout_s
            self._fill(_PREFIX.size, started)
            length, head = _PREFIX.unpack_from(self._received)
            if length > (protocol_limits.FRAME_BYTES if most is None else most) or head > length:
                raise ProtocolViolation(f"a message of {length} bytes, {head} of them its header")
            end = _PREFIX.size + length
            self._fill(end, time.monotonic() + protocol_limits.FRAME_S)
            taken = bytes(memoryview(self._received)[_PREFIX.size : end])
            del self._received[:end]
            if length:
                return Message(_header(taken[:head]), taken[head:])

    def send_keepalive(self) -> None:
        """Send a keepalive if the other side can receive it now."""
        if not self._sending.acquire(blocking=False):
            return
        try:
            # The time limit of the socket belongs to the thread that uses it.
            ready = select.select([], [self._socket], [], 0)[1]
            if ready and self._socket.send(_KEEPALIVE, _AT_ONCE) != len(_KEEPALIVE):
                self.cut()
        except (OSError, ValueError):
            pass  # the thread that processes the request gets the error
        finally:
            self._sending.release()

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""
        return self._socket.fileno()

    def is_quiet(self) -> bool:
        """Return whether the other side is connected and has sent nothing."""
        try:
            return not self._received and not select.select([self._socket], [], [], 0)[0]
        except (OSError, ValueError):
            return False

    def cut(self) -> None:
        """End the connection for both sides, from any thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def end_input(self) -> None:
        """Receive nothing that was not sent yet, from any thread; the other side can be answered."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        """Close the socket; in a forked child the connection of the parent stays open."""
        self._socket.close()

    def _fill(self, size: int, until: float | None) -> None:
        while (missing := size - len(self._received)) > 0:
            most = _LARGE_READ_BYTES if missing > _READ_BYTES else _READ_BYTES
            try:
                data = self._step(self._socket.recv, most, until)
            except TimeoutError as error:
                raise PeerSilent from error
            except OSError as error:
                raise ConnectionLost from error
            if not data:
                raise ConnectionLost
            self._received += data

    def _step(self, do: Callable[[Given], Result], given: Given, until: float | None) -> Result:
        """Send or receive once, until a moment at the latest; raises `TimeoutError` then."""
        now = time.monotonic()
        left = _NO_LIMIT if until is None else until - now
        if left <= 0:
            raise TimeoutError
        if self._on_wait is None:
            self._socket.settimeout(None if until is None else left)
            return do(given)
        left = min(left, protocol_limits.SILENCE_S)
        try:
            self._socket.settimeout(min(left, protocol_limits.NOTICE_S))
            return do(given)
        except TimeoutError:
            if left <= protocol_limits.NOTICE_S:
                raise
        self._on_wait()
        self._socket.settimeout(left - protocol_limits.NOTICE_S)
        return do(given)


def greet_client(channel: Channel, token: bytes) -> None:
    """Authenticate both sides, on the side of the owner.

    Raises:
        ProtocolViolation: the client does not know the token.
        PeerSilent: it took too long.
        ConnectionLost: the client has ended.
    """
    owner_nonce = secrets.token_hex(16)
    channel.send({"cortex-graph": PROTOCOL, "nonce": owner_nonce})
    header = channel.receive(protocol_limits.GREETING_S, most=protocol_limits.GREETING_BYTES).header
    client_nonce, mac = header.get("nonce"), header.get("mac")
    if not isinstance(client_nonce, str) or not isinstance(mac, str) or not client_nonce:
        raise ProtocolViolation("no greeting")
    if not hmac.compare_digest(mac.encode(), _mac(token, "client", owner_nonce, client_nonce)):
        raise ProtocolViolation("another token")
    channel.send({"mac": _mac(token, "owner", owner_nonce, client_nonce).decode()})


def greet_owner(channel: Channel, token: bytes) -> dict[str, Any] | None:
    """Authenticate both sides, on the side of the client.

    Returns:
        None on success, or the header of an error that the owner sent instead of a greeting.

    Raises:
        ProtocolViolation: the other side is not the owner.
        PeerSilent: it took too long.
        ConnectionLost: the owner has ended.
    """
    header = channel.receive(protocol_limits.GREETING_S, most=protocol_limits.GREETING_BYTES).header
    if "error" in header:
        return header
    owner_nonce = header.get("nonce")
    if header.get("cortex-graph") != PROTOCOL or not isinstance(owner_nonce, str) or not owner_nonce:
        raise ProtocolViolation("no greeting")
    client_nonce = secrets.token_hex(16)
    channel.send({"nonce": client_nonce, "mac": _mac(token, "client", owner_nonce, client_nonce).decode()})
    mac = channel.receive(protocol_limits.GREETING_S, most=protocol_limits.GREETING_BYTES).header.get("mac")
    expected = _mac(token, "owner", owner_nonce, client_nonce)
    if not isinstance(mac, str) or not hmac.compare_digest(mac.encode(), expected):
        raise ProtocolViolation("another token")
    return None


def _mac(token: bytes, side: str, owner_nonce: str, client_nonce: str) -> bytes:
    content = orjson.dumps([side, owner_nonce, client_nonce])
    return hmac.new(token, content, "sha256").hexdigest().encode()


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = orjson.loads(text)
    except ValueError as error:
        raise ProtocolViolation("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise ProtocolViolation("a header that is not an object")
    return header
