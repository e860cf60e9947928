"""Messages over a socket between two processes of one user.

Rules kept here:
- a message is a header (JSON) and a body (bytes); its length is told first, and bounded. Nothing is unpickled;
- nothing waits for ever on a peer that has begun something: a message that was begun must be there in `FRAME_S`;
- both sides prove that they know the token of the owner's record before anything else is said (HMAC-SHA-256 over both
  sides' nonces, RFC 2104), and the token itself is never sent;
- an empty message is a sign of life, and nobody sees it.
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
from typing import Any, NamedTuple

import orjson

from cortex_graph.errors import InvalidArguments
from cortex_graph.stores.shared import limits

PROTOCOL = 1
_PREFIX = struct.Struct(">II")  # of header and body together, of the header
_SIGN_OF_LIFE = _PREFIX.pack(0, 0)
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
_READ_BYTES = 64 << 10
_LARGE_READ_BYTES = 1 << 20


class Lost(Exception):
    """The other side is gone."""


class Silent(Exception):
    """The other side shows no sign of life."""


class Distrusted(Exception):
    """The other side does not keep to the protocol, or does not know the token."""


class Message(NamedTuple):
    """What one side says to the other."""

    header: dict[str, Any]
    body: bytes


class Channel:
    """One connection; used by one thread at a time, but for `show_life` and `cut`."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._sending = threading.Lock()
        self._received = bytearray()
        if connected.family != getattr(socket, "AF_UNIX", None):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        """Say something.

        Raises:
            InvalidArguments: it is longer than a message may be, or cannot be JSON; nothing was sent.
            Silent: the other side takes nothing in.
            Lost: it is gone.

        """
        try:
            head = orjson.dumps(header)
        except TypeError as error:  # lone surrogates in a text, numbers beyond 64 bits
            raise InvalidArguments(f"an argument cannot be passed on to another process: {error}") from error
        length = len(head) + len(body)
        if length > limits.FRAME_BYTES:
            raise InvalidArguments(
                f"{length >> 20} MiB are too much for one message between processes",
                hint=f"write it in parts of less than {limits.FRAME_BYTES >> 20} MiB, each literal included",
            )
        try:
            with self._sending:
                self._socket.settimeout(limits.FRAME_S)
                self._socket.sendall(b"".join((_PREFIX.pack(length, len(head)), head, body)))
        except TimeoutError as error:
            raise Silent from error
        except OSError as error:
            raise Lost from error

    def receive(self, patience_s: float | None = None, *, most: int | None = None) -> Message:
        """What the other side says next.

        Args:
            patience_s: how long to wait for its next word or sign of life; None for ever.
            most: how many bytes it may have; None for `FRAME_BYTES`.

        Raises:
            Silent: nothing came in time.
            Lost: the other side is gone.
            Distrusted: this is no message.

        """
        while True:
            started = None if patience_s is None else time.monotonic() + patience_s
            self._fill(_PREFIX.size, started)
            length, head = _PREFIX.unpack_from(self._received)
            if length > (limits.FRAME_BYTES if most is None else most) or head > length:
                raise Distrusted(f"a message of {length} bytes, {head} of them its header")
            end = _PREFIX.size + length
            self._fill(end, time.monotonic() + limits.FRAME_S)
            taken = bytes(memoryview(self._received)[_PREFIX.size : end])
            del self._received[:end]
            if length:
                return Message(_header(taken[:head]), taken[head:])

    def show_life(self) -> None:
        """Tell the other side that its request is being worked on; if it takes nothing in, it is not told."""
        if not self._sending.acquire(blocking=False):
            return
        try:
            # The socket's time-out belongs to the thread that uses it.
            ready = select.select([], [self._socket], [], 0)[1]
            if ready and self._socket.send(_SIGN_OF_LIFE, _AT_ONCE) != len(_SIGN_OF_LIFE):
                self.cut()
        except (OSError, ValueError):
            pass  # whoever works on the request finds out
        finally:
            self._sending.release()

    def fileno(self) -> int:
        """Of the socket, for whoever watches it."""
        return self._socket.fileno()

    def is_quiet(self) -> bool:
        """Whether the other side is there and says nothing."""
        try:
            return not self._received and not select.select([self._socket], [], [], 0)[0]
        except (OSError, ValueError):
            return False

    def cut(self) -> None:
        """End the connection for both sides, from whatever thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the socket; in a forked child this leaves the parent's connection alone."""
        self._socket.close()

    def _fill(self, size: int, until: float | None) -> None:
        while (missing := size - len(self._received)) > 0:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise Silent
            try:
                self._socket.settimeout(left)
                data = self._socket.recv(_LARGE_READ_BYTES if missing > _READ_BYTES else _READ_BYTES)
            except TimeoutError as error:
                raise Silent from error
            except OSError as error:
                raise Lost from error
            if not data:
                raise Lost
            self._received += data


def greet_client(channel: Channel, token: bytes) -> None:
    """The owner's side of the greeting: shows that it knows the token, once the client has.

    Raises:
        Distrusted: the client does not know it.
        Silent: it took too long.
        Lost: it is gone.

    """
    ours = secrets.token_hex(16)
    channel.send({"cortex-graph": PROTOCOL, "nonce": ours})
    said = channel.receive(limits.GREETING_S, most=limits.GREETING_BYTES).header
    theirs, mac = said.get("nonce"), said.get("mac")
    if not isinstance(theirs, str) or not isinstance(mac, str) or not theirs:
        raise Distrusted("no greeting")
    if not hmac.compare_digest(mac.encode(), _mac(token, "client", ours, theirs)):
        raise Distrusted("another token")
    channel.send({"mac": _mac(token, "owner", ours, theirs).decode()})


def greet_owner(channel: Channel, token: bytes) -> dict[str, Any] | None:
    """The client's side of the greeting.

    Returns:
        None when each side knows the other; else what the owner says instead of a greeting: an error.

    Raises:
        Distrusted: whoever listens there is not the owner.
        Silent: it took too long.
        Lost: it is gone.

    """
    said = channel.receive(limits.GREETING_S, most=limits.GREETING_BYTES).header
    if "error" in said:
        return said
    theirs = said.get("nonce")
    if said.get("cortex-graph") != PROTOCOL or not isinstance(theirs, str) or not theirs:
        raise Distrusted("no greeting")
    ours = secrets.token_hex(16)
    channel.send({"nonce": ours, "mac": _mac(token, "client", theirs, ours).decode()})
    mac = channel.receive(limits.GREETING_S, most=limits.GREETING_BYTES).header.get("mac")
    if not isinstance(mac, str) or not hmac.compare_digest(mac.encode(), _mac(token, "owner", theirs, ours)):
        raise Distrusted("another token")
    return None


def _mac(token: bytes, side: str, owners: str, clients: str) -> bytes:
    said = orjson.dumps([side, owners, clients])
    return hmac.new(token, said, "sha256").hexdigest().encode()


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = orjson.loads(text)
    except ValueError as error:
        raise Distrusted("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise Distrusted("a header that is no object")
    return header
