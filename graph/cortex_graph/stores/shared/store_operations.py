"""The requests of other processes to the owner: one function for each operation of a `GraphStore`.

Rules kept here:
- a simple operation answers once: `{"ok": value}` and a body;
- a stream answers in parts, each but the last with `{"more": true}`, and continues at `{"op": "next"}`; any other
  message closes it and its source;
- an upload is requested part by part with `{"next": true}`;
- the maintenance lock is held until its holder sends another message, or its connection ends.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, cast

from pyoxigraph import Quad, QueryResultsFormat, RdfFormat

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphBusy
from cortex_graph.store import Dataset, GraphStore, Revisioned
from cortex_graph.stores.shared import protocol_limits, wire
from cortex_graph.stores.shared.channel import Channel, Message, PeerSilent

_TRY_AGAIN_S = 0.2


class RequestPeer(Cancellation, Protocol):
    """The connection of another process."""

    channel: Channel

    def send(self, header: dict[str, object], body: bytes = b"") -> None:
        """Send a message."""

    def receive(self, timeout_s: float | None = None) -> Message:
        """Receive a message within the request."""


class RequestServer(Protocol):
    """The owner, as far as a request needs it."""

    store: GraphStore
    grace_until: float
    stopping: bool


class StreamStopped(Exception):
    """The other side ends a stream, or abandons an upload."""


class OwnerRequest(NamedTuple):
    """A request: its server, its sender, its header and its body."""

    server: RequestServer
    peer: RequestPeer
    header: Mapping[str, Any]
    body: bytes

    @property
    def store(self) -> GraphStore:
        """The store of the owner."""
        return self.server.store

    def answer(self, value: Any = None, body: bytes = b"") -> None:
        """Send the answer."""
        self.peer.send({"ok": value}, body)


def _stream(request: OwnerRequest, parts: Iterable[bytes], *, asked: bool = True) -> None:
    """Send all parts, one each time that the other side requests more, until it sends anything else."""
    for header, body in _chunks(parts):
        if not asked and request.peer.receive().header.get("op") != "next":
            return
        asked = False
        request.peer.send(header, body)


def _chunks(parts: Iterable[bytes]) -> Iterator[tuple[dict[str, object], bytes]]:
    held = bytearray()
    for part in parts:
        held += part
        if len(held) >= protocol_limits.CHUNK_BYTES:
            yield {"more": True}, bytes(held)
            held.clear()
    yield {"end": True}, bytes(held)


def _contains(request: OwnerRequest) -> None:
    request.answer(request.store.contains(wire.one_quad(request.body)))


def _insert(request: OwnerRequest) -> None:
    groups = wire.groups_of(wire.quads_from_bytes(request.body), request.header.get("sizes"))
    request.answer(request.store.insert(groups))


def _remove(request: OwnerRequest) -> None:
    quad, *about = wire.quads_from_bytes(request.body)
    request.answer(request.store.remove(quad, wire.pairs_from_quads(about)))


def _apply(request: OwnerRequest) -> None:
    quads = wire.quads_from_bytes(request.body)
    count = int(request.header["insert"])
    request.answer(request.store.apply(quads[:count], quads[count:]))  # type: ignore[func-returns-value]


def _revision(request: OwnerRequest) -> None:
    request.answer(cast(Revisioned, request.store).revision(wire.nodes_from_bytes(request.body)))


def _apply_at(request: OwnerRequest) -> None:
    asked, quads = request.header, wire.quads_from_bytes(request.body)
    graphs, insert = int(asked["graphs"]), int(asked["graphs"]) + int(asked["insert"])
    nodes = wire.nodes_from_bytes(wire.quads_to_bytes(quads[:graphs]))
    request.answer(
        cast(Revisioned, request.store).apply_at(str(asked["revision"]), nodes, quads[graphs:insert], quads[insert:])
    )


def _match(request: OwnerRequest) -> None:
    pattern = wire.pattern_from_wire(request.header["bound"], request.body)
    page = request.store.match(pattern, request.header["limit"], request.header["cursor"])
    request.answer(page.cursor, wire.lines_to_bytes(page.lines))


def _quads(request: OwnerRequest) -> None:
    quads = request.store.quads(wire.pattern_from_wire(request.header["bound"], request.body))
    _stream(request, (wire.quads_to_bytes(some) for some in _batches(quads)))


def _count(request: OwnerRequest) -> None:
    pattern = wire.pattern_from_wire(request.header["bound"], request.body)
    request.answer(request.store.count(pattern, request.header["ceiling"]))


def _graph_names(request: OwnerRequest) -> None:
    request.answer(None, wire.nodes_to_bytes(request.store.graph_names()))


def _bulk_insert(request: OwnerRequest) -> None:
    request.store.bulk_insert(_uploaded(request.peer))
    request.answer()


def _uploaded(peer: RequestPeer) -> Iterator[Quad]:
    while True:
        peer.send({"next": True})
        try:
            message = peer.receive(protocol_limits.UPLOAD_S)
        except PeerSilent as error:
            raise GraphBusy("an upload stopped, and was abandoned", hint="repeat it") from error
        if message.header.get("op") == "end":
            return
        if message.header.get("op") != "quads":
            raise StreamStopped
        yield from wire.quads_from_bytes(message.body)


def _bulk_load(request: OwnerRequest) -> None:
    (graph,) = wire.nodes_from_bytes(request.body)
    request.store.bulk_load(wire.path_from_wire(request.header["path"]), graph)
    request.answer()


def _query(request: OwnerRequest) -> None:
    asked = request.header
    nodes, default = wire.nodes_from_bytes(request.body), int(asked["default"])
    answer = request.store.query(
        str(asked["text"]),
        Dataset(tuple(nodes[:default]), tuple(nodes[default:])),
        results=wire.format_named(QueryResultsFormat.from_media_type, asked["results"]),
        graphs=wire.format_named(RdfFormat.from_media_type, asked["graphs"]),
        timeout_s=float(asked["timeout_s"]),
        cancel=request.peer,
    )
    with contextlib.closing(answer.chunks) as chunks:
        rows = isinstance(answer.form, QueryResultsFormat)
        request.answer({"rows": rows, "form": answer.form.media_type, "warnings": answer.warnings})
        _stream(request, chunks, asked=False)


def _snapshot(request: OwnerRequest) -> None:
    request.answer(request.store.snapshot(wire.path_from_wire(request.header["folder"])))


def _flush(request: OwnerRequest) -> None:
    request.store.flush()
    request.answer()


def _maintain(request: OwnerRequest) -> None:
    until = float("inf") if request.header["timeout"] < 0 else time.monotonic() + float(request.header["timeout"])
    lock = request.store.maintenance
    while True:
        reclaims = request.header.get("reclaim") is True
        if (reclaims or time.monotonic() >= request.server.grace_until) and lock.acquire(blocking=False):
            break
        if time.monotonic() >= until:
            request.answer(False)
            return
        if request.server.stopping or not request.peer.channel.is_quiet():
            raise StreamStopped
        time.sleep(min(_TRY_AGAIN_S, max(0.0, until - time.monotonic())))
    try:
        request.answer(True)
        request.peer.receive()
    finally:
        lock.release()
    request.answer()


def _batches(quads: Iterable[Quad]) -> Iterator[list[Quad]]:
    """Group quads into small batches by their length, so that little is read in vain."""
    some: list[Quad] = []
    room = protocol_limits.CHUNK_BYTES
    for quad in quads:
        some.append(quad)
        room -= len(str(quad.object)) + 200
        if room < 0:
            yield some
            some, room = [], protocol_limits.CHUNK_BYTES
    yield some


OPERATIONS: Mapping[str, Callable[[OwnerRequest], None]] = MappingProxyType(
    {
        "contains": _contains,
        "insert": _insert,
        "remove": _remove,
        "apply": _apply,
        "revision": _revision,
        "apply_at": _apply_at,
        "match": _match,
        "quads": _quads,
        "count": _count,
        "graph_names": _graph_names,
        "bulk_insert": _bulk_insert,
        "bulk_load": _bulk_load,
        "query": _query,
        "snapshot": _snapshot,
        "flush": _flush,
        "maintain": _maintain,
    }
)
