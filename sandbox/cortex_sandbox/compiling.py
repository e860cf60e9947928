"""What a first start waits for: the guests that are being compiled for this machine.

    with announced(print):
        bundle(files)  # prints "esbuild" where that is not compiled yet

Rules kept here:
- which guest is being compiled is state of the process, because each is compiled once for all threads;
- whether a wait is abandoned is decided for each thread: a host that closes gives up its own starts only;
- no engine is imported here: what announces or reports costs nothing at the start of a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], None]

_listeners: list[Listener] = []
_under_way: list[str] = []
_abandoned: ContextVar[Callable[[], bool]] = ContextVar("abandoned", default=lambda: False)


def under_way() -> str | None:
    """The guest that is being compiled at the moment, here or by a process that is waited for; None without one."""
    return next(iter(_under_way), None)


@contextmanager
def announced(listener: Listener) -> Iterator[None]:
    """Call `listener` with the name of each guest before it is compiled, until the block ends."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def compiles(guest: str) -> Iterator[None]:
    """Announce that a guest is compiled in the block."""
    _under_way.append(guest)
    try:
        for listener in tuple(_listeners):
            listener(guest)
        yield
    finally:
        _under_way.remove(guest)


@contextmanager
def unless(abandoned: Callable[[], bool]) -> Iterator[None]:
    """Stop waiting for a compiler in this thread, in the block, once `abandoned` returns true."""
    token = _abandoned.set(abandoned)
    try:
        yield
    finally:
        _abandoned.reset(token)


def is_abandoned() -> bool:
    """Whether this thread should stop waiting."""
    return _abandoned.get()()
