"""`Sandbox`: untrusted JavaScript in its own QuickJS, with access to the given host functions and nothing else.

    with Sandbox(Limits(timeout_s=1.0), host={"echo": lambda value: value}) as box:
        box.load_module("export default { twice: (n) => 2 * echo(n) }", filename="skill.js")
        box.call("twice", 21)  # 42

Rules kept here:
- JSON in, JSON out; promises are awaited; the host never traverses an object of the guest;
- every entry has a deadline that includes everything it causes: calls, promise reactions, getters, host functions;
- the first entry installs the host functions, before any code of the guest runs;
- a sandbox that was stopped is dead and reports so; other sandboxes are not affected;
- one call at a time: threads wait for each other; a host function that calls its own sandbox, or an outer one that
  waits for it, is refused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from cortex_sandbox.box import Box, CallTicket
from cortex_sandbox.engine.engine import deep_threads, engine_for, fits_here
from cortex_sandbox.engine.reentrancy import PendingCall, current, refuse_inside
from cortex_sandbox.errors import SandboxError, SandboxTimeout
from cortex_sandbox.esbuild.sourcemap import SourceMap
from cortex_sandbox.excerpt import excerpt
from cortex_sandbox.limits import MAX_STACK_BYTES, Limits, check_timeout
from cortex_sandbox.quickjs.compiler import compiled
from cortex_sandbox.quickjs.exports import Exports, exports_from
from cortex_sandbox.quickjs.guest import (
    ADOPT,
    CALL,
    INSTALL,
    MODULE,
    SCRIPT,
    SETTLE,
    Guest,
    ThrownError,
    out_of_memory,
    prepare_compiler,
)
from cortex_sandbox.quickjs.host import HostFunction, HostSide, LogLine, seed_source
from cortex_sandbox.quickjs.json_border import from_json, to_json, with_own
from cortex_sandbox.quickjs.stack_traces import error_from

T = TypeVar("T")

# For trusted code, beyond the limits of the guest.
_INSTALL_S = 30.0
# The maximum size of its result: an error message.
_INSTALL_BYTES = 4096


class Sandbox(Box):
    """One guest with its limits and host functions. Safe to use from several threads.

    Args:
        limits: the limits of the guest.
        host: functions by their name in the guest: `echo`, or `group.name`. They take and return JSON values;
            `Promised(function)` returns a promise to the guest. They run on the guest's thread and should end within
            `remaining_s()`.
        clock: returns seconds since the epoch for the guest's `Date`; by default the wall clock in milliseconds.
        seed: the seed of `Math.random`; by default random.

    Raises:
        ValueError: for a host function whose name is not a JavaScript name.
        FileNotFoundError: when the WebAssembly guests were not built.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        host: Mapping[str, HostFunction] | None = None,
        *,
        clock: Callable[[], float] | None = None,
        seed: int | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.exports = Exports()
        self._lock = threading.Lock()
        self._maps: dict[str, SourceMap] = {}
        self._sources: dict[str, str] = {}
        self._script: dict[str, str] = {}  # the last one only: their number is not limited
        self._closed = ""
        self._stack_bytes = min(self.limits.stack_bytes, MAX_STACK_BYTES)
        self._host = HostSide(host or {}, self.limits.log_bytes, self.limits.transfer_bytes, seed_source(seed))
        prepare_compiler(self.limits.memory_bytes)
        self._guest = Guest(engine_for(self._stack_bytes), self.limits.memory_bytes, self._stack_bytes)
        self._memory_bytes = self._guest.memory_bytes
        self._guest.instance.on_host_call = self._on_host_call
        if clock is not None:
            self._guest.instance.clock_ns = lambda: int(clock() * 1000) * 1_000_000
        self._to_install = self._host.installation if host else b""

    # --- loading and calling

    def load_module(
        self,
        source: str,
        filename: str = "skill.js",
        *,
        source_map: str | None = None,
        timeout_s: float | None = None,
    ) -> Exports:
        """Run an ES module and keep its default export for `call`.

        Args:
            source: JavaScript that imports nothing; the result of `transpile` and `bundle` includes its source map.
            filename: the name in errors.
            source_map: the source map as JSON, when `source` is a plain string.
            timeout_s: a time limit instead of that of `limits`.

        Raises:
            SandboxError: it does not compile, throws, or its top-level `await` never settles.
            SandboxTimeout, SandboxMemoryError: past a limit.
        """
        self._sources |= getattr(source, "sources", {filename: str(source)})
        found = source_map or getattr(source, "source_map", None)
        if found:
            self._maps[filename] = SourceMap(found)

        def load(guest: Guest) -> bytes:
            code = self._compiled(guest, str(source), filename, MODULE)
            return self._checked(guest.run_code(code, ADOPT, limit=self.limits.transfer_bytes))

        self.exports = exports_from(self._decoded(self._enter(load, timeout_s)))
        return self.exports

    def call(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """See `Box.call`."""
        answer = self._decoded(self._called(to_json([name, arguments, shared]), timeout_s))
        return answer if shared is None else with_own(answer, arguments[0], shared)

    def evaluate(self, source: str, filename: str = "evaluate.js", *, timeout_s: float | None = None) -> Any:
        """The value of a script, or of the promise that it evaluates to.

        Raises:
            SandboxError, SandboxTimeout, SandboxMemoryError: as `call`.
        """
        self._script = {filename: source}

        def run(guest: Guest) -> bytes:
            code = self._compiled(guest, source, filename, SCRIPT)
            return self._checked(guest.run_code(code, SETTLE, limit=self.limits.transfer_bytes))

        return self._decoded(self._enter(run, timeout_s))

    def take_logs(self) -> list[LogLine]:
        """See `Box.take_logs`."""
        return self._host.take_lines()

    # --- life

    def interrupt(self) -> None:
        """See `Box.interrupt`; it takes effect within about 50 ms."""
        if self._lock.locked():
            self._guest.instance.interrupt()

    @property
    def alive(self) -> bool:
        """Whether it can be called: neither closed nor stopped."""
        return not self._closed

    @property
    def memory_bytes(self) -> int:
        """The guest's memory in use after its last call, in bytes; 0 when it is dead."""
        return self._memory_bytes if self.alive else 0

    def close(self) -> None:
        """See `Box.close`."""
        refuse_inside(self._guest.instance)
        with self._lock:
            self._discard("it was closed")

    # --- inside

    def _call(self, ticket: CallTicket, name: str, arguments: Any, timeout_s: float | None, shared: str | None) -> Any:
        answer = self._decoded(self._called(to_json([name, arguments, shared]), timeout_s, ticket))
        return answer if shared is None else with_own(answer, arguments[0], shared)

    def _enter(self, work: Callable[[Guest], T], timeout_s: float | None = None, ticket: CallTicket | None = None) -> T:
        timeout = self.limits.timeout_s if timeout_s is None else check_timeout(timeout_s)
        refuse_inside(self._guest.instance)
        outer = current()
        deadline = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            raise SandboxTimeout("another call kept the sandbox busy past the time limit", "Timeout")
        try:
            if self._closed:
                raise SandboxError(f"the sandbox cannot be used any more: {self._closed}", "SandboxClosed")
            if ticket is not None:
                ticket.start(self._guest.instance.interrupt)
            if outer is None and fits_here(self._stack_bytes):
                return self._run(work, deadline, timeout, None)
            advance = self._guest.engine.clock.advance
            run = partial(self._run, work, deadline, timeout, outer)
            return deep_threads.run(run, self.interrupt, deadline=deadline, when_late=advance)
        finally:
            if ticket is not None and ticket.end():
                self._discard("it was interrupted")
            self._lock.release()

    def _run(self, work: Callable[[Guest], T], deadline: float, timeout: float, outer: PendingCall | None) -> T:
        guest = self._guest

        def installed() -> T:
            if self._to_install:
                guest.instance.keep_to(deadline + _INSTALL_S)
                self._checked(guest.enter(INSTALL, self._to_install, limit=_INSTALL_BYTES))
                self._to_install = b""
                guest.instance.keep_to(deadline)
            return work(guest)

        try:
            answer = guest.instance.run(installed, deadline, outer)
            self._check_in_time(timeout)
            return answer
        except SandboxError as error:
            if isinstance(error, ThrownError):
                error = self._error(error.described, error.has_been_full)
            self._check_in_time(timeout, error)
            raise error from None
        finally:
            if guest.instance.alive and guest.instance.stopped is None:
                self._memory_bytes = guest.memory_bytes
            else:
                self._discard("it was stopped at a limit")

    def _check_in_time(self, timeout: float, error: SandboxError | None = None) -> None:
        """Raise the error of a guest that was stopped at its time limit, with the place where it was."""
        if isinstance(self._guest.instance.stopped, SandboxTimeout):
            frames = () if error is None else error.frames
            late = SandboxTimeout(f"stopped: the time limit of {timeout:.3g} s was reached", "Timeout", frames)
            late.excerpt = "" if error is None else error.excerpt
            raise late from None

    def _error(self, described: bytes, has_been_full: bool | None = None) -> SandboxError:
        """The error that the guest threw. The engine throws `null` when it has no memory left for an error."""
        error = error_from(described, self._maps)
        error.excerpt = excerpt(error.frames, {**self._sources, **self._script})
        full = self._guest.has_been_full if has_been_full is None else has_been_full
        if error.name == "Thrown" and error.message == "null" and full:
            return out_of_memory()
        return error

    def _called(self, request: bytes, timeout_s: float | None, ticket: CallTicket | None = None) -> bytes:
        """The result of a call, as JSON; `request` is the JSON of name, arguments, and `shared`."""
        limit = self.limits.transfer_bytes
        return self._enter(lambda guest: self._checked(guest.enter(CALL, request, limit=limit)), timeout_s, ticket)

    def _checked(self, text: bytes | None) -> bytes:
        """The text of a result that is present and not an error."""
        if text is None:
            if self._guest.has_been_full:  # a promise job that failed for want of memory settles nothing
                raise out_of_memory()
            raise SandboxError("the promise never settles: no job is left to run", "NeverSettled")
        if text.startswith(b"!"):
            raise self._error(text[1:])
        return text

    def _compiled(self, guest: Guest, source: str, filename: str, kind: int) -> bytes:
        return compiled(
            source,
            filename,
            kind,
            memory_bytes=self.limits.memory_bytes,
            deadline=guest.instance.deadline,
        )

    def _decoded(self, text: bytes | None) -> Any:
        if text is None or text.startswith(b"!"):
            raise self._error((text or b"!{}")[1:])
        return from_json(text, self.limits.transfer_bytes)

    def _on_host_call(self, pointer: int, length: int) -> int:
        """Answer a host call: a text in, a text out (see `HostSide.answer`)."""
        guest, limit = self._guest, self.limits.transfer_bytes
        if not 0 <= length <= limit:
            message = f"a text of {length & 0xFFFFFFFF} bytes exceeds the transfer limit of {limit}"
            return guest.write_answer(b"!" + to_json({"name": "RangeError", "message": message}))
        return guest.write_answer(self._host.answer(guest.instance.read(pointer, length)))

    def _discard(self, reason: str) -> None:
        if not self._closed:
            self._closed = reason
            self._guest.instance.close()
