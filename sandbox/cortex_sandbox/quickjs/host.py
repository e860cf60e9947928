"""What a host offers to its guest: functions, a log, a seed.

Rules kept here:
- a function has a JavaScript name (`echo`, `graphClient.createTriple`), and JSON values as arguments and result; in the
  guest it is a frozen global;
- an exception with a `code` is meant for the guest and reaches it with its message and its hint. For any other
  exception the guest learns only that the function failed, and the host's log has the traceback, a limited number of
  times per sandbox;
- log lines of the guest are kept in order up to a number of bytes; further lines are only counted;
- the path and the arguments of a call come from the guest: both are checked.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cortex_sandbox.engine.reentrancy import current
from cortex_sandbox.errors import SandboxError
from cortex_sandbox.quickjs.json_border import from_json, to_json

log = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,63}(?:\.[A-Za-z_$][A-Za-z0-9_$]{0,63})?\Z")
_TAKEN = frozenset({"console", "logger", "globalThis", "default", "undefined", "NaN", "Infinity"})
_MAX_ERROR_TEXT = 2048
_MAX_FAILURES_LOGGED = 10
_LEVELS = frozenset({"debug", "info", "warning", "error"})
_LINE_BYTES = 16  # counted for each line beside its text, so that empty lines count too


@dataclass(frozen=True, slots=True)
class Promised:
    """A host function that returns a promise in the guest."""

    function: Callable[..., Any]


HostFunction = Callable[..., Any] | Promised


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the guest's log: the level (`debug`, `info`, `warning` or `error`) and the text."""

    level: str
    text: str


def remaining_s() -> float:
    """The seconds left until the deadline of the guest that called this host function; infinity outside of one.

    A host function should end within this time.
    """
    call = current()
    return float("inf") if call is None else max(0.0, call.deadline - time.monotonic())


class HostSide:
    """Answers the calls of one guest.

    Args:
        functions: the host functions, by name.
        log_bytes: the size limit of the log.
        transfer_bytes: the maximum size of the arguments of a call.
        seed: returns the seed of `Math.random`, four 32-bit integers.

    Raises:
        ValueError: for a name that is not a JavaScript name, or is reserved.
    """

    def __init__(
        self,
        functions: Mapping[str, HostFunction],
        log_bytes: int,
        transfer_bytes: int,
        seed: Callable[[], list[int]],
    ) -> None:
        self.installation = _installation(tuple((name, isinstance(f, Promised)) for name, f in functions.items()))
        self._functions: dict[bytes, Callable[..., Any]] = {
            name.encode(): offered.function if isinstance(offered, Promised) else offered
            for name, offered in functions.items()
        }
        self._log_room = self._log_bytes = log_bytes
        self._transfer_bytes = transfer_bytes
        self._seed = seed
        self._failures = 0
        self.lines: list[LogLine] = []
        self.dropped_lines = 0

    def answer(self, request: bytes) -> bytes:
        """The answer to one call: JSON, or `!` and the JSON of an error.

        Args:
            request: the function's name, a line break, and its arguments as a JSON array.
        """
        path, _, argument = request.partition(b"\n")
        function = self._functions.get(path)
        if function is None:
            return self._own(path, argument)
        try:
            arguments = from_json(argument, self._transfer_bytes)
            if not isinstance(arguments, list):
                raise SandboxError("the arguments of a host function must be a list", "TypeError")
            return to_json(function(*arguments))
        except Exception as error:
            return b"!" + to_json(self._described(path.decode(), error))

    def _own(self, path: bytes, argument: bytes) -> bytes:
        """The answer to a call of the bootstrap itself."""
        if path == b":log":
            self._keep(argument)
            return b"null"
        if path == b":seed":
            return to_json(self._seed())
        return b'!{"name":"HostError","message":"there is no such host function","code":"host_error"}'

    def take_lines(self) -> list[LogLine]:
        """The lines logged since the last call, in order; a last line has the number of dropped lines."""
        lines, self.lines = self.lines, []
        if self.dropped_lines:
            lines.append(LogLine("warning", f"{self.dropped_lines} further lines were dropped"))
        self.dropped_lines = 0
        self._log_room = self._log_bytes
        return lines

    def _keep(self, line: bytes) -> None:
        raw_level, _, text = line.partition(b"\n")
        size = len(text) + _LINE_BYTES
        if self.dropped_lines or size > self._log_room:
            self.dropped_lines += 1
            return
        self._log_room -= size
        level = raw_level.decode("utf-8", "replace")
        self.lines.append(LogLine(level if level in _LEVELS else "info", text.decode("utf-8", "replace")))

    def _described(self, path: str, error: Exception) -> dict[str, Any]:
        """The guest's view of an exception in a host function."""
        code = getattr(error, "code", None)
        if isinstance(code, str):
            message = error.message if isinstance(error, SandboxError) else str(error)
            hint = str(getattr(error, "hint", ""))[:_MAX_ERROR_TEXT]
            if hint:
                message = f"{message}; {hint}"
            return {"name": "HostError", "message": message[:_MAX_ERROR_TEXT], "code": code, "hint": hint}
        self._failures += 1
        if self._failures <= _MAX_FAILURES_LOGGED:
            log.warning("the host function %s failed", path, exc_info=error)
        return {"name": "HostError", "message": f"{path} failed in the host", "code": "host_error"}


@lru_cache(maxsize=64)
def _installation(functions: tuple[tuple[str, bool], ...]) -> bytes:
    """The functions for the bootstrap: path, group, name, and whether it returns a promise, of each."""
    names = [name for name, _ in functions]
    for name in names:
        if not _NAME.match(name) or name.split(".")[0] in _TAKEN:
            raise ValueError(f"{name!r} is not a valid name of a host function")
    groups = {name.partition(".")[0] for name in names if "." in name}
    if clash := groups & set(names):
        raise ValueError(f"{min(clash)!r} cannot be both a function and a group of functions")
    parts = [(name, *name.rpartition("."), promised) for name, promised in functions]
    return to_json([[path, group, name, promised] for path, group, _, name, promised in parts])


def seed_source(seed: int | None) -> Callable[[], list[int]]:
    """Returns the initial state of `Math.random`: four 32-bit words from the seed, or random ones.

    Raises:
        ValueError: for a seed of more than 128 bits.
    """
    if seed is None:
        return lambda: _words(os.urandom(16))
    if not -(1 << 127) <= seed < 1 << 127:
        raise ValueError("a seed must have at most 128 bits, sign included")
    return lambda: _words(seed.to_bytes(16, "little", signed=True))


def _words(raw: bytes) -> list[int]:
    words = [int.from_bytes(raw[at : at + 4], "little", signed=True) for at in range(0, 16, 4)]
    return words if any(words) else [1, 2, 3, 4]  # a state of zeros would stay zero
