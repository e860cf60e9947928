"""The maintenance lock of a folder, over all processes.

Rules kept here:
- threads of this process exclude each other first, then processes do, at the owner;
- the lock of a process that dies is free;
- a holder whose owner dies takes the lock again at the next owner with its next call; for that long, `GRACE_S`, nobody
  else gets it there.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared.channel import Channel
from cortex_graph.stores.shared.remote import Remote

if TYPE_CHECKING:
    from cortex_graph.stores.shared.client import Finder, Owner

_TRY_AGAIN_S = 0.05


class SharedLock:
    """A lock as `threading.Lock` is one.

    Args:
        member: finds the owner.

    """

    def __init__(self, member: Finder) -> None:
        self._member = member
        self._here = threading.Lock()
        self._held: tuple[OxigraphStore, None] | tuple[Remote, Channel] | None = None
        self.grace_until = 0.0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it; answer whether it was taken."""
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
        """Give it back."""
        held, self._held = self._held, None
        if held is not None:
            owner, channel = held
            if isinstance(owner, OxigraphStore):
                owner.maintenance.release()
            elif channel is not None:
                owner.give_back(channel)
        self._here.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.release()

    def reclaim(self, owner: Owner) -> None:
        """Take it again at a new owner, if it was held at the last one."""
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
