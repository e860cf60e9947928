"""`ProcessSandbox`: a `Sandbox` in a worker process without files, network and privileges.

    with ProcessSandbox(Limits(timeout_s=1.0), host={"echo": lambda value: value}) as box:
        box.load_module("export default { twice: (n) => 2 * echo(n) }")
        box.call("twice", 21)  # 42

Rules kept here:
- it behaves like `Sandbox` and raises the same errors; the guest runs in the worker, host functions run here;
- the worker is assumed to be hostile: every message is checked, and the worker is killed at the first message that
  violates the protocol or is too late;
- no call takes longer than its limit: the worker is killed, and a host function that does not end in time is abandoned;
- protections that the kernel does not support are logged once, as a warning.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from cortex_sandbox.box import Box, CallTicket
from cortex_sandbox.engine.reentrancy import refuse_inside
from cortex_sandbox.errors import SandboxError, SandboxTimeout
from cortex_sandbox.excerpt import excerpt
from cortex_sandbox.isolation.protection import Protection, warn_once
from cortex_sandbox.isolation.worker_client import WorkerClient
from cortex_sandbox.limits import Limits, check_timeout
from cortex_sandbox.quickjs.exports import Exports, exports_from
from cortex_sandbox.quickjs.host import HostFunction, HostSide, LogLine, Promised, seed_source
from cortex_sandbox.quickjs.json_border import from_json, to_json, with_own


class ProcessSandbox(Box):
    """One guest in its own process, with its limits and host functions. Safe to use from several threads.

    Linux only. The arguments, methods and errors are those of `Sandbox`, except for the clock.

    Args:
        limits: the limits of the guest.
        host: functions by their name in the guest. They run on a thread of this process, in a copy of the caller's
            context variables, and should end within `remaining_s()`: the caller does not wait longer.
        clock: not supported: the guest's `Date` is the worker's clock.
        seed: the seed of `Math.random`; by default random.

    Raises:
        ValueError: for a host function whose name is not a JavaScript name, or a clock.
        SandboxError: on another system than Linux, or when no worker can be started.
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
            raise ValueError("`ProcessSandbox` does not support a clock: use `Sandbox`")
        if sys.platform != "linux":
            raise SandboxError("`ProcessSandbox` needs Linux: use `Sandbox`", "Unsupported")
        self.limits = limits or Limits()
        self.exports = Exports()
        self._sources: dict[str, str] = {}
        self._script: dict[str, str] = {}  # the last one only: their number is not limited
        self._lock = threading.Lock()
        self._host = HostSide(host or {}, self.limits.log_bytes, self.limits.transfer_bytes, seed_source(seed))
        self._worker = WorkerClient(self.limits, self._host)
        weakref.finalize(self, self._worker.end, "it was garbage-collected")
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
        described = self._ask("load", [filename, found], str(source).encode("utf-8", "replace"), timeout_s)
        self.exports = exports_from(from_json(described, self.limits.transfer_bytes))
        return self.exports

    def call(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """See `Box.call`."""
        return self._call(None, name, arguments, timeout_s, shared)

    def _call(
        self, ticket: CallTicket | None, name: str, arguments: Any, timeout_s: float | None, shared: str | None
    ) -> Any:
        text = self._ask("call", [], to_json([name, arguments, shared]), timeout_s, ticket)
        answer = from_json(text, self.limits.transfer_bytes)
        return answer if shared is None else with_own(answer, arguments[0], shared)

    def evaluate(self, source: str, filename: str = "evaluate.js", *, timeout_s: float | None = None) -> Any:
        """The value of a script, or of the promise that it evaluates to (see `Sandbox.evaluate`)."""
        self._script = {filename: source}
        text = self._ask("evaluate", [filename], source.encode("utf-8", "replace"), timeout_s)
        return from_json(text, self.limits.transfer_bytes)

    def take_logs(self) -> list[LogLine]:
        """See `Box.take_logs`."""
        return self._host.take_lines()

    def interrupt(self) -> None:
        """See `Box.interrupt`; it takes effect at once."""
        if self._lock.locked():
            self._worker.interrupt()

    @property
    def alive(self) -> bool:
        """Whether it can be called: not closed, not stopped, and not made by the parent of a fork."""
        return not self._worker.ended

    @property
    def memory_bytes(self) -> int:
        """The guest's memory in use after its last call, in bytes; 0 when it is dead."""
        return self._worker.memory_bytes if self.alive else 0

    def close(self) -> None:
        """See `Box.close`."""
        refuse_inside(self._worker.pending)
        if self.alive:
            with self._lock:
                self._worker.end("it was closed")

    def _ask(
        self, method: str, rest: list[Any], body: bytes, timeout_s: float | None, ticket: CallTicket | None = None
    ) -> bytes:
        """The worker's result of one request, as unchecked JSON."""
        timeout = self.limits.timeout_s if timeout_s is None else check_timeout(timeout_s)
        refuse_inside(self._worker.pending)
        self._require_alive()
        deadline = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            raise SandboxTimeout("another call kept the sandbox busy past the time limit", "Timeout")
        try:
            self._require_alive()
            if ticket is not None:
                ticket.start(self._worker.interrupt)
            return self._worker.ask(method, rest, body, deadline)
        except SandboxError as error:
            error.excerpt = excerpt(error.frames, {**self._sources, **self._script})
            raise
        finally:
            if ticket is not None and ticket.end():
                self._worker.end("it was interrupted")
            self._lock.release()

    def _require_alive(self) -> None:
        if why := self._worker.ended:
            raise SandboxError(f"the sandbox cannot be used any more: {why}", "SandboxClosed")


def protections() -> tuple[Protection, ...]:
    """The protections of workers on this machine, determined by starting one.

    Raises:
        SandboxError: on another system than Linux, or when no worker can be started.
    """
    with ProcessSandbox() as box:
        return box.protections
