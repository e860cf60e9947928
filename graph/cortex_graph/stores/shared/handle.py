"""What `open_store` answers for a folder.

Rules kept here:
- all that open one folder in a process share one part in it, whatever they call the folder; the last that is closed, or
  forgotten, lets go of it;
- where this process is the owner, a call goes to the store itself: nothing stands between;
- after a fork the child's handles are clients, whatever the parent's were;
- a process that ends answers what other processes have begun.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, cast

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.errors import GraphUnavailable
from cortex_graph.stopping import Stop
from cortex_graph.store import Answer, Dataset, GraphStore, Maintenance, Page, Pattern, Revisioned
from cortex_graph.stores.embedded import OxigraphStore, prepare
from cortex_graph.stores.shared.client import Client
from cortex_graph.stores.shared.forking import end_without_destructors
from cortex_graph.stores.shared.member import Member


class Handle:
    """A store for as long as nobody closes it; `GraphStore` says what each operation does."""

    bulk_is_atomic = True
    keeps_order = True

    def __init__(self, shared: Shared) -> None:
        self._shared: Shared | _Closed = shared
        self._forgotten = weakref.finalize(self, _forget, shared)
        self._forgotten.atexit = False

    @property
    def maintenance(self) -> Maintenance:
        """See `GraphStore`."""
        return self._shared.maintenance

    def contains(self, quad: Quad) -> bool:
        """See `GraphStore`."""
        return self._shared.store.contains(quad)

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """See `GraphStore`."""
        return self._shared.store.insert(groups)

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        """See `GraphStore`."""
        return self._shared.store.remove(quad, about)

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        """See `GraphStore`."""
        self._shared.store.apply(insert, remove)

    def revision(self, graphs: Iterable[NamedNode]) -> str:
        """See `Revisioned`."""
        return cast(Revisioned, self._shared.store).revision(graphs)

    def apply_at(self, revision: str, graphs: Iterable[NamedNode], insert: list[Quad], remove: list[Quad]) -> bool:
        """See `Revisioned`."""
        return cast(Revisioned, self._shared.store).apply_at(revision, graphs, insert, remove)

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        """See `GraphStore`."""
        return self._shared.store.match(pattern, limit, cursor)

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`."""
        yield from self._shared.store.quads(pattern)

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """See `GraphStore`."""
        return self._shared.store.count(pattern, ceiling)

    def graph_names(self) -> list[NamedNode]:
        """See `GraphStore`."""
        return self._shared.store.graph_names()

    def as_stored(self, literal: Literal) -> Literal:
        """See `GraphStore`."""
        return self._shared.store.as_stored(literal)

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """See `GraphStore`."""
        self._shared.store.bulk_insert(quads)

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """See `GraphStore`."""
        self._shared.store.bulk_load(path, graph)

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
        stop: Stop | None = None,
    ) -> Answer:
        """See `GraphStore`."""
        return self._shared.store.query(text, dataset, results=results, graphs=graphs, timeout_s=timeout_s, stop=stop)

    def snapshot(self, folder: Path) -> bool:
        """See `GraphStore`."""
        return self._shared.store.snapshot(folder)

    def flush(self) -> None:
        """See `GraphStore`."""
        self._shared.store.flush()

    def close(self) -> None:
        """See `GraphStore`."""
        if self._forgotten.detach() is not None:
            shared, self._shared = self._shared, _Closed(self._shared.folder)
            assert isinstance(shared, Shared)  # noqa: S101 - what was not closed yet is open
            with _registry_lock:
                shared.release()


class Shared:
    """What the handles of one folder share.

    Attributes:
        store: what answers: the store itself where this process owns it, else a client of its owner.

    """

    def __init__(self, folder: Path, key: tuple[int, int]) -> None:
        self.folder = folder
        self.users = 0
        self.member = Member(folder, self._change)
        self._key = key
        self._client = Client(self.member)
        self.store: GraphStore = self._client

    @property
    def maintenance(self) -> Maintenance:
        """See `GraphStore`."""
        return self.member.maintenance

    def release(self, *, wait: bool = True) -> bool:
        """One handle less; the registry is locked. Answer whether that is done: without waiting it may not be."""
        if self.users == 1:
            if not self.member.leave(wait=wait):
                return False
            _registry.pop(self._key, None)
        self.users -= 1
        return True

    def _change(self, own: OxigraphStore | None) -> None:
        self.store = self._client if own is None else own


class _Closed:
    """Stands where a store was."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def store(self) -> NoReturn:
        """Nothing is left."""
        raise GraphUnavailable(f"the store in {self.folder} is closed", hint="open it again")

    maintenance = store


_registry: dict[tuple[int, int], Shared] = {}
_registry_lock = threading.Lock()


def open_shared(folder: Path) -> GraphStore:
    """Open the store in a folder, which other processes may have open.

    Raises:
        StoreLocked: something that is none of ours has it open.
        GraphBusy: the process that has it open does not answer.
        GraphUnavailable: the folder cannot be used.

    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - wherever the process goes later
    prepare(folder)
    told = folder.stat()
    with _registry_lock:
        key = (told.st_dev, told.st_ino)
        shared = _registry.setdefault(key, Shared(folder, key))
        shared.users += 1
    handle = Handle(shared)
    try:
        shared.member.with_owner(lambda owner: owner)
    except BaseException:
        handle.close()
        raise
    return handle


def _forget(shared: Shared) -> None:
    """A handle that nobody has any more. This may come anywhere, so that no lock may be waited for here."""
    if _registry_lock.acquire(blocking=False):
        try:
            if shared.release(wait=False):
                return
        finally:
            _registry_lock.release()
    threading.Thread(target=_forget_later, args=(shared,), name="cortex-graph-forget").start()


def _forget_later(shared: Shared) -> None:
    with _registry_lock:
        shared.release()


@atexit.register
def _retire() -> None:
    for shared in list(_registry.values()):
        shared.member.retire()


def _forked() -> None:
    global _registry_lock
    _registry_lock = threading.Lock()
    for shared in _registry.values():
        shared.member.forked()
    end_without_destructors()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
