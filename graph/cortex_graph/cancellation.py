"""How a caller cancels a call while it waits.

Rules kept here:
- a caller that wants to cancel passes a `Cancellation`; the error that it raises is the caller's own.
  `cortex_skills.cancellation.CancelToken` is one;
- every wait can be interrupted: a process is killed, a connection is closed. The call then ends with the error of the
  cancellation, not with the error of what was interrupted;
- cancellation is permanent: a wait that would start after it does not start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Cancellation(Protocol):
    """Cancels a call."""

    def check(self) -> None:
        """Raise when the call was cancelled."""

    def interrupts(self, interrupt: Callable[[], None]) -> AbstractContextManager[None]:
        """Run a block in which cancelling the call also calls `interrupt`, from another thread.

        Raises, as `check` does, when the call was cancelled before the block.
        """


@contextmanager
def interruptible(cancel: Cancellation | None, interrupt: Callable[[], None]) -> Iterator[None]:
    """Run a block that cancelling the call ends through `interrupt`.

    Args:
        cancel: of the call; None for a call that cannot be cancelled.
        interrupt: may be called several times, from any thread.

    Raises:
        Exception: what `cancel` raises, in place of the error that the interruption caused.
    """
    if cancel is None:
        yield
        return
    with cancel.interrupts(interrupt):
        try:
            yield
        except Exception:
            cancel.check()
            raise
