"""`CancelToken`: cancels one call from another thread; `CancelGroup`: all calls of a server that ends.

    token = CancelToken()
    thread = Thread(target=lambda: plugin.call("skill_graph_query", {}, cancel=token))
    token.cancel()                                # from any thread: the call ends within tens of milliseconds

Rules kept here:
- a token belongs to one call: the code of a skill is interrupted only while it runs for that call;
- cancellation is permanent: a step that would start after it does not start, and nor does a call of a cancelled group;
- a step that must not be interrupted (a write to the graph) is never interrupted: it completes or does not start.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cortex_skills.errors import CortexError

_RETRY_S = 0.01


class CancelToken:
    """Cancels one call. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._why = ""
        self._interrupt: Callable[[], None] | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._is_cancelled

    def cancel(self, why: str = "by the client that made it") -> None:
        """Cancel the call, and say why. Has no effect when the call has ended or was cancelled before."""
        with self._lock:
            was_cancelled, running = self._is_cancelled, self._interrupt is not None
            self._why = self._why or why
            self._is_cancelled = True
        if running and not was_cancelled:
            threading.Thread(target=self._interrupt_until_done, name="cortex-cancel", daemon=True).start()

    def check(self) -> None:
        """Raise when the call was cancelled.

        Raises:
            CortexError: `cancelled`.
        """
        if self.is_cancelled:
            raise CortexError("cancelled", f"the call was cancelled {self._why}")

    @contextmanager
    def interrupts(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Run a block in which cancelling the call also calls `interrupt`; an inner block replaces the one around it.

        Raises:
            CortexError: `cancelled`, when the call was cancelled before the block.
        """
        with self._lock:
            self.check()
            outer, self._interrupt = self._interrupt, interrupt
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = outer

    def acquire(self, lock: threading.Lock, timeout_s: float) -> bool:
        """Acquire a lock, within `timeout_s` seconds; returns whether it was acquired.

        Raises:
            CortexError: `cancelled`.
        """
        waited = 0.0
        step = _RETRY_S * 2
        while not (got := lock.acquire(timeout=max(0.0, min(step, timeout_s - waited)))) and waited < timeout_s:
            self.check()
            waited += step
        return got

    def _interrupt_until_done(self) -> None:
        """Call `interrupt` until the block has ended: work that is about to start cannot be interrupted yet."""
        pause = threading.Event()
        while True:
            with self._lock:
                if self._interrupt is None:
                    return
                self._interrupt()
            pause.wait(_RETRY_S)


class CancelGroup:
    """Cancels calls together. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._why = ""
        self._tokens: set[CancelToken] = set()

    @contextmanager
    def token(self) -> Iterator[CancelToken]:
        """The token of a call that lasts as long as the block."""
        token = CancelToken()
        with self._lock:
            self._tokens.add(token)
            why = self._why
        if why:
            token.cancel(why)
        try:
            yield token
        finally:
            with self._lock:
                self._tokens.discard(token)

    def cancel(self, why: str) -> None:
        """Cancel the calls under way, and those that would begin later, and say why."""
        with self._lock:
            self._why = why
            tokens = tuple(self._tokens)
        for token in tokens:
            token.cancel(why)
