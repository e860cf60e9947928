"""Copies of a store for the processes that evaluate queries.

Rules kept here:
- a query sees every write that was answered before it: a copy is fresh for some graphs if none of them was written to
  since the copy was begun, or if the changes since then are known (`recent_changes.py`). The process that reads the
  copy makes these changes in a copy of its own, so that not each query after a write copies the store;
- concurrent queries share a copy, which is used until it is stale, and removed when its last query has ended;
- copies are in a folder that only this user can read, and are removed with the store.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pyoxigraph import NamedNode

from cortex_graph.sparql.query_worker import OF_PROCESS
from cortex_graph.sparql.recent_changes import Change, RecentChanges

_MAX_COPIES = 8  # of different sets of graphs


class Revisions:
    """The last write to each graph, as a count of writes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._name = uuid.uuid4().hex
        self._now = 0
        self._all = 0
        self._graphs: dict[str, int] = {}
        self._changes = RecentChanges()

    def copied(self) -> int:
        """Return the number of writes, of which a copy that is begun now has all; later ones are kept."""
        with self._lock:
            self._changes.begin(self._now)
            return self._now

    def changes_between(self, number: int, last: int) -> Sequence[Change] | None:
        """Return the changes of the writes after one, up to a last one; None when some of them are not known."""
        with self._lock:
            found = self._changes.after(number)
        return None if found is None else found[: last - number]

    def wrote(self, graphs: Iterable[NamedNode] | None, change: Change | None = None) -> None:
        """Record a write to some graphs, to any when None; called before the write is answered.

        Args:
            graphs: that it may have changed.
            change: what it changed; None when that is not known.

        """
        with self._lock:
            self._now += 1
            self._changes.add(self._now, change)
            if graphs is None:
                self._all = self._now
            else:
                self._graphs.update(dict.fromkeys((graph.value for graph in graphs), self._now))

    def name(self, graphs: Iterable[NamedNode]) -> str:
        """Return an identifier of the last write to any of these graphs; unique to this process."""
        return f"{self._name}-{self.of(graphs)}"

    def of(self, graphs: Iterable[NamedNode]) -> int:
        """Return the number of the last write to any of these graphs."""
        with self._lock:
            return max([self._all, *[self._graphs.get(graph.value, 0) for graph in graphs]])


@dataclass(eq=False)
class Snapshot:
    """A copy, the write up to which it is fresh, and the number of its queries."""

    path: Path
    revision: int
    users: int = 0
    current: bool = True


@dataclass(frozen=True)
class Lease:
    """A copy for one query, and the changes after it up to the last one of its graphs, one for each write.

    Later writes, to graphs that the query may not see, make it no slower.
    """

    snapshot: Snapshot
    changes: Sequence[Change] = ()


class SnapshotCache:
    """The copies of one store.

    Args:
        revisions: the writes to the store.
        folder: returns the folder of the copies; called with the first copy.
        take: writes a copy of some graphs, or of more, to a new path.
        per_graphs: whether a copy has only the requested graphs.
    """

    def __init__(
        self,
        revisions: Revisions,
        folder: Callable[[], Path],
        take: Callable[[Path, frozenset[NamedNode]], None],
        *,
        per_graphs: bool,
    ) -> None:
        self._revisions = revisions
        self._make_folder = folder
        self._take = take
        self._per_graphs = per_graphs
        self._folder: Path | None = None
        self._forgotten: weakref.finalize[..., SnapshotCache] | None = None
        self._owner = os.getpid()
        self._making = threading.Lock()
        self._lock = threading.Lock()
        self._current: dict[frozenset[NamedNode], Snapshot] = {}
        self._numbers = count(1)

    def lease(self, graphs: frozenset[NamedNode]) -> Lease:
        """Return a copy that is fresh for some graphs, with the changes that make it so; the caller releases it."""
        if self._owner != os.getpid():  # in a fork; the copies belong to the parent
            self._owner, self._folder = os.getpid(), None
            self._current = {key: copy for key, copy in self._current.items() if copy.revision == sys.maxsize}
            self._making, self._lock = threading.Lock(), threading.Lock()
        key = graphs if self._per_graphs else frozenset()
        needed = self._revisions.of(graphs)
        if (found := self._fresh(key, needed)) is None:
            with self._making:
                if (found := self._fresh(key, needed)) is None:
                    found = Lease(self._make(key, graphs))
        return found

    def use(self, copy: Path) -> None:
        """Use a copy of all graphs that is always fresh, and is not removed."""
        self._per_graphs = False
        self._current[frozenset()] = Snapshot(copy.resolve(), sys.maxsize)

    def release(self, lease: Lease) -> None:
        """Release a copy."""
        snapshot = lease.snapshot
        with self._lock:
            snapshot.users -= 1
            gone = not snapshot.users and not snapshot.current
        if gone:
            _remove(snapshot.path)

    def close(self) -> None:
        """Remove all copies; those in use are removed by their readers."""
        with self._lock:
            self._current.clear()
            folder, self._folder = self._folder, None
        if self._forgotten is not None:  # the next store of the folder uses a folder of the same name
            self._forgotten.detach()
        if folder is not None and self._owner == os.getpid():
            _remove(folder)

    def _fresh(self, key: frozenset[NamedNode], needed: int) -> Lease | None:
        with self._lock:
            found = self._current.get(key)
            if found is None:
                return None
            changes = () if found.revision >= needed else self._revisions.changes_between(found.revision, needed)
            if changes is None:
                return None
            found.users += 1
            return Lease(found, changes)

    def _make(self, key: frozenset[NamedNode], graphs: frozenset[NamedNode]) -> Snapshot:
        if self._folder is None:
            self._folder = self._make_folder()
            self._forgotten = weakref.finalize(self, _remove_own, self._folder, os.getpid())
        name = f"{os.getpid()}-{next(self._numbers)}"
        snapshot = Snapshot(self._folder / name, self._revisions.copied(), users=1)
        try:
            self._take(snapshot.path, graphs)
        except BaseException:
            _remove(snapshot.path)
            raise
        with self._lock:
            stale = [self._current.pop(key)] if key in self._current else []
            while len(self._current) >= _MAX_COPIES:
                stale.append(self._current.pop(next(iter(self._current))))
            self._current[key] = snapshot
            for old in stale:
                old.current = False
            unused = [old for old in stale if not old.users]
        for old in unused:
            _remove(old.path)
        return snapshot


def _remove_own(folder: Path, owner: int) -> None:
    if owner == os.getpid():
        _remove(folder)


def _remove(path: Path) -> None:
    for copy in path.parent.glob(f"{path.name}{OF_PROCESS}*"):
        shutil.rmtree(copy, ignore_errors=True)
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
