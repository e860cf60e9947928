"""What `remaining_s` and the check for calls in a circle see while a process is waited for, as of an `Instance`.

Rules kept here:
- a turn is its thread's current one while it lasts, and the one before it is so again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cortex_sandbox.instance import _running, current


@dataclass(slots=True)
class Turn:
    """One wait: its deadline in monotonic seconds, and what waits for it further out."""

    deadline: float
    outer: Any


@contextmanager
def turn_until(deadline: float) -> Iterator[Turn]:
    """A turn of this thread's."""
    before = current()
    _running.instance = turn = Turn(deadline, before)
    try:
        yield turn
    finally:
        _running.instance = before


def is_waiting(turn: Turn | None) -> bool:
    """Whether this thread is in a host function that a turn waits for."""
    at: Any = current()
    while at is not None:
        if at is turn:
            return True
        at = at.outer
    return False
