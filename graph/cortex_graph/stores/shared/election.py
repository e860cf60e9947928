"""The membership of this process in a data folder: as its owner, or as a client of the owner.

Rules kept here:
- the process that opens the store is its owner: only RocksDB's own lock decides that;
- an owner that answers is found by its record, without touching the store;
- the search for an owner ends: with an owner, with this process as the owner, or with a correct error. It reports after
  `NOTICE_S` for which process it waits. An owner that is silent for `SILENCE_S` is `graph_busy`. `store_locked` means
  that the folder is locked while no process of this library claims it;
- a process that was forked from one that had a store open never opens one itself: RocksDB does not survive a fork. It
  uses the owner, and starts a process that becomes the owner when there is none;
- a folder that cannot be written to, whose disk is full, or that has lost data, is opened read-only, when no other
  process can write to it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from cortex_graph.checks.engine_errors import is_full
from cortex_graph.exceptions import GraphBusy, GraphCorrupt, GraphError, GraphUnavailable, StoreLocked
from cortex_graph.memory_graphs import move_all_memories
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.engine_folder import prepare
from cortex_graph.stores.shared import format_version, protocol_limits
from cortex_graph.stores.shared.channel import ConnectionLost
from cortex_graph.stores.shared.connections import WaitNotice
from cortex_graph.stores.shared.forking import may_open, opens_rocksdb, survive_without
from cortex_graph.stores.shared.maintenance import Owner, Result, SharedLock
from cortex_graph.stores.shared.owner_process import OwnerProcess
from cortex_graph.stores.shared.read_only import ReadOnlyStore
from cortex_graph.stores.shared.remote_owner import RemoteOwner
from cortex_graph.stores.shared.rendezvous import OwnerRecord, Rendezvous
from cortex_graph.stores.shared.server import OwnerServer

log = logging.getLogger(__name__)


class FolderMember:
    """The membership in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.maintenance = SharedLock(self)
        self._place = Rendezvous(folder)
        self._notice = WaitNotice()
        self._lock = threading.Lock()
        self._owner: Owner | None = None
        self._server: OwnerServer | None = None
        self._record: OwnerRecord | None = None
        self._owner_process: OwnerProcess | None = None
        self._closed = False

    def with_owner(self, work: Callable[[Owner], Result]) -> Result:
        """Call `work` with the owner of the folder, and again with the next owner when that one has ended.

        Raises:
            StoreLocked: another program has locked the folder.
            GraphBusy: the owner does not answer.
            GraphUnavailable: the folder cannot be used.
        """
        until = 0.0
        while True:
            owner = self._owner or self._current_owner()
            try:
                return work(owner)
            except ConnectionLost:
                self._lose(owner)
            until = until or time.monotonic() + protocol_limits.FIND_S
            if time.monotonic() > until:
                raise GraphUnavailable(
                    f"the owners of the store in {self.folder} end before they answer",
                    hint="see why the processes that use it end",
                    details={"folder": str(self.folder)},
                )

    def leave(self, *, wait: bool = True) -> bool:
        """Complete the requests of other processes, and release the folder.

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
            if self._owner_process is not None:
                self._owner_process.end()
            return True
        finally:
            self._lock.release()

    def retire(self) -> None:
        """Do what `leave` does at the end of the process, except that its own calls still work."""
        with self._lock:
            self._stop_serving()
            if isinstance(self._owner, OxigraphStore):
                with contextlib.suppress(GraphError):
                    self._owner.flush()
            if self._owner_process is not None:
                self._owner_process.end()

    def after_fork(self) -> None:
        """Abandon what belongs to the parent, and become a client of its owner."""
        self._lock = threading.Lock()
        self.maintenance = SharedLock(self)
        owner, self._owner = self._owner, None
        server, self._server = self._server, None
        self._record, self._owner_process = None, None
        if isinstance(owner, OxigraphStore):
            survive_without(owner)
        elif owner is not None:
            owner.after_fork()
        if server is not None:
            server.after_fork()
        self._place.unclaim()

    def _current_owner(self) -> Owner:
        if (owner := self._owner) is not None:
            return owner
        if not self._lock.acquire(timeout=protocol_limits.FIND_S):
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
            return self._owner
        finally:
            self._lock.release()

    def _lose(self, owner: Owner) -> None:
        with self._lock:
            if self._owner is owner:
                owner.close()
                self._owner = None

    def _find(self) -> Owner:
        started = since = time.monotonic()
        kind: type[GraphError | None] = type(None)
        while True:
            tried = time.monotonic()
            trouble: GraphError | None = None
            try:
                if (owner := self._find_other() or self._become_owner()) is not None:
                    self._notice.answered()
                    return owner
            except (GraphBusy, StoreLocked) as error:
                trouble = error
            if type(trouble) is not kind:
                kind, since = type(trouble), tried
            now = time.monotonic()
            if now > min(started + protocol_limits.FIND_S, since + _patience_s(trouble)):
                self._give_up(trouble)
            if now > started + protocol_limits.NOTICE_S:
                self._notice.report(str(trouble or self._opening()))
            time.sleep(random.uniform(*protocol_limits.PAUSE_S))  # noqa: S311 - waiting processes must not retry at the same times

    def _find_other(self) -> RemoteOwner | None:
        """Return the process that owns the folder, if it answers."""
        if ReadOnlyStore.is_for(self.folder) and self._place.is_another_users():
            return None  # it would not answer; without an owner the folder can be read
        record = self._place.read()
        if record is None or record.pid == os.getpid():
            return None
        remote = RemoteOwner(self.folder, record, self._notice)
        try:
            remote.greet()
        except ConnectionLost:
            return None
        return remote

    def _become_owner(self) -> OxigraphStore | None:
        """Open and serve the store in this process; returns None when another process is about to do that."""
        if not may_open():
            if self._owner_process is None:
                self._owner_process = OwnerProcess(self.folder)
            self._owner_process.wake()
            return None
        format_version.check(self.folder)
        if ReadOnlyStore.is_for(self.folder):
            return ReadOnlyStore(self.folder)
        try:
            prepare(self.folder)
            self._place.prepare()
            return self._open_and_serve() if self._place.claim() else None
        except GraphError as error:
            self._place.unclaim()
            damage = error if isinstance(error, GraphCorrupt) else None
            if not (damage or is_full(error)) or not (self.folder / "CURRENT").exists():
                raise
        except BaseException:
            self._place.unclaim()
            raise
        store = ReadOnlyStore(self.folder, damage)
        if damage is not None:
            log.warning("%s. It can only be read; %s", damage.message, damage.hint)
        return store

    def _open_and_serve(self) -> OxigraphStore:
        with opens_rocksdb():
            store = OxigraphStore(self.folder)
        try:
            self._serve(store)
        except BaseException:
            store.close()
            raise
        return store

    def _serve(self, store: OxigraphStore) -> None:
        if format_version.check(self.folder) < format_version.FORMAT:
            move_all_memories(store)
            format_version.write(self.folder)
        succeeds = self._place.clear()
        listener, record = self._place.listen()
        server = OwnerServer(store, listener, record.token, succeeds=succeeds)
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
        pid = self._place.claimant()
        raise GraphBusy(
            f"{self._opening()} and does not complete",
            hint="see whether it is stopped or overloaded; when it ends, another process takes over",
            details={"folder": str(self.folder)} | ({} if pid is None else {"pid": pid}),
        )

    def _opening(self) -> str:
        pid = self._place.claimant()
        return f"{'a process' if pid is None else f'process {pid}'} is opening or closing the store in {self.folder}"


def _patience_s(trouble: GraphError | None) -> float:
    """Return for how long the search for an owner goes on while it meets only this trouble."""
    if isinstance(trouble, StoreLocked):
        return protocol_limits.FOREIGN_S
    return protocol_limits.SILENCE_S if isinstance(trouble, GraphBusy) else protocol_limits.FIND_S
