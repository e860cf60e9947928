"""`Stop`: what ends a call that nobody waits for any more.

    stop = Stop()
    thread = Thread(target=lambda: plugin.call("skill_graph_query", {}, stop=stop))
    stop.set()                                    # from any thread: the call ends within tens of milliseconds

Rules kept here:
- a stop is for one call: a skill's code is interrupted while it runs for that call, and never for another;
- it holds from then on: what would begin after it is not begun;
- a step that is not to be broken off (a write to the graph) is never broken off: it is whole, or was not begun.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cortex_skills.errors import CortexError

_AGAIN_S = 0.01


class Stop:
    """Ends one call. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_set = False
        self._interrupt: Callable[[], None] | None = None

    @property
    def is_set(self) -> bool:
        """Whether the call is to end."""
        return self._is_set

    def set(self) -> None:
        """End the call; it may have ended already."""
        with self._lock:
            was_set, running = self._is_set, self._interrupt is not None
            self._is_set = True
        if running and not was_set:
            threading.Thread(target=self._press, name="cortex-stop", daemon=True).start()

    def check(self) -> None:
        """Do nothing unless the call is to end.

        Raises:
            CortexError: `cancelled`.

        """
        if self.is_set:
            raise CortexError("cancelled", "the call was cancelled by whoever made it")

    @contextmanager
    def interrupts(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Have `interrupt` called, until the block ends, when the call is to end meanwhile.

        Raises:
            CortexError: `cancelled`, when it is to end already.

        """
        with self._lock:
            self.check()
            self._interrupt = interrupt
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None

    def take(self, lock: threading.Lock, timeout_s: float) -> bool:
        """Acquire a lock, unless the call is to end first.

        Raises:
            CortexError: `cancelled`.

        """
        waited = 0.0
        while not (got := lock.acquire(timeout=max(0.0, min(_AGAIN_S * 2, timeout_s - waited)))) and waited < timeout_s:
            self.check()
            waited += _AGAIN_S * 2
        return got

    def _press(self) -> None:
        """Interrupt until it has had its effect: what is about to begin cannot be interrupted yet."""
        pause = threading.Event()
        while True:
            with self._lock:
                if self._interrupt is None:
                    return
                self._interrupt()
            pause.wait(_AGAIN_S)
