"""`DirectSandbox`: a skill in the machine's own Node.js, without any sandbox, with the interface of `Sandbox`.

    with DirectSandbox(Path("skills/verify-kyc"), host={"echo": lambda value: value}) as box:
        box.load()
        box.call("onQuery", {"results": []})

Rules kept here:
- only where the environment asks for it, and never without a warning (`gate.py`);
- what `Sandbox` promises of results, errors, host functions and logs holds here too; what it promises of limits does
  not, but for time: past it the process is killed;
- whatever goes wrong between the two processes ends the other one; the next one is sound;
- while a debugger may attach, no time limit applies: a person is reading.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson

from cortex_sandbox.border import from_json, to_json, with_own
from cortex_sandbox.box import Box
from cortex_sandbox.errors import SandboxError, SandboxTimeout
from cortex_sandbox.exports import Exports, exports_from
from cortex_sandbox.guests import read_guest
from cortex_sandbox.host import HostFunction, HostSide, LogLine, seed_source
from cortex_sandbox.image import ENTRIES
from cortex_sandbox.limits import Limits, check_timeout
from cortex_sandbox.stacks import error_from
from cortex_sandbox.waiting import Turn, refuse_inside, turn_until

from .gate import check_allowed, warn
from .node import child_environment, find_node, inspector_address
from .process import HOOK, LOAD, UNLOADABLE, NodeProcess
from .program import write_bundle

IMPORT_TIMEOUT_S = 5.0
_MARGIN_BYTES = 64 << 10  # what a message may be longer than what the guest was held to
_LOOK_S = 0.05

T = TypeVar("T")


class DirectSandbox(Box):
    """One skill in a Node.js of its own. Safe to use from several threads.

    Args:
        folder: of the skill.
        entry: the file that is loaded, by its path in the folder.
        limits: `timeout_s`, `transfer_bytes` and `log_bytes` hold; memory and stack are as large as Node.js has them.
        host: functions by the name under which the skill finds them, as for `Sandbox`.
        inspect: where a debugger may attach, `127.0.0.1:9229` say. The skill waits for one before it starts, and no
            time limit applies.

    Raises:
        SandboxError: `DirectModeRefused` where the environment does not ask for it, `DirectModeUnavailable` where
            there is no Node.js that can do it.
        ValueError: the entry is no file of the folder, a name that JavaScript cannot say, an address that is not of
            the loopback.

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
            raise ValueError(f"{entry!r} is no file in {folder}")
        self._inspect = None if inspect is None else inspector_address(inspect)
        self._host = HostSide(host or {}, self.limits.log_bytes, self.limits.transfer_bytes, seed_source(None))
        self._lock = threading.Lock()
        self._process: NodeProcess | None = None
        self._turn: Turn | None = None
        self._ticket: object = None
        self._closed = ""
        warn(self._folder, self._inspect)

    # --- loading and calling

    def load(self, *, timeout_s: float = IMPORT_TIMEOUT_S) -> Exports:
        """Start Node.js, import the skill, and keep its default export for `call`.

        Args:
            timeout_s: for the start and the import; bundling has a limit of its own.

        Raises:
            SandboxError: it throws, or it is loaded already.
            SandboxTimeout: past the limit.
            TranspileError: it is not JavaScript or TypeScript, or imports what is not in its folder.

        """
        check_timeout(timeout_s)

        def work(_deadline: float) -> bytes:
            if self._process is not None:
                raise SandboxError("the skill is loaded already: make another one to load it anew", "SandboxBusy")
            with tempfile.TemporaryDirectory(prefix="cortex-direct-") as scratch:
                return self._load(Path(scratch), timeout_s)

        self.exports = exports_from(self._decoded(self._enter(work, timeout_s)))
        return self.exports

    def call(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """See `Box.call`; a promise that never settles runs into the time limit here."""
        return self._call(threading.Event(), name, arguments, timeout_s, shared)

    async def acall(self, name: str, *arguments: Any, timeout_s: float | None = None, shared: str | None = None) -> Any:
        """`call`, without blocking the event loop; cancelled, the process is killed, or the call never begins."""
        ticket = threading.Event()
        try:
            return await asyncio.to_thread(self._call, ticket, name, arguments, timeout_s, shared)
        except asyncio.CancelledError:
            ticket.set()
            if self._ticket is ticket and self._process is not None:
                self._process.kill()
            raise

    def interrupt(self) -> None:
        """Kill the process when a call is under way; that gets a `SandboxError`."""
        if self._ticket is not None and self._process is not None:
            self._process.kill()

    def take_logs(self) -> list[LogLine]:
        """What the skill logged or printed since the last call of this, in order."""
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
        """Whether it can be called: not closed, not stopped."""
        return not self._closed

    @property
    def pid(self) -> int | None:
        """The process id of its Node.js; None when there is none."""
        return self._process.pid if self._process is not None and self.alive else None

    def close(self) -> None:
        """End the process. Closing twice is fine; a call under way ends first, or at once where a debugger may hold it.

        Raises:
            SandboxError: when a host function of a call under way asks for it.

        """
        refuse_inside(self._turn)
        while not self._lock.acquire(timeout=_LOOK_S if self._inspect else -1):
            if self._process is not None:
                self._process.kill()
        try:
            self._discard("it was closed")
        finally:
            self._lock.release()

    # --- inside

    def _call(
        self,
        ticket: threading.Event,
        name: str,
        arguments: tuple[Any, ...],
        timeout_s: float | None,
        shared: str | None,
    ) -> Any:
        timeout = self.limits.timeout_s if timeout_s is None else check_timeout(timeout_s)
        request = to_json([name, arguments, shared])

        def work(deadline: float) -> bytes:
            self._ticket = ticket
            if ticket.is_set():  # nobody waits for it any more
                raise SandboxError("stopped: it was interrupted", "Interrupted")
            return self._ask(self._started(), HOOK, request, deadline - time.monotonic())[1]

        answer = self._decoded(self._enter(work, timeout))
        return answer if shared is None else with_own(answer, arguments[0], shared)

    def _enter(self, work: Callable[[float], T], timeout: float) -> T:
        refuse_inside(self._turn)
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
        """Ask the process, with this turn known to the host functions; whatever goes wrong there ends it."""
        deadline = float("inf") if self._inspect else time.monotonic() + timeout_s
        try:
            with turn_until(deadline) as self._turn:
                return process.ask(kind, text, deadline)
        except BaseException as error:
            self._discard(error.message if isinstance(error, SandboxError) else "it was interrupted")
            raise

    def _load(self, scratch: Path, timeout_s: float) -> bytes:
        """What the skill exports; a bundle of it is needed in `scratch` until it is loaded, and no longer."""
        native = self._node.loads(self._entry)
        program = self._program if native else write_bundle(self._folder, self._entry, scratch)
        process = self._start(program)
        kind, told = self._ask(process, LOAD, program.as_uri().encode(), timeout_s)
        if kind == UNLOADABLE and native:  # what the bundler understands and Node.js alone does not, or an error
            program = write_bundle(self._folder, self._entry, scratch)
            _, told = self._ask(process, LOAD, program.as_uri().encode(), timeout_s)
        return told

    def _start(self, program: Path) -> NodeProcess:
        setup = {
            "bootstrap": read_guest("bootstrap.js").decode(),
            "entries": ENTRIES,
            "folder": str(self._folder),
            "functions": self._host.installation.decode(),
            "inspecting": self._inspect is not None,
            "transferBytes": self.limits.transfer_bytes,
        }
        host = self._host  # not by way of `self`, so that one that is forgotten goes at once
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
        process.tell(orjson.dumps(setup))
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
