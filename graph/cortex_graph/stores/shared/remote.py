"""One owner, as another process asks it.

Rules kept here:
- each operation is one request (`operations.py` answers it), on a connection to itself;
- an upload that breaks in its middle is an error that says to do it again; one of which nothing was read yet is `Lost`,
  as any other request, and made again with the next owner. `apply_at` alone is not: made twice, it is not as good as
  made once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.cursors import read_cursor
from cortex_graph.stopping import Stop, waiting
from cortex_graph.store import Answer, Dataset, Page, Pattern
from cortex_graph.stores.shared import limits, wire
from cortex_graph.stores.shared.channel import Channel, Lost, Message
from cortex_graph.stores.shared.connections import Connections, Stream

_UPLOAD_QUADS = 1000  # of one part of an upload, unless they are long


class Remote(Connections):
    """The owner of a record; `GraphStore` says what each operation does."""

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
        with self.talk() as channel:
            channel.send(header, body)
            try:
                return bool(self.heard(channel).header["ok"])
            except Lost:  # the next owner would answer that the graphs have changed, were it by this very change
                raise self.broken("a change", "see whether it was made before you make it again") from None

    def match(self, pattern: Pattern, limit: int, cursor: str | None) -> Page:
        """See `GraphStore`."""
        if cursor is not None:
            read_cursor(pattern, cursor)  # which refuses what could not be sent
        bound, body = wire.pattern_to_wire(pattern)
        said = self._ask({"op": "match", "bound": bound, "limit": limit, "cursor": cursor}, body)
        return Page.of(pattern.graph, wire.quads_from_bytes(said.body), said.header["ok"])

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
        with self.talk() as channel:
            channel.send({"op": "bulk_insert"})
            try:
                while "next" in self.heard(channel).header:
                    begun = True
                    part = wire.quads_to_bytes(_some(quads))
                    channel.send({"op": "quads"} if part else {"op": "end"}, part)
            except Lost:
                if begun:
                    raise self.broken("what was uploaded to it") from None
                raise

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """See `GraphStore`."""
        self._ask({"op": "bulk_load", "path": wire.path_to_wire(path)}, wire.nodes_to_bytes([graph]))

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat,
        graphs: RdfFormat,
        timeout_s: float,
        stop: Stop | None = None,
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
        with self.talk(keep=False) as channel, waiting(stop, channel.cut):
            channel.send(asked, wire.nodes_to_bytes([*dataset.default, *dataset.named]))
            said = self.heard(channel).header["ok"]
        form: QueryResultsFormat | RdfFormat = (
            wire.format_named(QueryResultsFormat.from_media_type, said["form"])
            if said["rows"]
            else wire.format_named(RdfFormat.from_media_type, said["form"])
        )
        return Answer(form, Stream(self, channel, None, stop))

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
        with self.talk(keep=False) as channel:
            channel.send({"op": "maintain", "timeout": timeout_s, "reclaim": reclaim})
            if self.heard(channel).header["ok"]:
                return channel
            self.keep(channel)
            return None

    def _begin(self, header: dict[str, Any], body: bytes) -> Stream:
        with self.talk(keep=False) as channel:
            channel.send(header, body)
            return Stream(self, channel, self.heard(channel))

    def _parsed(self, stream: Stream) -> Iterator[Quad]:
        with contextlib.closing(stream):
            for chunk in stream:
                yield from wire.quads_from_bytes(chunk)

    def _ask(self, header: dict[str, Any], body: bytes = b"") -> Message:
        with self.talk() as channel:
            channel.send(header, body)
            return self.heard(channel)


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
