"""The server of the owner: a listener, and a thread for each connected process.

Rules kept here:
- errors of the store are sent back unchanged, any other exception as a failure of the owner;
- while a request is processed keepalives are sent, so that a client can distinguish a long operation from a stopped
  owner;
- a stream continues when the other side requests more, so that a slow reader costs a thread and no memory; an upload
  that stops is abandoned;
- a closing owner completes and answers the requests that were begun, and begins no other: those that it has received
  are answered as not begun, so that the client can repeat them with the next owner;
- a query whose client hangs up is ended, and its process is free for other queries;
- a client that does not authenticate is disconnected, without effect on others.
"""

from __future__ import annotations

import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from cortex_graph.exceptions import GraphBusy, GraphError, GraphUnavailable
from cortex_graph.store import GraphStore
from cortex_graph.stores.shared import protocol_limits
from cortex_graph.stores.shared.channel import (
    Channel,
    ConnectionLost,
    Message,
    PeerSilent,
    ProtocolViolation,
    greet_client,
)
from cortex_graph.stores.shared.store_operations import OPERATIONS, OwnerRequest, StreamStopped
from cortex_graph.stores.shared.wire import error_to_wire

log = logging.getLogger(__name__)

_CLOSING = GraphUnavailable("the process that has the store open is closing it", hint="repeat the request")


