"""One process's part in a data folder: its owner, or a client of the owner.

Rules kept here:
- who opens the store is its owner: RocksDB's own lock decides, and nothing else does;
- an owner that answers is found by its record, without touching the store;
- looking for an owner ends: with one, with this process as the owner, or with an error that is true. `store_locked` is
  said of a folder that is locked while nobody of ours claims it, and of no other;
- a process that was forked from one that had a store open never opens one itself: RocksDB does not survive a fork. It
  goes through the owner, and starts a process for that when there is none;
- a folder that cannot be written to, or whose disk is full, is opened for reading, when nobody can be writing to it.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from cortex_graph.errors import GraphBusy, GraphError, GraphUnavailable, StoreLocked
from cortex_graph.stores.embedded import OxigraphStore, prepare
from cortex_graph.stores.shared import limits, marker
from cortex_graph.stores.shared.channel import Lost
from cortex_graph.stores.shared.client import Owner, Result
from cortex_graph.stores.shared.forking import may_open, opens_rocksdb, survive_without
from cortex_graph.stores.shared.keeper import Keeper
from cortex_graph.stores.shared.maintenance import SharedLock
from cortex_graph.stores.shared.place import Place, Record
from cortex_graph.stores.shared.reading import ReadingStore
from cortex_graph.stores.shared.remote import Remote
from cortex_graph.stores.shared.serving import Server


class Member:
    """The process that this is, as one of those that use a folder.

    Args:
        folder: the data folder.
        on_change: told when the owner is another one: the store itself when it is this process, else None.

    """

    def __init__(self, folder: Path, on_change: Callable[[OxigraphStore | None], None]) -> None:
        self.folder = folder
        self.maintenance = SharedLock(self)
        self._place = Place(folder)
        self._on_change = on_change
        self._lock = threading.Lock()
        self._owner: Owner | None = None
        self._server: Server | None = None
        self._record: Record | None = None
        self._keeper: Keeper | None = None
        self._closed = False

    def with_owner(self, work: Callable[[Owner], Result]) -> Result:
        """Do something with whoever owns the folder, and with the next owner when that one has gone.

        Raises:
            StoreLocked: the folder is locked by something that is none of ours.
            GraphBusy: there is an owner, and it does not answer.
            GraphUnavailable: the folder cannot be used.

        """
        until = time.monotonic() + limits.FIND_S
        while True:
            owner = self._found()
            try:
                return work(owner)
            except Lost:
                self._lose(owner)
            if time.monotonic() > until:
                raise GraphUnavailable(
                    f"the owners of the store in {self.folder} end before they answer",
                    hint="see why the processes that use it end",
                    details={"folder": str(self.folder)},
                )

    def leave(self, *, wait: bool = True) -> bool:
        """Finish what other processes have begun, and let go of the folder.

        Args:
            wait: whether to wait while another thread looks for the owner.

        Returns:
            Whether that was done.

        """
        if not self._lock.acquire(blocking=wait):
            return False
        try:
            self._closed = True
            self._stop_serving()
            owner, self._owner = self._owner, None
            if owner is not None:
                owner.close()
            self._place.unclaim()
            if self._keeper is not None:
                self._keeper.end()
            return True
        finally:
            self._lock.release()

    def retire(self) -> None:
        """At the end of the process: as `leave`, but the process's own calls are still answered."""
        with self._lock:
            self._stop_serving()
            if self._keeper is not None:
                self._keeper.end()

    def forked(self) -> None:
        """In a forked child: let go of what is the parent's, without touching it, and be a client."""
        self._lock = threading.Lock()
        self.maintenance = SharedLock(self)
        owner, self._owner = self._owner, None
        server, self._server = self._server, None
        self._record, self._keeper = None, None
        if isinstance(owner, OxigraphStore):
            survive_without(owner)
        elif owner is not None:
            owner.forked()
        if server is not None:
            server.abandon()
        self._place.unclaim()
        self._on_change(None)

    def _found(self) -> Owner:
        if (owner := self._owner) is not None:
            return owner
        if not self._lock.acquire(timeout=limits.FIND_S):
            raise GraphBusy(
                f"another thread is still looking for the owner of the store in {self.folder}",
                hint="try again in a while",
                details={"folder": str(self.folder)},
            )
        try:
            if self._closed:
                raise GraphUnavailable(f"the store in {self.folder} is closed", hint="open it again")
            if self._owner is None:
                self._owner = self._find()
                self.maintenance.reclaim(self._owner)
                self._on_change(self._owner if isinstance(self._owner, OxigraphStore) else None)
            return self._owner
        finally:
            self._lock.release()

    def _lose(self, owner: Owner) -> None:
        with self._lock:
            if self._owner is owner:
                owner.close()
                self._owner = None

    def _find(self) -> Owner:
        until = time.monotonic() + limits.FIND_S
        locked_until = float("inf")
        while True:
            trouble: GraphError | None = None
            try:
                if (owner := self._other() or self._own()) is not None:
                    return owner
            except (GraphBusy, StoreLocked) as error:
                trouble = error
            now = time.monotonic()
            locked_until = (
                min(locked_until, now + limits.FOREIGN_S) if isinstance(trouble, StoreLocked) else float("inf")
            )
            if now > min(until, locked_until):
                self._give_up(trouble)
            time.sleep(random.uniform(*limits.PAUSE_S))  # noqa: S311 - so that those who wait do not move in step

    def _other(self) -> Remote | None:
        """The process that owns the folder, if it says so and answers."""
        if ReadingStore.is_for(self.folder) and self._place.is_another_users():
            return None  # and none of theirs would answer; but what they leave alone can be read
        record = self._place.read()
        if record is None or record.pid == os.getpid():
            return None
        remote = Remote(self.folder, record)
        try:
            remote.greet()
        except Lost:
            return None
        return remote

    def _own(self) -> OxigraphStore | None:
        """The store, opened and served by this process; None when somebody else is about to."""
        if not may_open():
            if self._keeper is None:
                self._keeper = Keeper(self.folder)
            self._keeper.wake()
            return None
        marker.check(self.folder)
        if ReadingStore.is_for(self.folder):
            return ReadingStore(self.folder)
        prepare(self.folder)
        self._place.prepare()
        if not self._place.claim():
            return None
        try:
            with opens_rocksdb():
                store = OxigraphStore(self.folder)
            try:
                self._serve(store)
            except BaseException:
                store.close()
                raise
            return store
        except BaseException:
            self._place.unclaim()
            raise

    def _serve(self, store: OxigraphStore) -> None:
        marker.write(self.folder)
        succeeds = self._place.clear()
        listener, record = self._place.listen()
        server = Server(store, listener, record.token, succeeds=succeeds)
        try:
            self._place.write(record)
        except BaseException:
            server.stop()
            raise
        self._server, self._record = server, record
        self.maintenance.grace_until = server.grace_until

    def _stop_serving(self) -> None:
        server, self._server = self._server, None
        if server is not None and self._record is not None:
            self._place.remove(self._record)
            server.stop()

    def _give_up(self, trouble: GraphError | None) -> NoReturn:
        if trouble is not None:
            raise trouble
        raise GraphBusy(
            f"a process is opening the store in {self.folder} and does not get done",
            hint="see whether it is stopped or overloaded",
            details={"folder": str(self.folder)},
        )
