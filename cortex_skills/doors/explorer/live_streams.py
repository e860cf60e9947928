"""What was written to the namespaces whose pages are live, and who has such pages open.

Rules kept here:
- the store and the journal are asked once in `LOOK_S` for all streams of a namespace, and have what any process wrote;
- a reader has at most `OF_READER` streams, all together `IN_ALL`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from cortex_graph.exceptions import GraphError
from cortex_graph.store import Following
from cortex_skills.doors.http.service import Service

LOOK_S = 2.0
OF_READER = 8
IN_ALL = 256


@dataclass(frozen=True, slots=True)
class WrittenSoFar:
    """What was written until now.

    Attributes:
        graph: how often the graph of the namespace was found changed.
        audit: the id of the latest record.
        position: in the changes of the store.
    """

    graph: int = 0
    audit: str = ""
    position: str = ""


class LiveStreams:
    """The streams of a server, and what their namespaces have had written to them; used from its event loop."""

    def __init__(self) -> None:
        self._open = Counter[str]()
        self._seen: dict[str, tuple[float, WrittenSoFar]] = {}
        self._looking = asyncio.Lock()

    def has_room(self, reader: str) -> bool:
        """Whether a reader may have another stream."""
        return self._open[reader] < OF_READER and self._open.total() < IN_ALL

    @contextmanager
    def entered(self, reader: str) -> Iterator[None]:
        """Count a stream while the block runs."""
        self._open[reader] += 1
        try:
            yield
        finally:
            self._open[reader] -= 1
            self._open += Counter()  # forget those without a stream
            if not self._open:
                self._seen.clear()

    def __len__(self) -> int:
        """How many streams are open."""
        return self._open.total()

    async def seen(self, service: Service, namespace: str) -> WrittenSoFar:
        """What was written to a namespace until about now."""
        async with self._looking:
            at, last = self._seen.get(namespace, (0.0, WrittenSoFar()))
            if at and time.monotonic() - at < LOOK_S:
                return last
            last = await service.pools["quick"].run(partial(_look, service, namespace, last))
            self._seen[namespace] = (time.monotonic(), last)
            return last


def _look(service: Service, namespace: str, last: WrittenSoFar) -> WrittenSoFar:
    graph, audit = service.graph(namespace), service.plugin.audit
    try:
        if isinstance(graph.store, Following):
            changes = graph.store.changes_since(last.position)
            subjects = changes.of(graph.names.graph)
            is_changed = subjects is None or len(subjects) > 0
            last = replace(last, position=changes.position, graph=last.graph + is_changed)
        latest = audit.calls.page(limit=1).calls
        return replace(last, audit=latest[0].id if latest else "")
    except GraphError:
        return last
