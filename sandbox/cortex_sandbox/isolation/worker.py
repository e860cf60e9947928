"""The program of a worker process: one `Sandbox`, controlled over a pipe.

Rules kept here:
- the process is confined before it reads anything; messages of the host are trusted;
- host functions, the log and the seed are in the host: a call is a frame to the host and, except for the log, one back;
- the worker ends when the pipe does, and after any unexpected error.
"""

from __future__ import annotations

import os
import socket
from functools import partial
from typing import Any, NoReturn

from cortex_sandbox.engine.engine import INLINE_STACK_BYTES, deep_threads
from cortex_sandbox.errors import SandboxError, SandboxMemoryError
from cortex_sandbox.isolation.confinement import address_space, confine, limit_memory
from cortex_sandbox.isolation.spin_wait import SpinWait
from cortex_sandbox.isolation.wire import (
    ANSWER,
    CONFIGURE,
    ERROR,
    HOST_CALL,
    LOG,
    MAX_PAYLOAD_BYTES,
    READY,
    REQUEST,
    RESULT,
    Frames,
    error_to_json,
    frame,
    parsed,
    split_head,
    with_head,
)
from cortex_sandbox.limits import MAX_STACK_BYTES, MIN_MEMORY_BYTES, Limits
from cortex_sandbox.quickjs.host import HostSide, Promised
from cortex_sandbox.quickjs.json_border import to_json
from cortex_sandbox.sandbox import Sandbox

_READ_BYTES = 1 << 16
# About the time to wake a host that reads an answer and sends the next request.
_AWAKE_S = 4e-4
_LOG_PATH = b":log\n"


class HostPipe:
    """The worker's end of the pipe; it only reads and writes, which its confinement allows."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._spin_wait = SpinWait(socket.socket(fileno=descriptor), _AWAKE_S)
        self._frames = Frames((CONFIGURE, REQUEST, ANSWER), MAX_PAYLOAD_BYTES)

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Send one frame."""
        left = memoryview(frame(kind, *parts))
        while left:
            left = left[os.write(self._descriptor, left) :]

    def receive(self) -> bytes:
        """The payload of the next frame; the process ends when there is none."""
        while (taken := self._frames.take()) is None:
            data = self._spin_wait.read(_READ_BYTES, partial(os.read, self._descriptor))
            if not data:
                os._exit(0)
            self._frames.feed(data)
        return taken[1]


class _Relay(HostSide):
    """The host on the other side of the pipe."""

    def __init__(self, pipe: HostPipe, limits: Limits) -> None:
        super().__init__({}, limits.log_bytes, limits.transfer_bytes, list)
        self._pipe = pipe

    def answer(self, request: bytes) -> bytes:
        """The host's answer; a line of the log has none."""
        if request.startswith(_LOG_PATH):
            self._pipe.send(LOG, request[len(_LOG_PATH) :])
            return b"null"
        self._pipe.send(HOST_CALL, request)
        return self._pipe.receive()


class _Driver(Sandbox):
    """The sandbox, with a relayed host and calls as JSON."""

    def __init__(self, limits: Limits, offered: list[tuple[str, bool]], pipe: HostPipe) -> None:
        super().__init__(limits, {name: Promised(_relayed) if later else _relayed for name, later in offered})
        self._host = _Relay(pipe, limits)

    def answer(self, method: str, timeout_s: float, rest: list[Any], body: bytes) -> bytes:
        """The result of one request, as JSON."""
        if method == "call":
            return self._called(body, timeout_s)
        text = body.decode("utf-8", "replace")
        if method == "evaluate":
            return to_json(self.evaluate(text, *rest, timeout_s=timeout_s))
        filename, source_map = rest
        found = self.load_module(text, filename, source_map=source_map, timeout_s=timeout_s)
        return to_json({"type": found.type, "functions": list(found.functions), "values": found.values})


def _relayed(*_arguments: Any) -> NoReturn:
    """A placeholder: the sandbox only uses the names of the host functions."""
    raise AssertionError("host functions are answered by the relay")


def warm_up(memory_bytes: int = MIN_MEMORY_BYTES) -> None:
    """Run a small trusted program on every code path, so that threads and memory are ready for a guest."""
    for stack_bytes in (INLINE_STACK_BYTES, MAX_STACK_BYTES):
        with Sandbox(Limits(memory_bytes=memory_bytes, stack_bytes=stack_bytes), {"echo": _relayed}) as box:
            box.load_module("export default { echo: async (value) => value }", source_map='{"mappings":""}')
            box.call("echo", "\ud800")
            for source in ("throw new Error('\\ud800')", "("):
                try:
                    box.evaluate(source)
                except SandboxError:
                    continue


def serve(descriptor: int, parent: int) -> NoReturn:
    """Serve requests until the pipe ends.

    Args:
        descriptor: the pipe.
        parent: the process id of the parent; the worker is killed when it ends.
    """
    pipe = HostPipe(descriptor)
    held_bytes = address_space()
    protections = confine(parent)
    warm_up()
    sent_limits, offered = parsed(pipe.receive())
    limits = Limits(**sent_limits)
    limit_memory(held_bytes, limits.memory_bytes)
    try:
        box = _Driver(limits, offered, pipe)
    except SandboxError as error:
        pipe.send(ERROR, error_to_json(error))
        os._exit(0)
    report = [[protection.name, protection.in_force, protection.detail] for protection in protections]
    pipe.send(READY, to_json([box.memory_bytes, report]))
    deep_threads.run(lambda: _answer(pipe, box))  # guests run on this thread: no switch of threads for each call
    os._exit(1)


def _answer(pipe: HostPipe, box: _Driver) -> NoReturn:
    """Answer requests until the pipe ends."""
    while True:
        head, body = split_head(pipe.receive())
        method, timeout_s, *rest = head
        try:
            kind, answer = RESULT, box.answer(method, timeout_s, rest, body)
        except SandboxError as error:
            kind, answer = ERROR, error_to_json(error)
        except MemoryError:
            box.close()
            kind, answer = ERROR, error_to_json(SandboxMemoryError("out of memory", "InternalError"))
        pipe.send(kind, with_head([box.alive, box.memory_bytes], answer))
