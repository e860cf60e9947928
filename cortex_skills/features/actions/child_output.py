"""Runs a child process to its end, with limits on its time and its output.

Rules kept here:
- it has no input, its own process group, and the given environment only; the whole group is killed at the end, also
  when the call is cancelled or late;
- what it writes beyond the limit ends it, with an error.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import ActionCall

if TYPE_CHECKING:
    from cortex_sandbox.isolation.confined_command import ConfinedCommand

_STEP_S = 0.05
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ChildOutput:
    """What a child wrote, its exit code, and the protections that it lacked."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    lacking: tuple[str, ...] = ()


def run_child(
    command: tuple[str, ...] | ConfinedCommand, call: ActionCall, folder: Path, environment: dict[str, str], limit: int
) -> ChildOutput:
    """Run a command and wait for its end.

    Args:
        command: the path of a program, the name that it is called by and its arguments; or a command to confine first.
        call: whose deadline and cancel token end it.
        folder: its working folder.
        environment: its whole environment.
        limit: how many bytes it may write, to both of its outputs together.

    Raises:
        CortexError: `cancelled` or `action_timeout`; `action_failed`: it cannot be started, or writes too much.
    """
    with ExitStack() as stack:
        ends: list[int] = []
        status = None
        if isinstance(command, tuple):
            program, *words = command
        else:
            from cortex_sandbox.engine.child_program import command as command_of

            status, theirs = _pipe(stack)
            described, ours = _pipe(stack)
            ends = [theirs.fileno(), described.fileno()]
            words = command_of("cortex_sandbox.isolation.confined_command", *ends)
            program = words[0]
        try:
            child = subprocess.Popen(  # noqa: S603 - no shell; the policies permit the arguments
                words,
                executable=program,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=ends,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _failed(call, f"it cannot be started: {getattr(error, 'strerror', error)}") from None
        stack.callback(_end, child)
        lacking: tuple[str, ...] = ()
        if not isinstance(command, tuple) and status is not None:
            theirs.close()
            described.close()
            with suppress(BrokenPipeError):
                ours.write(command.to_json())
            with suppress(BrokenPipeError):
                ours.close()
        outputs = _read(child, call, limit)
        if status is not None:
            lacking = tuple(json.loads(status.read() or b'["the program that confines it failed"]'))
        return ChildOutput(*outputs, child.returncode, lacking)


def _pipe(stack: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    reading, writing = os.pipe()
    return stack.enter_context(os.fdopen(reading, "rb")), stack.enter_context(os.fdopen(writing, "wb"))


def _read(child: subprocess.Popen[bytes], call: ActionCall, limit: int) -> tuple[bytes, bytes]:
    """What a child writes until it ends."""
    found = {child.stdout: bytearray(), child.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in found:
            selector.register(stream, selectors.EVENT_READ)  # type: ignore[arg-type]
        while (selector.get_map() and child.poll() is None) or _has_more(selector):
            call.check_time()
            for key, _ in selector.select(_STEP_S):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                found[key.fileobj] += chunk  # type: ignore[index]
            if sum(map(len, found.values())) > limit:
                raise _failed(call, f"it wrote more than {limit:,} bytes, and was stopped")
    while child.poll() is None:
        call.check_time()
        with suppress(subprocess.TimeoutExpired):
            child.wait(_STEP_S)
    return bytes(found[child.stdout]), bytes(found[child.stderr])


def _has_more(selector: selectors.BaseSelector) -> bool:
    """Whether an output of a child that has ended holds something still."""
    return bool(selector.get_map()) and bool(selector.select(0))


def _end(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _failed(call: ActionCall, what: str) -> CortexError:
    name = call.manifest.id
    return CortexError("action_failed", f"{name}: {what}", hint="check the arguments", details={"action": name})
