"""`ProcessSandbox`: a `Sandbox` in a worker process that has no files, no network and no rights.

    with ProcessSandbox(Limits(timeout_s=1.0), host={"echo": lambda value: value}) as box:
        box.load_module("export default { twice: (n) => 2 * echo(n) }")
        box.call("twice", 21)  # 42

Rules kept here:
- what it does and raises is what `Sandbox` does and raises; the guest runs elsewhere, host functions run here;
- the worker is taken to be hostile: whatever it says is checked, and at the first word that breaks the protocol, or
  the first that comes too late, it is killed;
- no call takes longer than its limit, what the worker or a host function does notwithstanding: a host function that
  does not end in time is left behind;
- what the kernel lacks for the confinement is told once, as a warning.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from cortex_sandbox.border import from_json, to_json, with_own
from cortex_sandbox.box import Box
from cortex_sandbox.errors import SandboxError, SandboxTimeout
from cortex_sandbox.excerpt import excerpt
from cortex_sandbox.exports import Exports, exports_from
from cortex_sandbox.host import HostFunction, HostSide, LogLine, Promised, seed_source
from cortex_sandbox.limits import Limits, check_timeout
from cortex_sandbox.waiting import refuse_inside

from .conversation import Conversation
from .protection import Protection, warn_once


class ProcessSandbox(Box):
    """One guest in a process of its own, with its limits and what its host offers it. Safe to use from several threads.

    Linux only. The arguments, methods and errors are those of `Sandbox`, but for the clock.

    Args:
        limits: what it may use.
        host: functions by the name under which the guest finds them. They run on a thread of this process, in a copy
            of the caller's context variables, and should keep to `remaining_s()`: the caller does not wait longer.
        clock: cannot be given: the guest's `Date` is the worker's, without asking this process.
        seed: makes `Math.random` repeat itself; by default every sandbox draws fresh randomness.

    Raises:
        ValueError: for a host function whose name JavaScript cannot say, or a clock.
        SandboxError: where this is not Linux, or no worker can be started.

    """

    def __init__(
        self,
        limits: Limits | None = None,
        host: Mapping[str, HostFunction] | None = None,
        *,
        clock: Callable[[], float] | None = None,
        seed: int | None = None,
    ) -> None:
        if clock is not None:
            raise ValueError("a clock cannot be given to a sandbox in a process of its own: use `Sandbox` for that")
        if sys.platform != "linux":
            raise SandboxError("a sandbox in a process of its own is for Linux: use `Sandbox` here", "Unsupported")
        self.limits = limits or Limits()
        self.exports = Exports()
        self._sources: dict[str, str] = {}
        self._script: dict[str, str] = {}  # only the last: a host may evaluate any number of them
        self._lock = threading.Lock()
        self._host = HostSide(host or {}, self.limits.log_bytes, self.limits.transfer_bytes, seed_source(seed))
        self._worker = Conversation(self.limits, self._host)
        weakref.finalize(self, self._worker.end, "it was forgotten")
        offered = [(name, isinstance(function, Promised)) for name, function in (host or {}).items()]
        self.protections: tuple[Protection, ...] = self._worker.configure(offered)
        warn_once(self.protections)

    def load_module(
        self,
        source: str,
        filename: str = "skill.js",
        *,
        source_map: str | None = None,
        timeout_s: float | None = None,
    ) -> Exports:
        """Run an ES module and keep its default export for `call` (see `Sandbox.load_module`)."""
        self._sources |= getattr(source, "sources", {filename: str(source)})
        found = source_map or getattr(source, "source_map", None)
        told = self._ask("load", [filename, found], str(source).encode("utf-8", "replace"), timeout_s)
        self.exports = exports_from(from_json(told, self.limits.transfer_bytes))
        return self.exports

    def call(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """See `Box.call`."""
        told = self._ask("call", [], to_json([name, arguments, shared]), timeout_s)
        answer = from_json(told, self.limits.transfer_bytes)
        return answer if shared is None else with_own(answer, arguments[0], shared)

    def evaluate(self, source: str, filename: str = "evaluate.js", *, timeout_s: float | None = None) -> Any:
        """The value of a script, or what its promise comes to (see `Sandbox.evaluate`)."""
        self._script = {filename: source}
        told = self._ask("evaluate", [filename], source.encode("utf-8", "replace"), timeout_s)
        return from_json(told, self.limits.transfer_bytes)

    def take_logs(self) -> list[LogLine]:
        """What the guest logged since the last call of this, in order."""
        return self._host.take_lines()

    def interrupt(self) -> None:
        """Stop what runs in it, at once, from any thread; the sandbox is dead then.

        The call that ran gets a `SandboxError` named `Interrupted`; where nothing runs, nothing happens.
        """
        if self._lock.locked():
            self._worker.interrupt()

    @property
    def alive(self) -> bool:
        """Whether it can be called: not closed, not stopped, not another process's."""
        return not self._worker.ended

    @property
    def memory_bytes(self) -> int:
        """The size of the guest's memory after its last call, everything included; 0 when it is gone."""
        return self._worker.memory_bytes if self.alive else 0

    def close(self) -> None:
        """End the worker. Closing twice is fine; a call under way ends first.

        Raises:
            SandboxError: when a host function of a call under way asks for it.

        """
        refuse_inside(self._worker.waiting)
        if self.alive:
            with self._lock:
                self._worker.end("it was closed")

    def _ask(self, method: str, rest: list[Any], body: bytes, timeout_s: float | None) -> bytes:
        """The worker's answer to one request: JSON that nobody has checked."""
        timeout = self.limits.timeout_s if timeout_s is None else check_timeout(timeout_s)
        refuse_inside(self._worker.waiting)
        self._require_alive()
        deadline = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            raise SandboxTimeout("another call kept the sandbox busy past the time limit", "Timeout")
        try:
            self._require_alive()
            return self._worker.ask(method, rest, body, deadline)
        except SandboxError as error:
            error.excerpt = excerpt(error.frames, {**self._sources, **self._script})
            raise
        finally:
            self._lock.release()

    def _require_alive(self) -> None:
        if why := self._worker.ended:
            raise SandboxError(f"the sandbox cannot be used any more: {why}", "SandboxClosed")


def protections() -> tuple[Protection, ...]:
    """What confines the workers on this machine, found out by starting one.

    Raises:
        SandboxError: where this is not Linux, or no worker can be started.

    """
    with ProcessSandbox() as box:
        return box.protections
