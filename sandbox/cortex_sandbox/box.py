"""What every kind of box for a guest can do, wherever the guest runs.

Rules kept here:
- a host that has one of them need not know which;
- leaving the `with` block closes it.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from .exports import Exports
    from .host import LogLine
    from .limits import Limits


class Box(ABC):
    """Something that a module is loaded into and called in: `Sandbox`, `ProcessSandbox`, `DirectSandbox`.

    Attributes:
        limits: what its guest may use.
        exports: what the default export of the loaded module is.

    """

    limits: Limits
    exports: Exports

    @abstractmethod
    def call(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """Call a function of the default export; what it returns, or what its promise comes to.

        Args:
            name: the function.
            arguments: what JSON can say.
            timeout_s: a limit other than the one of `limits`.
            shared: names a list in the first argument and in the answer: what the guest gives back of that list comes
                back as the very objects that went in, whatever the guest did to its copies, and is not copied again.

        Raises:
            SandboxError: it throws, rejects, never settles, or returns what JSON cannot say.
            SandboxTimeout, SandboxMemoryError: past a limit.
            ValueError, TypeError: an argument is no JSON.

        """

    async def acall(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """`call`, without blocking the event loop."""
        return await asyncio.to_thread(self.call, name, *arguments, timeout_s=timeout_s, shared=shared)

    @abstractmethod
    def take_logs(self) -> list[LogLine]:
        """What the guest logged since the last call of this, in order."""

    @abstractmethod
    def interrupt(self) -> None:
        """Stop what runs in it, soon, from any thread; it is dead then. Where nothing runs, nothing happens."""

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether it can be called: not closed, not stopped."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds. Closing twice is fine; a call under way ends first.

        Raises:
            SandboxError: when a host function of a call under way asks for it.

        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
