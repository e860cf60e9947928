# ruff: noqa: D102 - the operations are those of `GraphStore`
"""The store of a data folder that several processes may open.

Rules kept here:
- all stores of one folder in a process share one membership in it, for every path of it; closing or
  collecting the last one ends the membership;
- a call whose owner has ended is repeated with the next owner: repeating it is harmless. After a takeover `insert` may
  return False for what it wrote itself, and `remove` for what it removed, when the previous owner ended before its
  answer. `apply_at` is not repeated: it fails then;
- arguments that can be read only once are read before the first attempt; an upload is repeated only while nothing of it
  was read;
- after a fork the stores of the child are clients of the owner, also those of a parent that is the owner;
- a process that ends answers the requests that other processes have begun.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphCorrupt, GraphUnavailable
from cortex_graph.store import Changes, Dataset, GraphStore, Maintenance, Page, Pattern, QueryAnswer
from cortex_graph.stores.change_reader import ChangeReader
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.engine_folder import prepare
from cortex_graph.stores.shared.election import FolderMember
from cortex_graph.stores.shared.forking import end_without_destructors
from cortex_graph.stores.shared.maintenance import Owner, OwnerFinder
from cortex_graph.stores.shared.read_only import ReadOnlyStore

_IN_MEMORY = OxigraphStore()  # has the literals of every Oxigraph store


class SharedStore:
    """A store, until it is closed. Its operations are those of the owner of its folder."""

    bulk_is_atomic = True
    keeps_order = True

    def __init__(self, membership: _Membership) -> None:
        self._finder: OwnerFinder = membership.member
        self._membership: _Membership | None = membership
        self.folder = membership.folder
        self._reader = ChangeReader(membership.folder)
        self._collected = weakref.finalize(self, _release_collected, membership)
        self._collected.atexit = False

    @property
    def maintenance(self) -> Maintenance:
        return self._finder.maintenance

    @property
    def is_read_only(self) -> bool:
        return self._finder.with_owner(lambda owner: isinstance(owner, ReadOnlyStore))

    @property
    def damage(self) -> GraphCorrupt | None:
        return self._finder.with_owner(lambda owner: owner.damage)

    def contains(self, quad: Quad) -> bool:
        return self._finder.with_owner(lambda owner: owner.contains(quad))

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        return self._finder.with_owner(lambda owner: owner.insert(groups))

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        pairs = list(about)
        return self._finder.with_owner(lambda owner: owner.remove(quad, pairs))

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        inserted, removed = list(insert), list(remove)
        self._finder.with_owner(lambda owner: owner.apply(inserted, removed))

    def revision(self, graphs: Iterable[NamedNode]) -> str:
        nodes = list(graphs)
        return self._finder.with_owner(lambda owner: owner.revision(nodes))

    def changes_since(self, position: str) -> Changes:
        """See `Following`. From the files of the folder, which the owner writes."""
        self._finder.with_owner(bool)
        return self._reader.since(position)

    def apply_at(self, revision: str, graphs: Iterable[NamedNode], insert: list[Quad], remove: list[Quad]) -> bool:
        """See `Revisioned`. No revision is valid after a takeover."""
        nodes = list(graphs)
        return self._finder.with_owner(lambda owner: owner.apply_at(revision, nodes, insert, remove))

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        return self._finder.with_owner(lambda owner: owner.match(pattern, limit, cursor))

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        return self._finder.with_owner(lambda owner: owner.quads(pattern))

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        return self._finder.with_owner(lambda owner: owner.count(pattern, ceiling))

    def graph_names(self) -> list[NamedNode]:
        return self._finder.with_owner(lambda owner: owner.graph_names())

    def as_stored(self, literal: Literal) -> Literal:
        if self._membership is None:
            self._finder.with_owner(bool)
        return _IN_MEMORY.as_stored(literal)

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        unread = iter(quads)
        self._finder.with_owner(lambda owner: owner.bulk_insert(unread))

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        self._finder.with_owner(lambda owner: owner.bulk_load(path, graph))

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
        cancel: Cancellation | None = None,
    ) -> QueryAnswer:
        return self._finder.with_owner(
            lambda owner: owner.query(text, dataset, results=results, graphs=graphs, timeout_s=timeout_s, cancel=cancel)
        )

    def snapshot(self, folder: Path) -> bool:
        return self._finder.with_owner(lambda owner: owner.snapshot(folder))

    def flush(self) -> None:
        self._finder.with_owner(lambda owner: owner.flush())

    def close(self) -> None:
        if self._collected.detach() is not None and (membership := self._membership) is not None:
            self._membership, self._finder = None, _Closed(membership.folder)
            with _registry_lock:
                membership.release()


class _Membership:
    """The membership of this process in one folder, and the number of its stores."""

    def __init__(self, folder: Path, key: tuple[int, int]) -> None:
        self.folder = folder
        self.users = 0
        self.member = FolderMember(folder)
        self._key = key

    def release(self, *, wait: bool = True) -> bool:
        """Subtract one store, while the registry is locked; returns False when that would have to wait."""
        if self.users == 1:
            if not self.member.leave(wait=wait):
                return False
            _registry.pop(self._key, None)
        self.users -= 1
        return True


class _Closed:
    """The owner finder of a closed store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def maintenance(self) -> NoReturn:
        raise GraphUnavailable(f"the store in {self._folder} is closed", hint="open it again")

    def with_owner(self, work: Callable[[Owner], object], /) -> NoReturn:  # noqa: ARG002
        raise GraphUnavailable(f"the store in {self._folder} is closed", hint="open it again")


_registry: dict[tuple[int, int], _Membership] = {}
_registry_lock = threading.Lock()


def open_shared(folder: Path) -> GraphStore:
    """Open the store in a folder, which other processes may have open.

    Raises:
        StoreLocked: another program has the folder open.
        GraphBusy: the owner of the folder does not answer.
        GraphUnavailable: the folder cannot be used.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - the process may change its working directory later
    prepare(folder)
    status = folder.stat()
    with _registry_lock:
        key = (status.st_dev, status.st_ino)
        membership = _registry.setdefault(key, _Membership(folder, key))
        membership.users += 1
    store = SharedStore(membership)
    try:
        membership.member.with_owner(lambda owner: owner)
    except BaseException:
        store.close()
        raise
    return store


def _release_collected(membership: _Membership) -> None:
    """Release the membership of a collected store. The collector may run anywhere, so no lock is waited for."""
    if _registry_lock.acquire(blocking=False):
        try:
            if membership.release(wait=False):
                return
        finally:
            _registry_lock.release()
    threading.Thread(target=_release_later, args=(membership,), name="cortex-graph-release").start()


def _release_later(membership: _Membership) -> None:
    with _registry_lock:
        membership.release()


@atexit.register
def _retire() -> None:
    for membership in list(_registry.values()):
        membership.member.retire()


def _after_fork() -> None:
    global _registry_lock
    _registry_lock = threading.Lock()
    for membership in _registry.values():
        membership.member.after_fork()
    end_without_destructors()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
