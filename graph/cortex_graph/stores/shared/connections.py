"""The connections of one process to an owner.

Rules kept here:
- each request has a connection to itself until it is answered; a connection is reused only when both sides know that
  the request has ended;
- after `ConnectionLost` a request can be repeated with the next owner; a stream that breaks in its middle is an error
  instead, whose hint states what to do;
- a request that a closing owner did not begin is answered as such (`NotBegun`), and any request can be repeated then;
- an owner that sends no keepalive is a warning in the log, and then an error in bounded time. The request is not
  repeated then: the owner may still complete it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from cortex_graph.cancellation import Cancellation, interruptible
from cortex_graph.exceptions import GraphBusy, GraphError, GraphUnavailable
from cortex_graph.stores.shared import protocol_limits, wire
from cortex_graph.stores.shared.channel import (
    Channel,
    ConnectionLost,
    Message,
    PeerSilent,
    ProtocolViolation,
    greet_owner,
)
from cortex_graph.stores.shared.rendezvous import OwnerRecord, connected

_KEPT = 8  # idle connections

log = logging.getLogger(__name__)


class NotBegun(ConnectionLost):
    """The owner closes the store, and did not begin the request."""


class WaitNotice:
    """Reports in the log why the calls of a folder wait, once until they are answered."""

    def __init__(self) -> None:
        self._reported = ""

    def report(self, reason: str) -> None:
        """Report the reason of a wait."""
        if self._reported != reason:
            self._reported = reason
            log.warning("still waiting: %s", reason)

    def answered(self) -> None:
        """Report the next wait again."""
        self._reported = ""


class Connections:
    """The connections to the owner of a record."""

    def __init__(self, folder: Path, record: OwnerRecord, notice: WaitNotice) -> None:
        self.record = record
        self._notice = notice
        self._folder = folder
        self._lock = threading.Lock()
        self._free: list[Channel] = []
        self._closed = False

    def greet(self) -> None:
        """Connect to the owner.

        Raises:
            ConnectionLost: it has ended.
            GraphBusy: it does not answer, or accepts no more connections.
        """
        self.keep(self._channel())

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for channel in free:
            channel.close()

    def after_fork(self) -> None:
        """Close the connections of the parent in this process; they stay open in the parent."""
        self._lock = threading.Lock()
        self.close()

    @contextlib.contextmanager
    def talk(self, channel: Channel | None = None, *, keep: bool = True) -> Iterator[Channel]:
        """Run a request on a connection, which is reused only when both sides know that the request has ended."""
        if channel is None:
            channel = self._channel()
        try:
            yield channel
        except _Failed as failed:
            self.keep(channel)
            raise failed.error from None
        except PeerSilent:
            channel.close()
            raise self._stopped() from None
        except ProtocolViolation as error:
            channel.close()
            raise GraphUnavailable(
                f"process {self.record.pid}, which has the store open, violates the protocol: {error}"
            ) from error
        except BaseException:
            channel.close()
            raise
        if keep:
            self.keep(channel)

    def receive(self, channel: Channel) -> Message:
        """Return the next message of the owner; within `talk`, which raises its errors."""
        message = channel.receive(protocol_limits.SILENCE_S)
        self._notice.answered()
        if "closing" in message.header:
            raise NotBegun
        if "error" in message.header:
            raise _Failed(wire.error_from_wire(message.header["error"]))
        return message

    def keep(self, channel: Channel) -> None:
        """Keep a connection for the next request."""
        with self._lock:
            if not self._closed and len(self._free) < _KEPT:
                self._free.append(channel)
                return
        channel.close()

    def next_part(self, channel: Channel) -> Message:
        """Return the next part of a stream; after an error the connection no longer belongs to the stream."""
        try:
            with self.talk(channel, keep=False):
                channel.send({"op": "next"})
                return self.receive(channel)
        except ConnectionLost:
            raise self.broken("its answer") from None

    def end_stream(self, channel: Channel, *, ended: bool) -> None:
        """End a stream, and keep its connection."""
        try:
            if not ended:
                channel.send({"op": "stop"})
        except (ConnectionLost, GraphError, PeerSilent):
            channel.close()
        else:
            self.keep(channel)

    def release_maintenance(self, channel: Channel) -> None:
        """Release the maintenance lock that `maintain` acquired; does nothing when its owner has ended."""
        try:
            channel.send({"op": "release"})
            self.receive(channel)
        except (ConnectionLost, PeerSilent, GraphError, _Failed):
            channel.close()
        else:
            self.keep(channel)

    def _channel(self) -> Channel:
        with self._lock:
            if self._free:
                return self._free.pop()
        try:
            connection = connected(self.record)
        except PeerSilent:
            raise self._stopped() from None
        if connection is None:
            raise ConnectionLost
        channel = Channel(connection, self._report_wait)
        try:
            refused = greet_owner(channel, self.record.token)
        except BaseException as error:
            channel.close()
            if isinstance(error, PeerSilent):
                raise self._stopped() from None
            if isinstance(error, ProtocolViolation):
                raise ConnectionLost from None
            raise
        if refused is not None:
            channel.close()
            raise wire.error_from_wire(refused["error"])
        return channel

    def _report_wait(self) -> None:
        self._notice.report(str(self._stopped()))

    def _stopped(self) -> GraphBusy:
        return GraphBusy(
            f"process {self.record.pid}, which has the store in {self._folder} open, does not answer",
            hint="see whether it is stopped or overloaded; when it ends, another process takes over. A change that was "
            "requested may still be made; repeating it is harmless",
            details={"folder": str(self._folder), "pid": self.record.pid},
        )

    def broken(self, what: str, hint: str = "", kind: type[GraphUnavailable] = GraphUnavailable) -> GraphUnavailable:
        """Return the error for a request that broke in its middle."""
        return kind(
            f"process {self.record.pid}, which had the store in {self._folder} open, ended in the middle of {what}",
            hint=hint or "repeat it from its beginning: another process takes over",
            details={"folder": str(self._folder), "pid": self.record.pid},
        )


class _Failed(Exception):
    """The owner answered with an error."""

    def __init__(self, error: GraphError) -> None:
        super().__init__(error)
        self.error = error


class Stream(Generator[bytes, None, None]):
    """The parts of a stream. Closing it ends the stream at the owner, even when it was not begun.

    Args:
        remote: the owner.
        channel: the connection of the stream.
        first: the first part; None when it was not requested yet.
        cancel: cancels the call.
    """

    def __init__(
        self, remote: Connections, channel: Channel, first: Message | None, cancel: Cancellation | None = None
    ) -> None:
        self._owner = remote
        self._channel: Channel | None = channel
        self._next = first
        self._cancel = cancel

    def send(self, value: None, /) -> bytes:  # noqa: ARG002 - nothing is sent into a stream
        """Return the next part."""
        while self._channel is not None:
            message, self._next = self._next, None
            if message is None:
                with interruptible(self._cancel, self._channel.cut):
                    channel, self._channel = self._channel, None
                    message = self._owner.next_part(channel)
                    self._channel = channel
            if "more" not in message.header:
                channel, self._channel = self._channel, None
                self._owner.end_stream(channel, ended=True)
            if message.body:
                return message.body
        raise StopIteration

    def throw(self, kind: Any, error: Any = None, trace: Any = None, /) -> bytes:  # noqa: ARG002
        """End the stream."""
        if self._channel is not None:
            channel, self._channel = self._channel, None
            self._owner.end_stream(channel, ended=False)
        raise kind if error is None else error

    def __del__(self) -> None:
        self.close()
