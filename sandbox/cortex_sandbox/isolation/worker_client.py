"""The host's side of the protocol with one worker, with a deadline on every message.

Rules kept here:
- the worker is assumed to be hostile: every message is checked, and the worker is killed at the first message that
  violates the protocol or is too late;
- no request takes longer than its deadline and a small grace period;
- host functions run on a separate thread, in a copy of the caller's context variables; a function that does not end in
  time is abandoned;
- one request at a time: the owner holds a lock.
"""

from __future__ import annotations

import contextvars
import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from cortex_sandbox.engine.reentrancy import RemoteCall, current, enter
from cortex_sandbox.engine.threads import LateError, ThreadPool
from cortex_sandbox.errors import SandboxError, SandboxMemoryError, SandboxTimeout
from cortex_sandbox.isolation.link import WorkerGoneError, WorkerLateError, WorkerLink
from cortex_sandbox.isolation.pool import take_worker
from cortex_sandbox.isolation.protection import Protection, protections_from
from cortex_sandbox.isolation.wire import (
    ANSWER,
    CONFIGURE,
    ERROR,
    HOST_CALL,
    LOG,
    READY,
    REQUEST,
    RESULT,
    WireError,
    error_from_json,
    parsed,
    split_head,
    with_head,
)
from cortex_sandbox.limits import Limits
from cortex_sandbox.quickjs.host import HostSide
from cortex_sandbox.quickjs.json_border import to_json

# How long after the deadline the worker may still report the timeout: a part of the limit, and seconds.
_GRACE_PART, _GRACE_S = 0.05, 0.05
_READY_S = 30.0
# JSON may grow when it is written again; the description of an error may be longer than a short result.
_TRANSFER_FACTOR, _TRANSFER_SLACK = 2, 1 << 20
# A message that is this much larger than the guest's memory cannot be passed to the guest, so it is not sent.
_GUEST_OVERHEAD = 8 << 20

_host_threads = ThreadPool(0)


class WorkerClient:
    """A connection to a worker, from the worker's start to its end.

    Args:
        limits: the limits of its guest.
        host: answers its calls.

    Raises:
        SandboxError: when no worker can be started.
    """

    def __init__(self, limits: Limits, host: HostSide) -> None:
        self._limits = limits
        self._host = host
        self._link = self._take()
        self._most_bytes = limits.memory_bytes + _GUEST_OVERHEAD
        self._why = ""
        self.memory_bytes = 0
        self.pending: RemoteCall | None = None

    @property
    def ended(self) -> str:
        """Why the worker has ended; empty while it runs."""
        if self._link.open:
            return ""
        return self._why or "it belongs to the process that this one was forked from"

    def end(self, why: str) -> None:
        """Kill the worker, if it runs."""
        self._why = self._why or why
        self._link.kill()

    def interrupt(self) -> None:
        """Stop the worker, from any thread; a pending request raises an error."""
        self._why = "it was interrupted"
        self._link.stop()

    def configure(self, offered: list[tuple[str, bool]]) -> tuple[Protection, ...]:
        """Configure the worker; the protections that confine it.

        Args:
            offered: the names of the host functions, and whether each returns a promise.

        Raises:
            SandboxError: when the worker cannot make its sandbox.
        """
        with self._guarded():
            try:
                return self._configured(offered)
            except WorkerGoneError:  # it was killed while it waited: nothing has run in it
                self._link.kill()
                self._link = self._take()
                return self._configured(offered)

    def _take(self) -> WorkerLink:
        return take_worker(_TRANSFER_FACTOR * self._limits.transfer_bytes + _TRANSFER_SLACK)

    def _configured(self, offered: list[tuple[str, bool]]) -> tuple[Protection, ...]:
        until = time.monotonic() + _READY_S
        self._link.send(CONFIGURE, to_json([dataclasses.asdict(self._limits), offered]), until)
        kind, payload = self._link.receive(until)
        if kind == ERROR:
            self.end("it could not be made")
            raise error_from_json(payload)
        match parsed(payload):
            case [int(memory_bytes), list(items)] if kind == READY:
                self.memory_bytes = memory_bytes
                return protections_from(items)
        raise WireError("the worker does not report that it is ready")

    def ask(self, method: str, rest: list[Any], body: bytes, deadline: float) -> bytes:
        """The result of one request, as unchecked JSON.

        Args:
            method: of `worker._Driver.answer`.
            rest: its further arguments.
            body: a source text, or the request of a call as JSON.
            deadline: when the guest is stopped, in monotonic seconds.

        Raises:
            SandboxError: the error that the guest threw, or a failure of the worker.
            SandboxTimeout, SandboxMemoryError: past a limit.
        """
        if len(body) > self._most_bytes:
            raise SandboxMemoryError("out of memory", "InternalError")
        timeout = max(0.001, deadline - time.monotonic())
        until = deadline + _GRACE_PART * timeout + _GRACE_S
        self.pending = RemoteCall(deadline, current())
        with self._guarded():
            self._link.send(REQUEST, with_head([method, timeout, *rest], body), until)
            return self._outcome(*self._served(self.pending, until))

    def _served(self, call: RemoteCall, until: float) -> tuple[bytes, bytes]:
        """The last message of a request, after host calls were answered and log lines kept."""
        context: contextvars.Context | None = None
        while True:
            kind, payload = self._link.receive(until)
            if kind == LOG:
                self._host.answer(b":log\n" + payload)
            elif kind == HOST_CALL:
                context = context or contextvars.copy_context()
                answer = _host_threads.run_until(partial(self._answer, payload, call), context, call.deadline)
                if len(answer) > self._most_bytes:
                    self.end("it was stopped at a limit")
                    raise SandboxMemoryError("out of memory", "InternalError")
                self._link.send(ANSWER, answer, until)
            else:
                return kind, payload

    def _answer(self, request: bytes, call: RemoteCall) -> bytes:
        before = enter(call)
        try:
            return self._host.answer(request)
        finally:
            enter(before)

    def _outcome(self, kind: bytes, payload: bytes) -> bytes:
        head, body = split_head(payload)
        match head:
            case [bool(alive), int(memory_bytes)] if kind in (RESULT, ERROR):
                self.memory_bytes = memory_bytes
                if not alive:
                    self.end("it was stopped at a limit")
                if kind == RESULT:
                    return body
                raise error_from_json(body)
        raise WireError("a result is malformed")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Kill the worker after any failure that leaves its state unknown, and raise the error for the caller."""
        try:
            yield
        except SandboxError:
            raise
        except (WorkerLateError, LateError):
            self.end("it was stopped at a limit")
            raise SandboxTimeout("stopped: the time limit was reached", "Timeout") from None
        except WorkerGoneError:
            if self._why:
                self.end(self._why)
                raise SandboxError("stopped: it was interrupted", "Interrupted") from None
            self.end("its worker process ended")
            raise SandboxError("the worker process ended before it answered", "SandboxBroken") from None
        except WireError as error:
            self.end("its worker process broke the protocol")
            raise SandboxError(f"the worker process broke the protocol: {error}", "SandboxBroken") from None
        except BaseException:
            self.end("it was interrupted")
            raise
        finally:
            self.pending = None
