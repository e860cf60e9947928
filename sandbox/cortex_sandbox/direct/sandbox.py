"""`DirectSandbox`: a skill in Node.js, without any sandbox, with the interface of `Sandbox`.

    with DirectSandbox(Path("skills/verify-kyc"), host={"echo": lambda value: value}) as box:
        box.load()
        box.call("onQuery", {"results": []})

Rules kept here:
- only where the environment allows it, and never without a warning (`gate.py`);
- results, errors, host functions and logs are as in `Sandbox`; of the limits only the time limit applies: past it the
  process is killed;
- any failure of the communication ends the Node.js process; other sandboxes are not affected;
- with a debugger, no time limit applies.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

from cortex_sandbox.box import Box, CallTicket
from cortex_sandbox.direct.node import child_environment, find_node, inspector_address
from cortex_sandbox.direct.node_program import write_bundle
from cortex_sandbox.direct.opt_in import check_allowed, warn
from cortex_sandbox.direct.process import HOOK, LOAD, UNLOADABLE, NodeProcess
from cortex_sandbox.engine.guests import read_guest
from cortex_sandbox.engine.reentrancy import RemoteCall, refuse_inside, remote_call
from cortex_sandbox.errors import SandboxError, SandboxTimeout
from cortex_sandbox.limits import Limits, check_timeout
from cortex_sandbox.quickjs.exports import Exports, exports_from
from cortex_sandbox.quickjs.host import HostFunction, HostSide, LogLine, seed_source
from cortex_sandbox.quickjs.image import ENTRIES
from cortex_sandbox.quickjs.json_border import from_json, to_json, with_own
from cortex_sandbox.quickjs.stack_traces import error_from

IMPORT_TIMEOUT_S = 5.0
_MARGIN_BYTES = 64 << 10  # how much longer than the transfer limit a message may be
_RETRY_S = 0.05

T = TypeVar("T")


class DirectSandbox(Box):
    """One skill in its own Node.js process. Safe to use from several threads.

    Args:
        folder: the folder of the skill.
        entry: the file that is loaded, by its path in the folder.
        limits: `timeout_s`, `transfer_bytes` and `log_bytes` apply; memory and stack are those of Node.js.
        host: functions by their name in the skill, as for `Sandbox`.
        inspect: the address for a debugger, such as `127.0.0.1:9229`. The skill waits for a debugger before it starts,
            and no time limit applies.

    Raises:
        SandboxError: `DirectModeRefused` when the environment does not allow it, `DirectModeUnavailable` when there is
            no suitable Node.js.
        ValueError: the entry is not a file of the folder, a name of a host function is not a JavaScript name, or the
            address is not a loopback address.
    """

    def __init__(
        self,
        folder: Path,
        entry: str = "skill.ts",
        limits: Limits | None = None,
        host: Mapping[str, HostFunction] | None = None,
        *,
        inspect: str | None = None,
    ) -> None:
        check_allowed()
        self._node = find_node()
        self.limits = limits or Limits()
        self.exports = Exports()
        self._folder = folder.resolve()
        self._entry = entry
        self._program = (self._folder / entry).resolve()
        if not self._program.is_relative_to(self._folder) or not self._program.is_file():
            raise ValueError(f"{entry!r} is not a file in {folder}")
        self._inspect = None if inspect is None else inspector_address(inspect)
        self._host = HostSide(host or {}, self.limits.log_bytes, self.limits.transfer_bytes, seed_source(None))
        self._lock = threading.Lock()
        self._process: NodeProcess | None = None
        self._pending: RemoteCall | None = None
        self._ticket: CallTicket | None = None
        self._closed = ""
        warn(self._folder, self._inspect)

    # --- loading and calling

    def load(self, *, timeout_s: float = IMPORT_TIMEOUT_S) -> Exports:
        """Start Node.js, import the skill, and keep its default export for `call`.

        Args:
            timeout_s: for the start and the import; bundling has a separate limit.

        Raises:
            SandboxError: it throws, or is already loaded.
            SandboxTimeout: past the limit.
            TranspileError: it is not JavaScript or TypeScript, or imports a file that is not in its folder.
        """
        check_timeout(timeout_s)

        def work(_deadline: float) -> bytes:
            if self._process is not None:
                raise SandboxError("the skill is already loaded: use another sandbox to load it again", "SandboxBusy")
            with tempfile.TemporaryDirectory(prefix="cortex-direct-") as scratch:
                return self._load(Path(scratch), timeout_s)

        self.exports = exports_from(self._decoded(self._enter(work, timeout_s)))
        return self.exports

    def call(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """See `Box.call`; here a promise that never settles is a timeout."""
        return self._call(CallTicket(), name, arguments, timeout_s, shared)

    def interrupt(self) -> None:
        """Kill the process when a call is running; that call raises a `SandboxError`."""
        if self._ticket is not None and self._process is not None:
            self._process.kill()

    def take_logs(self) -> list[LogLine]:
        """The lines that the skill logged or printed since the last call, in order."""
        if self._lock.acquire(blocking=False):
            try:
                if self._process is not None and self.alive:
                    self._process.pump()
            except SandboxError as error:
                self._discard(error.message)
            finally:
                self._lock.release()
        return self._host.take_lines()

    # --- life

    @property
    def alive(self) -> bool:
        """Whether it can be called: neither closed nor stopped."""
        return not self._closed

    @property
    def pid(self) -> int | None:
        """The process id of its Node.js; None when it does not run."""
        return self._process.pid if self._process is not None and self.alive else None

    def close(self) -> None:
        """Stop the process. A running call ends first, or is killed when there may be a debugger.

        A second call has no effect.

        Raises:
            SandboxError: when called by a host function of a running call.
        """
        refuse_inside(self._pending)
        while not self._lock.acquire(timeout=_RETRY_S if self._inspect else -1):
            if self._process is not None:
                self._process.kill()
        try:
            self._discard("it was closed")
        finally:
            self._lock.release()

    # --- inside

    def _call(
        self,
        ticket: CallTicket,
        name: str,
        arguments: tuple[Any, ...],
        timeout_s: float | None,
        shared: str | None,
    ) -> Any:
        timeout = self.limits.timeout_s if timeout_s is None else check_timeout(timeout_s)
        request = to_json([name, arguments, shared])

        def work(deadline: float) -> bytes:
            process = self._started()
            ticket.start(process.kill)
            self._ticket = ticket
            try:
                return self._ask(process, HOOK, request, deadline - time.monotonic())[1]
            finally:
                if ticket.end():
                    self._discard("it was interrupted")

        answer = self._decoded(self._enter(work, timeout))
        return answer if shared is None else with_own(answer, arguments[0], shared)

    def _enter(self, work: Callable[[float], T], timeout: float) -> T:
        refuse_inside(self._pending)
        deadline = time.monotonic() + timeout
        if not self._lock.acquire(timeout=-1 if self._inspect else timeout):
            raise SandboxTimeout("another call kept the sandbox busy past the time limit", "Timeout")
        try:
            if self._closed:
                raise SandboxError(f"the sandbox cannot be used any more: {self._closed}", "SandboxClosed")
            return work(deadline)
        finally:
            self._ticket = None
            self._lock.release()

    def _ask(self, process: NodeProcess, kind: bytes, text: bytes, timeout_s: float) -> tuple[bytes, bytes]:
        """Send a request to the process, as the current call of this thread; any failure ends the process."""
        deadline = float("inf") if self._inspect else time.monotonic() + timeout_s
        try:
            with remote_call(deadline) as self._pending:
                return process.request(kind, text, deadline)
        except BaseException as error:
            self._discard(error.message if isinstance(error, SandboxError) else "it was interrupted")
            raise

    def _load(self, scratch: Path, timeout_s: float) -> bytes:
        """The description of the skill's exports; a bundle is in `scratch` until it is loaded."""
        native = self._node.loads(self._entry)
        program = self._program if native else write_bundle(self._folder, self._entry, scratch)
        process = self._start(program)
        kind, exports = self._ask(process, LOAD, program.as_uri().encode(), timeout_s)
        if kind == UNLOADABLE and native:  # the bundler may support syntax that Node.js does not
            program = write_bundle(self._folder, self._entry, scratch)
            _, exports = self._ask(process, LOAD, program.as_uri().encode(), timeout_s)
        return exports

    def _start(self, program: Path) -> NodeProcess:
        setup = {
            "bootstrap": read_guest("bootstrap.js").decode(),
            "entries": ENTRIES,
            "folder": str(self._folder),
            "functions": self._host.installation.decode(),
            "inspecting": self._inspect is not None,
            "transferBytes": self.limits.transfer_bytes,
        }
        host = self._host  # the callbacks must not refer to `self`: a reference cycle would delay its collection
        try:
            process = self._process = NodeProcess(
                lambda pipes: self._node.command(program, pipes, self._inspect),
                self._folder,
                child_environment(),
                max_bytes=self.limits.transfer_bytes + _MARGIN_BYTES,
                on_call=host.answer,
                on_log=lambda line: host.answer(b":log\n" + line),
            )
        except OSError as error:
            raise SandboxError(f"Node.js cannot be started: {error.strerror}", "DirectModeUnavailable") from None
        process.send_setup(orjson.dumps(setup))
        return process

    def _started(self) -> NodeProcess:
        if self._process is None:
            raise SandboxError("the skill is not loaded yet", "NotLoaded")
        return self._process

    def _decoded(self, text: bytes) -> Any:
        if text.startswith(b"!"):
            raise error_from(text[1:], {})
        return from_json(text, self.limits.transfer_bytes)

    def _discard(self, reason: str) -> None:
        if not self._closed:
            self._closed = reason
            if self._process is not None:
                self._process.end()
