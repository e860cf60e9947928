"""What the host says to one worker and hears from it, with a deadline on everything.

Rules kept here:
- the worker is taken to be hostile: whatever it says is checked, and at the first word that breaks the protocol, or
  the first that comes too late, it is killed;
- no request takes longer than its deadline and a small grace, what the worker or a host function does notwithstanding;
- host functions run on a thread of their own, in a copy of the caller's context variables; one that does not end in
  time is left behind;
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

from cortex_sandbox.border import to_json
from cortex_sandbox.errors import SandboxError, SandboxMemoryError, SandboxTimeout
from cortex_sandbox.host import HostSide
from cortex_sandbox.limits import Limits
from cortex_sandbox.waiting import Turn, current, enter

from .host_calls import LateError, host_threads
from .link import WorkerGoneError, WorkerLateError
from .pool import take_worker
from .protection import Protection, protections_from
from .wire import (
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

# How long past the deadline the worker may itself tell of it: a part of the limit, and seconds.
_GRACE_PART, _GRACE_S = 0.05, 0.05
_READY_S = 30.0
# JSON may grow on its way through another writer; a described error may be longer than a short result.
_TRANSFER_FACTOR, _TRANSFER_SLACK = 2, 1 << 20
# What is larger than the guest's memory by this much could not be handed to the guest: it is not sent.
_GUEST_OVERHEAD = 8 << 20


class Conversation:
    """A worker, from its start to its end.

    Args:
        limits: what its guest may use.
        host: answers its calls.

    Raises:
        SandboxError: when no worker can be had.

    """

    def __init__(self, limits: Limits, host: HostSide) -> None:
        self._limits = limits
        self._host = host
        self._link = take_worker(_TRANSFER_FACTOR * limits.transfer_bytes + _TRANSFER_SLACK)
        self._most_bytes = limits.memory_bytes + _GUEST_OVERHEAD
        self._why = ""
        self.memory_bytes = 0
        self.waiting: Turn | None = None

    @property
    def ended(self) -> str:
        """Why it has ended; empty while it has not."""
        if self._link.open:
            return ""
        return self._why or "it belongs to the process that this one was forked from"

    def end(self, why: str) -> None:
        """Kill the worker, if that has not happened."""
        self._why = self._why or why
        self._link.kill()

    def interrupt(self) -> None:
        """Stop the worker, from any thread; whoever waits for it learns of it."""
        self._why = "it was interrupted"
        self._link.stop()

    def configure(self, offered: list[tuple[str, bool]]) -> tuple[Protection, ...]:
        """Tell the worker what it is to be; what confines it.

        Args:
            offered: the host's functions, and whether each returns a promise.

        Raises:
            SandboxError: when it cannot be that.

        """
        until = time.monotonic() + _READY_S
        with self._guarded():
            self._link.send(CONFIGURE, to_json([dataclasses.asdict(self._limits), offered]), until)
            kind, payload = self._link.receive(until)
            if kind == ERROR:
                self.end("it could not be made")
                raise error_from_json(payload)
            match parsed(payload):
                case [int(memory_bytes), list(told)] if kind == READY:
                    self.memory_bytes = memory_bytes
                    return protections_from(told)
            raise WireError("it does not say that it is ready")

    def ask(self, method: str, rest: list[Any], body: bytes, deadline: float) -> bytes:
        """The answer to one request: JSON that nobody has checked.

        Args:
            method: of `worker._Driver.answer`.
            rest: its further arguments.
            body: a source text, or the request of a call as JSON.
            deadline: when the guest must have ended, in monotonic seconds.

        Raises:
            SandboxError: what the guest threw, or how the worker failed.
            SandboxTimeout, SandboxMemoryError: past a limit.

        """
        if len(body) > self._most_bytes:
            raise SandboxMemoryError("out of memory", "InternalError")
        timeout = max(0.001, deadline - time.monotonic())
        until = deadline + _GRACE_PART * timeout + _GRACE_S
        self.waiting = Turn(deadline, current())
        with self._guarded():
            self._link.send(REQUEST, with_head([method, timeout, *rest], body), until)
            return self._outcome(*self._served(self.waiting, until))

    def _served(self, waiting: Turn, until: float) -> tuple[bytes, bytes]:
        """What the worker says in the end, with its calls answered and its log kept on the way."""
        context: contextvars.Context | None = None
        while True:
            kind, payload = self._link.receive(until)
            if kind == LOG:
                self._host.answer(b":log\n" + payload)
            elif kind == HOST_CALL:
                context = context or contextvars.copy_context()
                answer = host_threads.run(partial(self._answer, payload, waiting), context, waiting.deadline)
                if len(answer) > self._most_bytes:
                    self.end("it was stopped at a limit")
                    raise SandboxMemoryError("out of memory", "InternalError")
                self._link.send(ANSWER, answer, until)
            else:
                return kind, payload

    def _answer(self, request: bytes, waiting: Turn) -> bytes:
        before = enter(waiting)
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
        raise WireError("an answer is not of the form agreed on")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """End the worker at whatever leaves it in a state that is not known, and say what happened."""
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
            self.waiting = None
