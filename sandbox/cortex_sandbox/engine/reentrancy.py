"""The calls into guests that the current thread is inside of.

Rules kept here:
- while a guest runs, its call is the thread's current one; when it ends, the previous one is current again;
- a call knows the call whose host function made it, on another thread too, so that circular calls are detected.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from cortex_sandbox.errors import SandboxError


class PendingCall(Protocol):
    """A call into a guest that has not ended yet."""

    @property
    def deadline(self) -> float:
        """When the guest is stopped, in monotonic seconds."""

    @property
    def outer(self) -> PendingCall | None:
        """The call whose host function made this one."""


@dataclass(slots=True, eq=False)
class RemoteCall:
    """A call into a guest that runs in another process."""

    deadline: float
    outer: PendingCall | None


_here = threading.local()


def current() -> PendingCall | None:
    """The innermost call that this thread is inside of."""
    return getattr(_here, "call", None)


def enter(call: PendingCall | None) -> PendingCall | None:
    """Make a call the current one of this thread; returns the previous one, to be entered again at the end."""
    before = current()
    _here.call = call
    return before


@contextmanager
def remote_call(deadline: float) -> Iterator[RemoteCall]:
    """A call of this thread, during the block."""
    call = RemoteCall(deadline, current())
    before = enter(call)
    try:
        yield call
    finally:
        enter(before)


def refuse_inside(call: PendingCall | None) -> None:
    """Refuse to wait for a call from inside of it, which would be a deadlock.

    Raises:
        SandboxError: named `SandboxBusy`.
    """
    at = current()
    while at is not None:
        if at is call:
            raise SandboxError("a host function cannot use the sandbox that waits for it", "SandboxBusy")
        at = at.outer
