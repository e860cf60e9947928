"""How a call is ended from outside while it waits.

Rules kept here:
- whoever wants to be able to end a call gives it a `Stop`; what ending means for them, an error of theirs, is what it
  raises. `cortex_skills.stopping.Stop` is one;
- what a call waits for can always be broken off: a process is killed, a connection cut. Then the call ends with the
  stop's own error, not with that of what was broken off;
- a stop holds from then on: what would be waited for after it is not waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Stop(Protocol):
    """What ends a call."""

    def check(self) -> None:
        """Raise, when the call is to end."""

    def interrupts(self, interrupt: Callable[[], None]) -> AbstractContextManager[None]:
        """Have `interrupt` called from another thread, until the block ends, when the call is to end meanwhile.

        Raises, as `check` does, when it is to end already.
        """


@contextmanager
def waiting(stop: Stop | None, interrupt: Callable[[], None]) -> Iterator[None]:
    """What is waited for in here is broken off by `interrupt` when the call is to end.

    Args:
        stop: of the call; None for one that nobody ends.
        interrupt: may be called several times, from any thread.

    Raises:
        Exception: what `stop` raises, whatever the breaking off has raised.

    """
    if stop is None:
        yield
        return
    with stop.interrupts(interrupt):
        try:
            yield
        except Exception:
            stop.check()
            raise
