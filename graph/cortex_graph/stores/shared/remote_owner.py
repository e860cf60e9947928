# ruff: noqa: D102 - the operations are those of `GraphStore`
"""The operations of a store that another process owns.

Rules kept here:
- each operation is one request (`store_operations.py` answers it), on a connection to itself;
- an upload that breaks in its middle is an error that asks to repeat it; one of which nothing was read yet raises
  `ConnectionLost`, as any other request, and is repeated with the next owner. `apply_at` is repeated only when the
  owner did not begin it: it is not idempotent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.cancellation import Cancellation, interruptible
from cortex_graph.exceptions import GraphCorrupt, UnknownOutcome
from cortex_graph.store import Dataset, Page, Pattern, QueryAnswer
from cortex_graph.store_access.cursors import read_cursor
from cortex_graph.stores.shared import protocol_limits, wire
from cortex_graph.stores.shared.channel import Channel, ConnectionLost, Message
from cortex_graph.stores.shared.connections import Connections, NotBegun, Stream

_UPLOAD_QUADS = 1000  # in one part of an upload, or fewer if they are long


class RemoteOwner(Connections):
    """The owner with a record."""

    damage: GraphCorrupt | None = None  # a store that has lost data has no owner

    def contains(self, quad: Quad) -> bool:
        return bool(self._ask({"op": "contains"}, wire.quads_to_bytes([quad])).header["ok"])

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        body = wire.quads_to_bytes(quad for group in groups for quad in group)
        return list(self._ask({"op": "insert", "sizes": [len(group) for group in groups]}, body).header["ok"])

    def remove(self, quad: Quad, about: Sequence[tuple[NamedNode, NamedNode]]) -> bool:
        body = wire.quads_to_bytes([quad]) + wire.pairs_to_bytes(about)
        return bool(self._ask({"op": "remove"}, body).header["ok"])

    def apply(self, insert: Sequence[Quad], remove: Sequence[Quad]) -> None:
        self._ask({"op": "apply", "insert": len(insert)}, wire.quads_to_bytes([*insert, *remove]))

    def revision(self, graphs: Sequence[NamedNode]) -> str:
        return str(self._ask({"op": "revision"}, wire.nodes_to_bytes(graphs)).header["ok"])

    def apply_at(
        self, revision: str, graphs: Sequence[NamedNode], insert: Sequence[Quad], remove: Sequence[Quad]
    ) -> bool:
        header = {"op": "apply_at", "revision": revision, "graphs": len(graphs), "insert": len(insert)}
        body = wire.nodes_to_bytes(graphs) + wire.quads_to_bytes([*insert, *remove])
        with self.talk() as channel:
            channel.send(header, body)
            try:
                return bool(self.receive(channel).header["ok"])
            except NotBegun:
                raise
            except ConnectionLost:  # the next owner would report that the graphs have changed, even by this change
                raise self.broken("a change", "see whether it was made before you repeat it", UnknownOutcome) from None

    def match(self, pattern: Pattern, limit: int, cursor: str | None) -> Page:
        if cursor is not None:
            read_cursor(pattern, cursor)  # refuses text that cannot be sent
        bound, body = wire.pattern_to_wire(pattern)
        answer = self._ask({"op": "match", "bound": bound, "limit": limit, "cursor": cursor}, body)
        return Page.of(pattern.graph, wire.quads_from_bytes(answer.body), answer.header["ok"])

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`; asks at once."""
        bound, body = wire.pattern_to_wire(pattern)
        return self._parsed(self._begin({"op": "quads", "bound": bound}, body))

    def count(self, pattern: Pattern, ceiling: int | None) -> int:
        bound, body = wire.pattern_to_wire(pattern)
        return int(self._ask({"op": "count", "bound": bound, "ceiling": ceiling}, body).header["ok"])

    def graph_names(self) -> list[NamedNode]:
        return wire.nodes_from_bytes(self._ask({"op": "graph_names"}).body)

    def bulk_insert(self, quads: Iterator[Quad]) -> None:
        begun = False
        with self.talk() as channel:
            channel.send({"op": "bulk_insert"})
            try:
                while "next" in self.receive(channel).header:
                    begun = True
                    part = wire.quads_to_bytes(_some(quads))
                    channel.send({"op": "quads"} if part else {"op": "end"}, part)
            except ConnectionLost:
                if begun:
                    raise self.broken("an upload") from None
                raise

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        self._ask({"op": "bulk_load", "path": wire.path_to_wire(path)}, wire.nodes_to_bytes([graph]))

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat,
        graphs: RdfFormat,
        timeout_s: float,
        cancel: Cancellation | None = None,
    ) -> QueryAnswer:
        asked = {
            "op": "query",
            "text": text,
            "default": len(dataset.default),
            "results": results.media_type,
            "graphs": graphs.media_type,
            "timeout_s": timeout_s,
        }
        with self.talk(keep=False) as channel, interruptible(cancel, channel.cut):
            channel.send(asked, wire.nodes_to_bytes([*dataset.default, *dataset.named]))
            found = self.receive(channel).header["ok"]
        form: QueryResultsFormat | RdfFormat = (
            wire.format_named(QueryResultsFormat.from_media_type, found["form"])
            if found["rows"]
            else wire.format_named(RdfFormat.from_media_type, found["form"])
        )
        return QueryAnswer(form, Stream(self, channel, None, cancel), tuple(found.get("warnings", ())))

    def snapshot(self, folder: Path) -> bool:
        return bool(self._ask({"op": "snapshot", "folder": wire.path_to_wire(folder)}).header["ok"])

    def flush(self) -> None:
        self._ask({"op": "flush"})

    def maintain(self, timeout_s: float, *, reclaim: bool) -> Channel | None:
        """Acquire the maintenance lock, which is held while the returned connection is open; None when it is not free.

        Args:
            timeout_s: the time to wait for it, in seconds; negative for no limit.
            reclaim: whether it was held when the last owner ended.
        """
        with self.talk(keep=False) as channel:
            channel.send({"op": "maintain", "timeout": timeout_s, "reclaim": reclaim})
            if self.receive(channel).header["ok"]:
                return channel
            self.keep(channel)
            return None

    def _begin(self, header: dict[str, Any], body: bytes) -> Stream:
        with self.talk(keep=False) as channel:
            channel.send(header, body)
            return Stream(self, channel, self.receive(channel))

    def _parsed(self, stream: Stream) -> Iterator[Quad]:
        with contextlib.closing(stream):
            for chunk in stream:
                yield from wire.quads_from_bytes(chunk)

    def _ask(self, header: dict[str, Any], body: bytes = b"") -> Message:
        with self.talk() as channel:
            channel.send(header, body)
            return self.receive(channel)


def _some(quads: Iterator[Quad]) -> list[Quad]:
    """Return the next part of an upload; empty at its end."""
    some: list[Quad] = []
    room = protocol_limits.CHUNK_BYTES * 8
    for quad in islice(quads, _UPLOAD_QUADS):
        some.append(quad)
        room -= len(str(quad.object)) + 200
        if room < 0:
            break
    return some
