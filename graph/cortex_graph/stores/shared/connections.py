"""The connections of one process to an owner.

Rules kept here:
- every request has a connection to itself until it is answered; a connection is kept for the next one only when both
  sides know that the request has ended;
- `Lost` leaves a request that can be made again with the next owner; a stream that breaks in its middle is an error
  instead, which says what to do;
- an owner that shows no sign of life is an error in bounded time, and not asked again by itself: it may still do what
  it was asked for.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from cortex_graph.errors import GraphBusy, GraphError, GraphUnavailable
from cortex_graph.stopping import Stop, waiting
from cortex_graph.stores.shared import limits, wire
from cortex_graph.stores.shared.channel import Channel, Distrusted, Lost, Message, Silent, greet_owner
from cortex_graph.stores.shared.place import Record, connected

_KEPT = 8  # connections that wait for the next request


class Connections:
    """The connections to the owner of a record.

    Args:
        folder: what it owns, for messages.
        record: where it is.

    """

    def __init__(self, folder: Path, record: Record) -> None:
        self.record = record
        self._folder = folder
        self._lock = threading.Lock()
        self._free: list[Channel] = []
        self._closed = False

    def greet(self) -> None:
        """See that it is there.

        Raises:
            Lost: it is not.
            GraphBusy: it is, and does not answer, or takes no more connections.

        """
        self.keep(self._channel())

    def close(self) -> None:
        """Let go of the connections that nobody uses."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for channel in free:
            channel.close()

    def forked(self) -> None:
        """In a forked child: let go of the parent's connections, and leave them working."""
        self._lock = threading.Lock()
        self.close()

    @contextlib.contextmanager
    def talk(self, channel: Channel | None = None, *, keep: bool = True) -> Iterator[Channel]:
        """A request on a connection, which is kept only when both sides know that the request has ended."""
        if channel is None:
            channel = self._channel()
        try:
            yield channel
        except _Failed as failed:
            self.keep(channel)
            raise failed.error from None
        except Silent:
            channel.close()
            raise self._stopped() from None
        except Distrusted as error:
            channel.close()
            pid = self.record.pid
            raise GraphUnavailable(f"process {pid}, which has the store open, answers nonsense: {error}") from error
        except BaseException:
            channel.close()
            raise
        if keep:
            self.keep(channel)

    def heard(self, channel: Channel) -> Message:
        """What the owner says next; within `talk`, which tells its errors."""
        message = channel.receive(limits.SILENCE_S)
        if "error" in message.header:
            raise _Failed(wire.error_from_wire(message.header["error"]))
        return message

    def keep(self, channel: Channel) -> None:
        """Have a connection ready for the next request."""
        with self._lock:
            if not self._closed and len(self._free) < _KEPT:
                self._free.append(channel)
                return
        channel.close()

    def go_on(self, channel: Channel) -> Message:
        """The next part of a stream; after an error the connection is no longer the stream's."""
        try:
            with self.talk(channel, keep=False):
                channel.send({"op": "next"})
                return self.heard(channel)
        except Lost:
            raise self.broken("its answer") from None

    def let_go(self, channel: Channel, *, ended: bool) -> None:
        """A stream has ended, or nobody wants more of it."""
        try:
            if not ended:
                channel.send({"op": "stop"})
        except (Lost, GraphError, Silent):
            channel.close()
        else:
            self.keep(channel)

    def give_back(self, channel: Channel) -> None:
        """End what `maintain` began; nothing to do where its owner has gone."""
        try:
            channel.send({"op": "release"})
            self.heard(channel)
        except (Lost, Silent, GraphError, _Failed):
            channel.close()
        else:
            self.keep(channel)

    def _channel(self) -> Channel:
        with self._lock:
            if self._free:
                return self._free.pop()
        connection = connected(self.record)
        if connection is None:
            raise Lost
        channel = Channel(connection)
        try:
            refused = greet_owner(channel, self.record.token)
        except BaseException as error:
            channel.close()
            if isinstance(error, Silent):
                raise self._stopped() from None
            if isinstance(error, Distrusted):
                raise Lost from None
            raise
        if refused is not None:
            channel.close()
            raise wire.error_from_wire(refused["error"])
        return channel

    def _stopped(self) -> GraphBusy:
        return GraphBusy(
            f"process {self.record.pid}, which has the store in {self._folder} open, does not answer",
            hint="see whether it is stopped or overloaded; when it ends, another process takes over. A change that was "
            "asked for may still be made; making it again does no harm",
            details={"folder": str(self._folder), "pid": self.record.pid},
        )

    def broken(self, what: str, hint: str = "") -> GraphUnavailable:
        """The error for what broke in its middle."""
        return GraphUnavailable(
            f"process {self.record.pid}, which had the store in {self._folder} open, ended in the middle of {what}",
            hint=hint or "do it again from its beginning: another process takes over",
            details={"folder": str(self._folder), "pid": self.record.pid},
        )


class _Failed(Exception):
    """What the owner answers is an error."""

    def __init__(self, error: GraphError) -> None:
        super().__init__(error)
        self.error = error


class Stream(Generator[bytes, None, None]):
    """What the owner sends, chunk by chunk; closing it ends it at the owner, too, whether it was begun or not.

    Args:
        remote: its owner.
        channel: the stream's own connection.
        first: the first chunk; None when it has not been asked for.
        stop: ends it at the owner, whatever it waits for.

    """

    def __init__(self, remote: Connections, channel: Channel, first: Message | None, stop: Stop | None = None) -> None:
        self._owner = remote
        self._channel: Channel | None = channel
        self._next = first
        self._stop = stop

    def send(self, value: None, /) -> bytes:  # noqa: ARG002 - nothing is sent into a stream
        """The next chunk."""
        while self._channel is not None:
            message, self._next = self._next, None
            if message is None:
                with waiting(self._stop, self._channel.cut):
                    channel, self._channel = self._channel, None
                    message = self._owner.go_on(channel)
                    self._channel = channel
            if "more" not in message.header:
                channel, self._channel = self._channel, None
                self._owner.let_go(channel, ended=True)
            if message.body:
                return message.body
        raise StopIteration

    def throw(self, kind: Any, error: Any = None, trace: Any = None, /) -> bytes:  # noqa: ARG002
        """End it."""
        if self._channel is not None:
            channel, self._channel = self._channel, None
            self._owner.let_go(channel, ended=False)
        raise kind if error is None else error

    def __del__(self) -> None:
        self.close()
