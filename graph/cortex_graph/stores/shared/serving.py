"""The owner's side: a listener, and a thread for each process that is connected.

Rules kept here:
- the store is asked as its own process asks it; what it raises goes back as it is, anything else as a failure of it;
- who is at work gives signs of life, so that a client can tell a long operation from a stopped owner;
- a stream goes on when the other side asks for more, so that a slow reader costs a thread and no memory; an upload that
  does not go on is given up;
- a closing owner finishes what was begun and answers it, and begins nothing else: what it does not answer was not done;
- a query whose peer hangs up is ended, and what evaluated it is free for others;
- a peer that does not greet, or not as it must, is cut off, and costs nobody else anything.
"""

from __future__ import annotations

import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from cortex_graph.errors import GraphBusy, GraphError, GraphUnavailable
from cortex_graph.store import GraphStore
from cortex_graph.stores.shared import limits
from cortex_graph.stores.shared.channel import Channel, Distrusted, Lost, Message, Silent, greet_client
from cortex_graph.stores.shared.operations import OPERATIONS, Given, Stopped
from cortex_graph.stores.shared.wire import error_to_wire

log = logging.getLogger(__name__)


class Server:
    """Answers other processes.

    Args:
        store: what they are answered from.
        listener: where they connect.
        token: what they must know.
        succeeds: whether an owner has died before this one.

    """

    def __init__(self, store: GraphStore, listener: socket.socket, token: bytes, *, succeeds: bool) -> None:
        self.store = store
        self.token = token
        self.grace_until = time.monotonic() + limits.GRACE_S if succeeds else 0.0
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
        """Begin nothing else, finish what was begun as far as that takes no longer than `CLOSE_S`, and go."""
        with self._lock:
            self.stopping = True
            peers = list(self._peers)
        for peer in peers:
            peer.cut_if(lambda state: state == "idle")
        self._waking.close()
        self._thread.join(limits.CLOSE_S)
        self._watching.close()
        self._woken.close()
        self._listener.close()
        started = time.monotonic()
        _wait_for(peers, started + limits.STREAM_DRAIN_S)
        self.streaming = False
        for peer in peers:
            peer.cut_if(lambda state: state != "working")
        _wait_for(peers, started + limits.CLOSE_S)

    def abandon(self) -> None:
        """In a forked child: let go of the parent's sockets, and leave them working."""
        for ours in (self._watching, self._listener, self._woken, self._waking):
            ours.close()
        for peer in list(self._peers):
            peer.channel.close()

    def gone(self, peer: Peer) -> None:
        """A peer has ended."""
        with self._lock:
            self._peers.discard(peer)

    def watch(self, channel: Channel, interrupt: Callable[[], None]) -> None:
        """Call `interrupt`, until `unwatch`, when the other side of a channel says anything or hangs up."""
        with self._lock, suppress(ValueError, OSError, RuntimeError):  # gone, or closing: both end the query themselves
            self._watching.register(channel, selectors.EVENT_READ, interrupt)

    def unwatch(self, channel: Channel) -> None:
        """End it."""
        with self._lock, suppress(ValueError, KeyError, OSError, RuntimeError):
            self._watching.unregister(channel)

    def _listen(self) -> None:
        while not self.stopping:
            try:
                for key, _ in self._watching.select(limits.PULSE_S / 2):
                    if key.data is not None:
                        self._interrupt(key)
                    elif key.fileobj is self._listener and not self.stopping:
                        self._accept()
            except (OSError, ValueError) as error:
                if self.stopping:
                    return
                log.warning("cannot accept another process: %s", error)
                time.sleep(limits.PULSE_S / 4)  # out of file descriptors, for instance
            now = time.monotonic()
            with self._lock:
                working = [peer for peer in self._peers if peer.works_since(now - limits.PULSE_S / 2)]
            for peer in working:
                peer.channel.show_life()

    def _interrupt(self, key: selectors.SelectorKey) -> None:
        with self._lock:  # so that it is not called once `unwatch` has returned
            if self._watching.get_map().get(key.fileobj) is key:
                self._watching.unregister(key.fileobj)
                key.data()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        channel = Channel(connection)
        with self._lock:
            full = len(self._peers) >= limits.MAX_PEERS
            if not full and not self.stopping:
                peer = Peer(self, channel)
                self._peers.add(peer)
                peer.thread.start()
                return
        try:
            if full:
                busy = GraphBusy(
                    f"the store has {limits.MAX_PEERS} connections from other processes, and takes no more",
                    hint="end some of the processes, or use a server as the store",
                )
                channel.send({"error": error_to_wire(busy)})
        except (Lost, Silent):
            pass
        finally:
            channel.close()


class Peer:
    """One connection of another process."""

    def __init__(self, server: Server, channel: Channel) -> None:
        self.channel = channel
        self.thread = threading.Thread(target=self._serve, name="cortex-graph-peer", daemon=True)
        self._server = server
        self._lock = threading.Lock()
        self._state = "idle"  # or working, or waiting: within a request, for the other side
        self._since = 0.0
        self._has_left = False

    def works_since(self, moment: float) -> bool:
        """Whether a request has been worked on since before a moment."""
        return self._state == "working" and self._since < moment

    def cut_if(self, applies: Callable[[str], bool]) -> None:
        """End the connection in some states."""
        with self._lock:
            if applies(self._state):
                self.channel.cut()

    def enter(self, state: str) -> None:
        """Note what is being done."""
        with self._lock:
            self._state, self._since = state, time.monotonic()

    def check(self) -> None:
        """See `Stop`: whether the other side still waits.

        Raises:
            Lost: it does not.

        """
        if self._has_left:
            raise Lost

    @contextmanager
    def interrupts(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """See `Stop`."""

        def leave() -> None:
            self._has_left = True
            interrupt()

        self.check()
        self._server.watch(self.channel, leave)
        try:
            yield
        finally:
            self._server.unwatch(self.channel)

    def say(self, header: dict[str, object], body: bytes = b"") -> None:
        """Answer."""
        self.channel.send(header, body)

    def hear(self, patience_s: float | None = None) -> Message:
        """What the other side says within a request."""
        self.enter("waiting")
        if not self._server.streaming:
            raise Lost
        message = self.channel.receive(patience_s)
        self.enter("working")
        return message

    def _serve(self) -> None:
        try:
            greet_client(self.channel, self._server.token)
            while not self._server.stopping:
                message = self.channel.receive()
                self.enter("working")
                if self._server.stopping:
                    return
                self._answer(message)
                self.enter("idle")
        except (Lost, Silent, Stopped):
            pass
        except Distrusted as error:
            log.warning("a process that connected is cut off: %s", error)
        finally:
            self._server.gone(self)
            self.channel.close()

    def _answer(self, message: Message) -> None:
        operation = OPERATIONS.get(str(message.header.get("op")))
        if operation is None:
            raise Distrusted(f"no operation {message.header.get('op')!r}")
        given = Given(self._server, self, message.header, message.body)
        try:
            operation(given)
        except GraphError as error:
            self._fail(error)
        except (Lost, Silent, Stopped, Distrusted):
            raise
        except Exception as error:  # whatever it is, the other side must hear of it
            log.exception("a request of another process failed")
            self._fail(GraphUnavailable(f"the owner of the store failed: {type(error).__name__}: {error}"))

    def _fail(self, error: GraphError) -> None:
        self.say({"error": error_to_wire(error)})


def _wait_for(peers: list[Peer], until: float) -> None:
    for peer in peers:
        peer.thread.join(max(0.0, until - time.monotonic()))