class OwnerServer:
    """Answers other processes.

    Args:
        store: the store.
        listener: the listening socket.
        token: the secret that clients must know.
        succeeds: whether another owner has died before this one.
    """

    def __init__(self, store: GraphStore, listener: socket.socket, token: bytes, *, succeeds: bool) -> None:
        self.store = store
        self.token = token
        self.grace_until = time.monotonic() + protocol_limits.GRACE_S if succeeds else 0.0
        self.stopping = False
        self.streaming = True  # also while stopping, for a moment
        self._listener = listener
        self._woken, self._waking = socket.socketpair()
        self._lock = threading.Lock()
        self._peers: set[Peer] = set()
        self._watching = selectors.DefaultSelector()
        for watched in (self._listener, self._woken):
            self._watching.register(watched, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._listen, name="cortex-graph-owner", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Begin no other request, complete the current ones for up to `CLOSE_S`, and end."""
        with self._lock:
            self.stopping = True
            peers = list(self._peers)
        for peer in peers:
            peer.end_input()
        self._waking.close()
        self._thread.join(protocol_limits.CLOSE_S)
        self._watching.close()
        self._woken.close()
        self._listener.close()
        started = time.monotonic()
        _wait_for(peers, started + protocol_limits.STREAM_DRAIN_S)
        self.streaming = False
        for peer in peers:
            peer.cut_if(lambda state: state != "working")
        _wait_for(peers, started + protocol_limits.CLOSE_S)

    def after_fork(self) -> None:
        """Close the sockets of the parent in this process; they stay open in the parent."""
        for resource in (self._watching, self._listener, self._woken, self._waking):
            resource.close()
        for peer in list(self._peers):
            peer.channel.close()

    def gone(self, peer: Peer) -> None:
        """Remove a peer that has ended."""
        with self._lock:
            self._peers.discard(peer)

    def watch(self, channel: Channel, interrupt: Callable[[], None]) -> None:
        """Call `interrupt`, until `unwatch`, when the other side of a channel sends anything or hangs up."""
        # A closed channel or server ends the query itself.
        with self._lock, suppress(ValueError, OSError, RuntimeError):
            self._watching.register(channel, selectors.EVENT_READ, interrupt)

    def unwatch(self, channel: Channel) -> None:
        """End `watch`."""
        with self._lock, suppress(ValueError, KeyError, OSError, RuntimeError):
            self._watching.unregister(channel)

    def _listen(self) -> None:
        while not self.stopping:
            try:
                for key, _ in self._watching.select(protocol_limits.PULSE_S / 2):
                    if key.data is not None:
                        self._interrupt(key)
                    elif key.fileobj is self._listener and not self.stopping:
                        self._accept()
            except (OSError, ValueError) as error:
                if self.stopping:
                    return
                log.warning("cannot accept another process: %s", error)
                time.sleep(protocol_limits.PULSE_S / 4)  # out of file descriptors, for instance
            now = time.monotonic()
            with self._lock:
                working = [peer for peer in self._peers if peer.works_since(now - protocol_limits.PULSE_S / 2)]
            for peer in working:
                peer.channel.send_keepalive()

    def _interrupt(self, key: selectors.SelectorKey) -> None:
        with self._lock:  # so that it is not called after `unwatch` has returned
            if self._watching.get_map().get(key.fileobj) is key:
                self._watching.unregister(key.fileobj)
                key.data()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        channel = Channel(connection)
        with self._lock:
            full = len(self._peers) >= protocol_limits.MAX_PEERS
            if not full and not self.stopping:
                peer = Peer(self, channel)
                self._peers.add(peer)
                peer.thread.start()
                return
        try:
            if full:
                busy = GraphBusy(
                    f"the store has {protocol_limits.MAX_PEERS} connections from other processes, and accepts no more",
                    hint="end some of the processes, or use a server as the store",
                )
                channel.send({"error": error_to_wire(busy)})
        except (ConnectionLost, PeerSilent):
            pass
        finally:
            channel.close()


class Peer:
    """One connection of another process."""

    def __init__(self, server: OwnerServer, channel: Channel) -> None:
        self.channel = channel
        self.thread = threading.Thread(target=self._serve, name="cortex-graph-peer", daemon=True)
        self._server = server
        self._lock = threading.Lock()
        self._state = "idle"  # or working, or waiting for the other side within a request
        self._since = 0.0
        self._has_left = False

    def works_since(self, moment: float) -> bool:
        """Return whether a request has been processed since before a moment."""
        return self._state == "working" and self._since < moment

    def cut_if(self, applies: Callable[[str], bool]) -> None:
        """End the connection in some states."""
        with self._lock:
            if applies(self._state):
                self.channel.cut()

    def end_input(self) -> None:
        """Answer the request that has arrived, and accept no other, if none is processed."""
        with self._lock:
            if self._state == "idle":
                self.channel.end_input()

    def enter(self, state: str) -> None:
        """Set the state."""
        with self._lock:
            self._state, self._since = state, time.monotonic()

    def check(self) -> None:
        """Check that the other side is connected; see `Cancellation`.

        Raises:
            ConnectionLost: it is not.
        """
        if self._has_left:
            raise ConnectionLost

    @contextmanager
    def interrupts(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """See `Cancellation`."""

        def leave() -> None:
            self._has_left = True
            interrupt()

        self.check()
        self._server.watch(self.channel, leave)
        try:
            yield
        finally:
            self._server.unwatch(self.channel)

    def send(self, header: dict[str, object], body: bytes = b"") -> None:
        """Send a message."""
        self.channel.send(header, body)

    def receive(self, timeout_s: float | None = None) -> Message:
        """Receive the next message within a request."""
        self.enter("waiting")
        if not self._server.streaming:
            raise ConnectionLost
        message = self.channel.receive(timeout_s)
        self.enter("working")
        return message

    def _serve(self) -> None:
        try:
            greet_client(self.channel, self._server.token)
            while True:
                if self._server.stopping:
                    self.end_input()
                message = self.channel.receive()
                self.enter("working")
                if self._server.stopping:
                    # Clients of earlier versions know only the error.
                    self.send({"closing": True, "error": error_to_wire(_CLOSING)})
                else:
                    self._answer(message)
                self.enter("idle")
        except (ConnectionLost, PeerSilent, StreamStopped):
            pass
        except ProtocolViolation as error:
            log.warning("a connected process was disconnected: %s", error)
        finally:
            self._server.gone(self)
            self.channel.close()

    def _answer(self, message: Message) -> None:
        operation = OPERATIONS.get(str(message.header.get("op")))
        if operation is None:
            raise ProtocolViolation(f"no operation {message.header.get('op')!r}")
        request = OwnerRequest(self._server, self, message.header, message.body)
        try:
            operation(request)
        except GraphError as error:
            self._fail(error)
        except (ConnectionLost, PeerSilent, StreamStopped, ProtocolViolation):
            raise
        except Exception as error:  # the other side must receive every failure
            log.exception("a request of another process failed")
            self._fail(GraphUnavailable(f"the owner of the store failed: {type(error).__name__}: {error}"))

    def _fail(self, error: GraphError) -> None:
        self.send({"error": error_to_wire(error)})


def _wait_for(peers: list[Peer], until: float) -> None:
    for peer in peers:
        peer.thread.join(max(0.0, until - time.monotonic()))
