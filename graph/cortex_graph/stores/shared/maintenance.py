"""The maintenance lock of a folder, for all processes.

Rules kept here:
- threads of this process exclude each other first, then processes do, at the owner;
- the lock of a process that ends is free;
- a holder whose owner ends reclaims the lock at the next owner with its next call; for `GRACE_S` no other process gets
  it there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, TypeVar

from cortex_graph.store import Maintenance
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared.channel import Channel
from cortex_graph.stores.shared.remote_owner import RemoteOwner

_TRY_AGAIN_S = 0.05

Owner = OxigraphStore | RemoteOwner
Result = TypeVar("Result")


class OwnerFinder(Protocol):
    """Finds the owner of a folder."""

    @property
    def maintenance(self) -> Maintenance:
        """The maintenance lock of the folder."""

    def with_owner(self, work: Callable[[Owner], Result], /) -> Result:
        """Call `work` with the owner of the folder, and again with the next owner when that one has ended."""


class SharedLock:
    """A lock with the interface of `threading.Lock`."""

    def __init__(self, member: OwnerFinder) -> None:
        self._member = member
        self._here = threading.Lock()
        self._held: tuple[OxigraphStore, None] | tuple[RemoteOwner, Channel] | None = None
        self.grace_until = 0.0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock; returns whether it was acquired."""
        until = time.monotonic() + (timeout if timeout >= 0 else float("inf")) if blocking else 0.0
        if not self._here.acquire(blocking, timeout):
            return False
        taken = False
        try:
            taken = self._member.with_owner(lambda owner: self._take(owner, until, reclaim=False))
        finally:
            if not taken:
                self._here.release()
        return taken

    def release(self) -> None:
        """Release the lock."""
        held, self._held = self._held, None
        if held is not None:
            owner, channel = held
            if isinstance(owner, OxigraphStore):
                owner.maintenance.release()
            elif channel is not None:
                owner.release_maintenance(channel)
        self._here.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.release()

    def reclaim(self, owner: Owner) -> None:
        """Acquire the lock at a new owner, if it was held at the last one."""
        if self._held is not None and self._held[0] is not owner:
            self._held = None
            self._take(owner, 0.0, reclaim=True)

    def _take(self, owner: Owner, until: float, *, reclaim: bool) -> bool:
        if isinstance(owner, OxigraphStore):
            taken = self._take_own(owner, until, reclaim=reclaim)
            if taken:
                self._held = (owner, None)
            return taken
        left = until - time.monotonic()
        channel = owner.maintain(-1 if left == float("inf") else max(0.0, left), reclaim=reclaim)
        if channel is not None:
            self._held = (owner, channel)
        return channel is not None

    def _take_own(self, owner: OxigraphStore, until: float, *, reclaim: bool) -> bool:
        while not reclaim and (grace := self.grace_until - time.monotonic()) > 0:
            if time.monotonic() >= until:
                return False
            time.sleep(min(grace, _TRY_AGAIN_S))
        left = until - time.monotonic()
        if left <= 0:
            return owner.maintenance.acquire(blocking=False)
        return owner.maintenance.acquire(timeout=-1 if left == float("inf") else left)
