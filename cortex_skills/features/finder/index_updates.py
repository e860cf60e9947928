"""`IndexUpdates`: an index in memory that is built once and follows what changes.

    updates = IndexUpdates(refresh, "skills")
    with updates.current(timeout_s=10.0):
        index.search(...)

Rules kept here:
- the first index is built in a thread, because that can take longer than a call may: a caller that cannot wait gets
  `graph_busy`, and the building goes on;
- later updates are small, and run in the thread of the caller;
- one thread at a time updates or uses the index;
- an error of the first update is raised to a caller that waited for it, because that caller updates again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cortex_skills.errors import CortexError

log = logging.getLogger(__name__)


class IndexUpdates:
    """Updates an index before each use. Safe to use from several threads.

    Args:
        refresh: indexes what has changed since the last time; at the first time, everything.
        contents: what is indexed, for messages: `skills`.
    """

    def __init__(self, refresh: Callable[[], None], contents: str) -> None:
        self._refresh = refresh
        self._contents = contents
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._first: threading.Thread | None = None
        self._is_built = False

    @contextmanager
    def current(self, timeout_s: float) -> Iterator[None]:
        """Hold the index, which has every change.

        Args:
            timeout_s: how long to wait for the index, in seconds.

        Raises:
            CortexError: `graph_busy`: the index is not ready in time; what `refresh` raises.
        """
        deadline = time.monotonic() + timeout_s
        if not self._wait_for_first(timeout_s) or not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise CortexError("graph_busy", f"the {self._contents} are being indexed", hint="try again in a while")
        try:
            self._update()
            yield
        finally:
            self._lock.release()

    def _wait_for_first(self, timeout_s: float) -> bool:
        """Wait for the first index, which the first caller starts; False when it takes longer."""
        if self._is_built:
            return True
        with self._starting:
            if self._first is None or not self._first.is_alive():
                self._first = threading.Thread(target=self._build, name=f"cortex-find-{self._contents}", daemon=True)
                self._first.start()
            first = self._first
        first.join(timeout_s)
        return not first.is_alive()

    def _build(self) -> None:
        with self._lock:
            try:
                self._update()
            except Exception as error:  # a caller that waited tries again and gets the error
                log.info("the %s could not be indexed: %s", self._contents, error)

    def _update(self) -> None:
        self._refresh()
        self._is_built = True
