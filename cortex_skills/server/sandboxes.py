"""Parts of a namespace for trying a skill out, which go away by themselves.

Rules kept here:
- a sandbox is the names of a namespace that begin with `NS:sandbox-ID`: it opens nothing that was not open before;
- it ends when it is deleted, when its time is over, and when the server ends; then every triple about one of its names
  is deleted, with its record;
- there are so many at once, and no more.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass

from cortex_graph import NamespacedGraph
from cortex_skills.server.errors import HttpError

MAX_SANDBOXES = 256
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox: its id, the namespace that it is in, and when it ends (of `time.monotonic`)."""

    id: str
    namespace: str
    ends: float

    @property
    def prefix(self) -> str:
        """What its names begin with."""
        return f"{self.namespace}:{self.id}"


class Sandboxes:
    """The sandboxes that there are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandboxes: dict[str, Sandbox] = {}

    def create(self, namespace: str, lifetime_s: float) -> Sandbox:
        """A new sandbox.

        Raises:
            HttpError: `server_busy`: there are too many.

        """
        sandbox = Sandbox(f"sandbox-{secrets.token_hex(16)}", namespace, time.monotonic() + lifetime_s)
        with self._lock:
            if len(self._sandboxes) >= MAX_SANDBOXES:
                raise HttpError("server_busy", "there are too many sandboxes", hint="delete one that is not needed")
            self._sandboxes[sandbox.id] = sandbox
        return sandbox

    def find(self, sandbox_id: str) -> Sandbox | None:
        """The sandbox of an id, if this server made it."""
        with self._lock:
            return self._sandboxes.get(sandbox_id)

    def forget(self, sandbox_id: str) -> None:
        """Let go of a sandbox; its triples are `empty`'s affair."""
        with self._lock:
            self._sandboxes.pop(sandbox_id, None)

    def ended(self, *, everything: bool = False) -> list[Sandbox]:
        """The sandboxes whose time is over, or all of them."""
        now = time.monotonic()
        with self._lock:
            return [sandbox for sandbox in self._sandboxes.values() if everything or sandbox.ends <= now]


def empty(graph: NamespacedGraph, sandbox_id: str) -> int:
    """Delete every triple about a name of a sandbox; returns how many there were. The id is well-formed.

    Raises:
        QueryTimeout: they could not be found in time.

    """
    from cortex_skills.server.queries import select

    start = graph.names.node(f"{graph.namespace}:{sandbox_id}").value
    condition = f'?s = <{start}> || STRSTARTS(STR(?s), "{start}:")'
    query = f"SELECT DISTINCT ?s {{ ?s ?p ?o FILTER({condition}) }} LIMIT {_BATCH}"
    deleted = 0
    while rows := select(graph, query):
        before = deleted
        for row in rows:
            pattern = {"subject": f"<{row['s']['value']}>", "limit": 1000}
            while found := graph.list_triples(pattern)["triples"]:
                gone = sum(graph.delete_triple(triple["id"]) for triple in found)
                deleted += gone
                if not gone:
                    break
        if deleted == before:  # somebody else deletes them, too
            break
    return deleted
