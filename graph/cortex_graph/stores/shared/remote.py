"""One owner, as another process asks it.

Rules kept here:
- every request has a connection to itself until it is answered; connections are kept for the next ones;
- `Lost` leaves a request that can be made again with the next owner: nothing that it gave or took has gone astray. A
  stream or an upload that breaks in its middle is an error instead, which says what to do;
- an owner that shows no sign of life is an error in bounded time, and not asked again by itself: it may still do what
  it was asked for.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from pyoxigraph import NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.cursors import read_cursor
from cortex_graph.errors import GraphBusy, GraphError, GraphUnavailable
from cortex_graph.store import Answer, Dataset, Page, Pattern
from cortex_graph.stores.shared import limits, wire
from cortex_graph.stores.shared.channel import Channel, Distrusted, Lost, Message, Silent, greet_owner
from cortex_graph.stores.shared.place import Record, connected

_KEPT = 8  # connections that wait for the next request
_UPLOAD_QUADS = 1000  # of one part of an upload, unless they are long


class Remote:
    """The owner of a record.

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
        self._keep(self._channel())

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

    def contains(self, quad: Quad) -> bool:
        """See `GraphStore`."""
        return bool(self._ask({"op": "contains"}, wire.quads_to_bytes([quad])).header["ok"])

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """See `GraphStore`."""
        body = wire.quads_to_bytes(quad for group in groups for quad in group)
        return list(self._ask({"op": "insert", "sizes": [len(group) for group in groups]}, body).header["ok"])

    def remove(self, quad: Quad, about: Sequence[tuple[NamedNode, NamedNode]]) -> bool:
        """See `GraphStore`."""
        body = wire.quads_to_bytes([quad]) + wire.pairs_to_bytes(about)
        return bool(self._ask({"op": "remove"}, body).header["ok"])

    def apply(self, insert: Sequence[Quad], remove: Sequence[Quad]) -> None:
        """See `GraphStore`."""
        self._ask({"op": "apply", "insert": len(insert)}, wire.quads_to_bytes([*insert, *remove]))

    def revision(self, graphs: Sequence[NamedNode]) -> str:
        """See `Revisioned`."""
        return str(self._ask({"op": "revision"}, wire.nodes_to_bytes(graphs)).header["ok"])

    def apply_at(
        self, revision: str, graphs: Sequence[NamedNode], insert: Sequence[Quad], remove: Sequence[Quad]
    ) -> bool:
        """See `Revisioned`."""
        header = {"op": "apply_at", "revision": revision, "graphs": len(graphs), "insert": len(insert)}
        body = wire.nodes_to_bytes(graphs) + wire.quads_to_bytes([*insert, *remove])
        return bool(self._ask(header, body).header["ok"])

    def match(self, pattern: Pattern, limit: int, cursor: str | None) -> Page:
        """See `GraphStore`."""
        if cursor is not None:
            read_cursor(pattern, cursor)  # which refuses what could not be sent
        bound, body = wire.pattern_to_wire(pattern)
        said = self._ask({"op": "match", "bound": bound, "limit": limit, "cursor": cursor}, body)
        return Page(wire.quads_from_bytes(said.body), said.header["ok"])

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`; asks at once."""
        bound, body = wire.pattern_to_wire(pattern)
        return self._parsed(self._begin({"op": "quads", "bound": bound}, body))

    def count(self, pattern: Pattern, ceiling: int | None) -> int:
        """See `GraphStore`."""
        bound, body = wire.pattern_to_wire(pattern)
        return int(self._ask({"op": "count", "bound": bound, "ceiling": ceiling}, body).header["ok"])

    def graph_names(self) -> list[NamedNode]:
        """See `GraphStore`."""
        return wire.nodes_from_bytes(self._ask({"op": "graph_names"}).body)

    def bulk_insert(self, quads: Iterator[Quad]) -> None:
        """See `GraphStore`."""
        begun = False
        with self._talk() as channel:
            channel.send({"op": "bulk_insert"})
            try:
                while "next" in self._heard(channel).header:
                    begun = True
                    part = wire.quads_to_bytes(_some(quads))
                    channel.send({"op": "quads"} if part else {"op": "end"}, part)
            except Lost:
                if begun:
                    raise self._broken("what was uploaded to it") from None
                raise

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """See `GraphStore`."""
        self._ask({"op": "bulk_load", "path": wire.path_to_wire(path)}, wire.nodes_to_bytes([graph]))

    def dump(self, graph: NamedNode, output: IO[bytes], form: RdfFormat, prefixes: Mapping[str, str]) -> None:
        """See `GraphStore`."""
        asked = {"op": "dump", "form": form.media_type, "prefixes": dict(prefixes)}
        with contextlib.closing(self._begin(asked, wire.nodes_to_bytes([graph]))) as stream:
            for chunk in stream:
                try:
                    output.write(chunk)
                except OSError as error:
                    raise GraphUnavailable(f"what the store answers cannot be written: {error}") from error

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat,
        graphs: RdfFormat,
        timeout_s: float,
    ) -> Answer:
        """See `GraphStore`."""
        asked = {
            "op": "query",
            "text": text,
            "default": len(dataset.default),
            "results": results.media_type,
            "graphs": graphs.media_type,
            "timeout_s": timeout_s,
        }
        with self._talk(keep=False) as channel:
            channel.send(asked, wire.nodes_to_bytes([*dataset.default, *dataset.named]))
            said = self._heard(channel).header["ok"]
        form: QueryResultsFormat | RdfFormat = (
            wire.format_named(QueryResultsFormat.from_media_type, said["form"])
            if said["rows"]
            else wire.format_named(RdfFormat.from_media_type, said["form"])
        )
        return Answer(form, Stream(self, channel, None))

    def snapshot(self, folder: Path) -> bool:
        """See `GraphStore`."""
        return bool(self._ask({"op": "snapshot", "folder": wire.path_to_wire(folder)}).header["ok"])

    def flush(self) -> None:
        """See `GraphStore`."""
        self._ask({"op": "flush"})

    def maintain(self, timeout_s: float, *, reclaim: bool) -> Channel | None:
        """The maintenance lock, held as long as the connection that is answered is open; None when it is not to be had.

        Args:
            timeout_s: how long to wait for it; less than 0 for ever.
            reclaim: whether it was held when the last owner died.

        """
        with self._talk(keep=False) as channel:
            channel.send({"op": "maintain", "timeout": timeout_s, "reclaim": reclaim})
            if self._heard(channel).header["ok"]:
                return channel
            self._keep(channel)
            return None

    def give_back(self, channel: Channel) -> None:
        """End what `maintain` began; nothing to do where its owner has gone."""
        try:
            channel.send({"op": "release"})
            self._heard(channel)
        except (Lost, Silent, GraphError, _Failed):
            channel.close()
        else:
            self._keep(channel)

    def go_on(self, channel: Channel) -> Message:
        """The next part of a stream; after an error the connection is no longer the stream's."""
        try:
            with self._talk(channel, keep=False):
                channel.send({"op": "next"})
                return self._heard(channel)
        except Lost:
            raise self._broken("its answer") from None

    def let_go(self, channel: Channel, *, ended: bool) -> None:
        """A stream has ended, or nobody wants more of it."""
        try:
            if not ended:
                channel.send({"op": "stop"})
        except (Lost, GraphError, Silent):
            channel.close()
        else:
            self._keep(channel)

    def _begin(self, header: dict[str, Any], body: bytes) -> Stream:
        with self._talk(keep=False) as channel:
            channel.send(header, body)
            return Stream(self, channel, self._heard(channel))

    def _parsed(self, stream: Stream) -> Iterator[Quad]:
        with contextlib.closing(stream):
            for chunk in stream:
                yield from wire.quads_from_bytes(chunk)

    def _ask(self, header: dict[str, Any], body: bytes = b"") -> Message:
        with self._talk() as channel:
            channel.send(header, body)
            return self._heard(channel)

    def _heard(self, channel: Channel) -> Message:
        message = channel.receive(limits.SILENCE_S)
        if "error" in message.header:
            raise _Failed(wire.error_from_wire(message.header["error"]))
        return message

    @contextlib.contextmanager
    def _talk(self, channel: Channel | None = None, *, keep: bool = True) -> Iterator[Channel]:
        """A request on a connection, which is kept only when both sides know that the request has ended."""
        if channel is None:
            channel = self._channel()
        try:
            yield channel
        except _Failed as failed:
            self._keep(channel)
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
            self._keep(channel)

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

    def _keep(self, channel: Channel) -> None:
        with self._lock:
            if not self._closed and len(self._free) < _KEPT:
                self._free.append(channel)
                return
        channel.close()

    def _stopped(self) -> GraphBusy:
        return GraphBusy(
            f"process {self.record.pid}, which has the store in {self._folder} open, does not answer",
            hint="see whether it is stopped or overloaded; when it ends, another process takes over. A change that was "
            "asked for may still be made; making it again does no harm",
            details={"folder": str(self._folder), "pid": self.record.pid},
        )

    def _broken(self, what: str) -> GraphUnavailable:
        return GraphUnavailable(
            f"process {self.record.pid}, which had the store in {self._folder} open, ended in the middle of {what}",
            hint="do it again from its beginning: another process takes over",
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
        remote: the owner.
        channel: the stream's own connection.
        first: the first chunk; None when it has not been asked for.

    """

    def __init__(self, remote: Remote, channel: Channel, first: Message | None) -> None:
        self._remote = remote
        self._channel: Channel | None = channel
        self._next = first

    def send(self, value: None, /) -> bytes:  # noqa: ARG002 - nothing is sent into a stream
        """The next chunk."""
        while self._channel is not None:
            message, self._next = self._next, None
            if message is None:
                channel, self._channel = self._channel, None
                message = self._remote.go_on(channel)
                self._channel = channel
            if "more" not in message.header:
                channel, self._channel = self._channel, None
                self._remote.let_go(channel, ended=True)
            if message.body:
                return message.body
        raise StopIteration

    def throw(self, kind: Any, error: Any = None, trace: Any = None, /) -> bytes:  # noqa: ARG002
        """End it."""
        if self._channel is not None:
            channel, self._channel = self._channel, None
            self._remote.let_go(channel, ended=False)
        raise kind if error is None else error

    def __del__(self) -> None:
        self.close()


def _some(quads: Iterator[Quad]) -> list[Quad]:
    """The next part of an upload; empty at its end."""
    some: list[Quad] = []
    room = limits.CHUNK_BYTES * 8
    for quad in islice(quads, _UPLOAD_QUADS):
        some.append(quad)
        room -= len(str(quad.object)) + 200
        if room < 0:
            break
    return some
