"""The common interface of the sandboxes.

Rules kept here:
- a host uses every kind of sandbox in the same way;
- leaving the `with` block closes it.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cortex_sandbox.errors import SandboxError

if TYPE_CHECKING:
    from cortex_sandbox.limits import Limits
    from cortex_sandbox.quickjs.exports import Exports
    from cortex_sandbox.quickjs.host import LogLine


class CallTicket:
    """One call of `acall`: cancelling it interrupts that call, and no other call of the same sandbox."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._interrupt: Callable[[], None] | None = None

    def start(self, interrupt: Callable[[], None]) -> None:
        """The call begins; from now on cancelling it calls `interrupt`.

        Raises:
            SandboxError: named `Interrupted`, when the call was cancelled before.
        """
        with self._lock:
            if self._is_cancelled:
                raise SandboxError("stopped: it was interrupted", "Interrupted")
            self._interrupt = interrupt

    def end(self) -> bool:
        """The call has ended; whether it was interrupted."""
        with self._lock:
            began, self._interrupt = self._interrupt is not None, None
            return began and self._is_cancelled

    def cancel(self) -> None:
        """Cancel the call, from any thread. Has no effect when it has ended."""
        with self._lock:
            self._is_cancelled = True
            if self._interrupt is not None:
                self._interrupt()


class Box(ABC):
    """A guest with a loaded module: `Sandbox`, `ProcessSandbox` or `DirectSandbox`.

    Attributes:
        limits: the limits of the guest.
        exports: the default export of the loaded module.
    """

    limits: Limits
    exports: Exports

    @abstractmethod
    def call(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """Call a function of the default export; its result, or the value of the promise that it returns.

        Args:
            name: the function.
            arguments: JSON values.
            timeout_s: a time limit instead of that of `limits`.
            shared: the name of a list in the first argument and in the result: items of that list that the guest
                returns are the objects that were passed in, even when the guest changed its copies.

        Raises:
            SandboxError: it throws, rejects, never settles, or returns a value that is not a JSON value.
            SandboxTimeout, SandboxMemoryError: past a limit.
            ValueError, TypeError: an argument is not a JSON value.
        """

    async def acall(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """`call`, without blocking the event loop.

        Cancelling the task prevents the call when it has not begun, and interrupts it otherwise.
        """
        ticket = CallTicket()
        try:
            return await asyncio.to_thread(self._call, ticket, name, arguments, timeout_s, shared)
        except asyncio.CancelledError:
            ticket.cancel()
            raise

    @abstractmethod
    def _call(
        self, ticket: CallTicket, name: str, arguments: tuple[Any, ...], timeout_s: float | None, shared: str | None
    ) -> Any:
        """`call`, with a ticket: `ticket.start` is called before the guest runs, and `ticket.end` after it."""

    @abstractmethod
    def take_logs(self) -> list[LogLine]:
        """The lines that the guest logged since the last call, in order."""

    @abstractmethod
    def interrupt(self) -> None:
        """Stop a running call soon, from any thread; the sandbox is dead then. No effect when no call is running.

        That call raises a `SandboxError` named `Interrupted`.
        """

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether it can be called: not closed, not stopped."""

    @abstractmethod
    def close(self) -> None:
        """Free its resources, after a running call has ended. A second call has no effect.

        Raises:
            SandboxError: when called by a host function of a running call.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
