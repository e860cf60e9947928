"""What another process can ask of the owner: one function for each operation of a `GraphStore`.

Rules kept here:
- a simple operation answers once: `{"ok": value}` and a body;
- a stream answers in chunks, each but the last with `{"more": true}`, and goes on at `{"op": "next"}`; at anything else
  it is closed, and so is what it came from;
- an upload is asked for part by part with `{"next": true}`;
- the maintenance lock is held until its holder says otherwise, or its connection ends.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pyoxigraph import Quad, QueryResultsFormat, RdfFormat

from cortex_graph.errors import GraphBusy
from cortex_graph.store import Dataset, GraphStore, Revisioned
from cortex_graph.stores.shared import limits, wire
from cortex_graph.stores.shared.channel import Silent

if TYPE_CHECKING:
    from cortex_graph.stores.shared.serving import Peer, Server

_TRY_AGAIN_S = 0.2


class Stopped(Exception):
    """The other side wants no more of a stream, or gives up an upload."""


class Given(NamedTuple):
    """A request: to whom, by whom, with what."""

    server: Server
    peer: Peer
    header: Mapping[str, Any]
    body: bytes

    @property
    def store(self) -> GraphStore:
        """What is asked."""
        return self.server.store

    def answer(self, value: Any = None, body: bytes = b"") -> None:
        """Answer it."""
        self.peer.say({"ok": value}, body)


def _stream(given: Given, parts: Iterable[bytes], *, asked: bool = True) -> None:
    """Send all parts, a chunk each time that the other side asks for more, until it says anything else."""
    for header, body in _chunks(parts):
        if not asked and given.peer.hear().header.get("op") != "next":
            return
        asked = False
        given.peer.say(header, body)


def _chunks(parts: Iterable[bytes]) -> Iterator[tuple[dict[str, object], bytes]]:
    held = bytearray()
    for part in parts:
        held += part
        if len(held) >= limits.CHUNK_BYTES:
            yield {"more": True}, bytes(held)
            held.clear()
    yield {"end": True}, bytes(held)


def _contains(given: Given) -> None:
    given.answer(given.store.contains(wire.one_quad(given.body)))


def _insert(given: Given) -> None:
    groups = wire.groups_of(wire.quads_from_bytes(given.body), given.header.get("sizes"))
    given.answer(given.store.insert(groups))


def _remove(given: Given) -> None:
    quad, *about = wire.quads_from_bytes(given.body)
    given.answer(given.store.remove(quad, wire.pairs_from_quads(about)))


def _apply(given: Given) -> None:
    quads = wire.quads_from_bytes(given.body)
    count = int(given.header["insert"])
    given.answer(given.store.apply(quads[:count], quads[count:]))  # type: ignore[func-returns-value]


def _revision(given: Given) -> None:
    given.answer(cast(Revisioned, given.store).revision(wire.nodes_from_bytes(given.body)))


def _apply_at(given: Given) -> None:
    asked, quads = given.header, wire.quads_from_bytes(given.body)
    graphs, insert = int(asked["graphs"]), int(asked["graphs"]) + int(asked["insert"])
    nodes = wire.nodes_from_bytes(wire.quads_to_bytes(quads[:graphs]))
    given.answer(
        cast(Revisioned, given.store).apply_at(str(asked["revision"]), nodes, quads[graphs:insert], quads[insert:])
    )


def _match(given: Given) -> None:
    pattern = wire.pattern_from_wire(given.header["bound"], given.body)
    page = given.store.match(pattern, given.header["limit"], given.header["cursor"])
    given.answer(page.cursor, wire.lines_to_bytes(page.lines))


def _quads(given: Given) -> None:
    quads = given.store.quads(wire.pattern_from_wire(given.header["bound"], given.body))
    _stream(given, (wire.quads_to_bytes(some) for some in _batches(quads)))


def _count(given: Given) -> None:
    pattern = wire.pattern_from_wire(given.header["bound"], given.body)
    given.answer(given.store.count(pattern, given.header["ceiling"]))


def _graph_names(given: Given) -> None:
    given.answer(None, wire.nodes_to_bytes(given.store.graph_names()))


def _bulk_insert(given: Given) -> None:
    given.store.bulk_insert(_uploaded(given.peer))
    given.answer()


def _uploaded(peer: Peer) -> Iterator[Quad]:
    while True:
        peer.say({"next": True})
        try:
            message = peer.hear(limits.UPLOAD_S)
        except Silent as error:
            raise GraphBusy("an upload did not go on, and was given up", hint="do it again") from error
        if message.header.get("op") == "end":
            return
        if message.header.get("op") != "quads":
            raise Stopped
        yield from wire.quads_from_bytes(message.body)


def _bulk_load(given: Given) -> None:
    (graph,) = wire.nodes_from_bytes(given.body)
    given.store.bulk_load(wire.path_from_wire(given.header["path"]), graph)
    given.answer()


def _query(given: Given) -> None:
    asked = given.header
    nodes, default = wire.nodes_from_bytes(given.body), int(asked["default"])
    answer = given.store.query(
        str(asked["text"]),
        Dataset(tuple(nodes[:default]), tuple(nodes[default:])),
        results=wire.format_named(QueryResultsFormat.from_media_type, asked["results"]),
        graphs=wire.format_named(RdfFormat.from_media_type, asked["graphs"]),
        timeout_s=float(asked["timeout_s"]),
        stop=given.peer,
    )
    with contextlib.closing(answer.chunks) as chunks:
        rows = isinstance(answer.form, QueryResultsFormat)
        given.answer({"rows": rows, "form": answer.form.media_type})
        _stream(given, chunks, asked=False)


def _snapshot(given: Given) -> None:
    given.answer(given.store.snapshot(wire.path_from_wire(given.header["folder"])))


def _flush(given: Given) -> None:
    given.store.flush()
    given.answer()


def _maintain(given: Given) -> None:
    until = float("inf") if given.header["timeout"] < 0 else time.monotonic() + float(given.header["timeout"])
    lock = given.store.maintenance
    while True:
        reclaims = given.header.get("reclaim") is True
        if (reclaims or time.monotonic() >= given.server.grace_until) and lock.acquire(blocking=False):
            break
        if time.monotonic() >= until:
            given.answer(False)
            return
        if given.server.stopping or not given.peer.channel.is_quiet():
            raise Stopped
        time.sleep(min(_TRY_AGAIN_S, max(0.0, until - time.monotonic())))
    try:
        given.answer(True)
        given.peer.hear()
    finally:
        lock.release()
    given.answer()


def _batches(quads: Iterable[Quad]) -> Iterator[list[Quad]]:
    """Some at a time: few enough that little is read in vain, by their length."""
    some: list[Quad] = []
    room = limits.CHUNK_BYTES
    for quad in quads:
        some.append(quad)
        room -= len(str(quad.object)) + 200
        if room < 0:
            yield some
            some, room = [], limits.CHUNK_BYTES
    yield some


OPERATIONS: Mapping[str, Callable[[Given], None]] = MappingProxyType(
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
