"""What a host offers to its guest: functions, a log, a seed.

Rules kept here:
- a function has a name that JavaScript can say (`echo`, `graphClient.createTriple`), and plain JSON as arguments and
  result; the guest finds it as a frozen global;
- an exception with a `code` is meant for the guest and reaches it with its message; of any other the guest learns
  that the function failed, and the host's log has the rest;
- what the guest logs is kept in order up to a number of bytes; what is beyond is counted, not kept.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import SandboxError
from .instance import current
from .quickjs import parse_json

log = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,63}(?:\.[A-Za-z_$][A-Za-z0-9_$]{0,63})?\Z")
_MAX_ERROR_TEXT = 2048


@dataclass(frozen=True, slots=True)
class Promised:
    """A host function that the guest sees as one that returns a promise."""

    function: Callable[..., Any]


HostFunction = Callable[..., Any] | Promised


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that a guest logged: `debug`, `info`, `warning` or `error`, and its text."""

    level: str
    text: str


def remaining_s() -> float:
    """Seconds that the guest which called this host function has left; a host function should keep to them.

    Outside of a host function there is no limit: infinity.
    """
    instance = current()
    return float("inf") if instance is None else max(0.0, instance.deadline - time.monotonic())


class HostSide:
    """Answers the calls of one guest.

    Args:
        functions: what is offered, by name.
        log_bytes: how much of the log is kept.
        seed: what `Math.random` starts from, four 32-bit numbers.

    Raises:
        ValueError: for a name that JavaScript cannot say, or one that is taken.

    """

    def __init__(self, functions: Mapping[str, HostFunction], log_bytes: int, seed: Callable[[], list[int]]) -> None:
        self._functions: dict[str, Callable[..., Any]] = {}
        for name, offered in functions.items():
            if not _NAME.match(name) or name.split(".")[0] in ("console", "logger", "globalThis", "default"):
                raise ValueError(f"{name!r} cannot be the name of a host function")
            self._functions[name] = offered.function if isinstance(offered, Promised) else offered
        groups = {name.partition(".")[0] for name in functions if "." in name}
        if clash := groups & set(functions):
            raise ValueError(f"{min(clash)!r} cannot be both a function and a group of functions")
        self.installation = json.dumps([_installed(name, offered) for name, offered in functions.items()])
        self._log_room = self._log_bytes = log_bytes
        self._seed = seed
        self.lines: list[LogLine] = []
        self.dropped_lines = 0

    def answer(self, path: str, argument: str) -> str:
        """The answer to one call: JSON, or `!` and the JSON of an error."""
        if path == ":log":
            self._keep(argument)
            return "null"
        if path == ":seed":
            return json.dumps(self._seed())
        try:
            arguments = parse_json(argument)
            return json.dumps(self._functions[path](*arguments), ensure_ascii=False, allow_nan=False)
        except Exception as error:
            return "!" + json.dumps(_told(path, error))

    def take_lines(self) -> list[LogLine]:
        """The lines logged since the last call, in order; a last line says how many were dropped."""
        lines, self.lines = self.lines, []
        if self.dropped_lines:
            lines.append(LogLine("warning", f"{self.dropped_lines} further lines were dropped"))
        self.dropped_lines = 0
        self._log_room = self._log_bytes
        return lines

    def _keep(self, argument: str) -> None:
        level, _, text = argument.partition("\n")
        size = len(text.encode("utf-8", "replace"))
        if size > self._log_room:
            self.dropped_lines += 1
            self._log_room = 0
            return
        self._log_room -= size + 1
        self.lines.append(LogLine(level, text))


def _installed(name: str, offered: HostFunction) -> list[Any]:
    """How the bootstrap is told of a function: its path, group, name, and whether it returns a promise."""
    group, _, last = name.rpartition(".")
    return [name, group, last, isinstance(offered, Promised)]


def _told(path: str, error: Exception) -> dict[str, Any]:
    """What the guest learns of an exception in a host function."""
    code = getattr(error, "code", None)
    if isinstance(code, str):
        message = error.message if isinstance(error, SandboxError) else str(error)
        return {"name": "HostError", "message": message[:_MAX_ERROR_TEXT], "code": code}
    log.warning("the host function %s failed", path, exc_info=error)
    return {"name": "HostError", "message": f"{path} failed in the host", "code": "host_error"}
