"""Who waits for whom: the calls into guests that a host function finds itself inside of.

Rules kept here:
- while a guest runs, its call is the thread's current one; when it ends, the one before it is so again;
- a call knows what waits for it further out, across threads too, so that calls in a circle are noticed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from .errors import SandboxError


class Waiting(Protocol):
    """A call into a guest that has not ended yet."""

    @property
    def deadline(self) -> float:
        """When the guest is stopped, in monotonic seconds."""

    @property
    def outer(self) -> Waiting | None:
        """The call whose host function made this one."""


@dataclass(slots=True, eq=False)
class Turn:
    """A call into a guest that runs elsewhere: in another process."""

    deadline: float
    outer: Waiting | None


_here = threading.local()


def current() -> Waiting | None:
    """The call that this thread is inside of."""
    return getattr(_here, "waiting", None)


def enter(waiting: Waiting | None) -> Waiting | None:
    """Make a call this thread's current one; answers the one before, to be entered again at the end."""
    before = current()
    _here.waiting = waiting
    return before


@contextmanager
def turn_until(deadline: float) -> Iterator[Turn]:
    """A turn of this thread's."""
    turn = Turn(deadline, current())
    before = enter(turn)
    try:
        yield turn
    finally:
        enter(before)


def refuse_inside(waiting: Waiting | None) -> None:
    """Refuse what would wait for a call that waits for this.

    Raises:
        SandboxError: named `SandboxBusy`.

    """
    at = current()
    while at is not None:
        if at is waiting:
            raise SandboxError("a host function cannot use the sandbox that waits for it", "SandboxBusy")
        at = at.outer
