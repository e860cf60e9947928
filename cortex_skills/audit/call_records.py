"""The audit record of every call that reaches the gate.

Rules kept here:
- a record has the tool, skill, agent, outcome and duration; never an argument, a value of the graph, or output of a
  skill;
- a host records calls of its other tools in the same way, with one word as the outcome;
- a record is one line of JSON on the logger `cortex_skills.audit` at INFO; the host configures its destination. The
  line has the number of removed values, and only `RecentCalls` their places.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from cortex_skills.errors import CortexError

log = logging.getLogger("cortex_skills.audit")

MAX_NAME = 256
MAX_REMOVED = 20
_MAX_MILLISECONDS = 1e11
_OUTCOME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from an enrichment: the reason, the place as a JSON Pointer, and how many values."""

    reason: str
    path: str
    count: int


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One call.

    Attributes:
        time: the start, RFC 3339, UTC.
        tool: the tool that was called.
        skill: the acting skill; None when none was found.
        agent: the agent that the call is for.
        outcome: `ok`, or the stable code of the error.
        milliseconds: the duration.
        stripped: how many values the cleaner removed from the enrichment.
        removed: the first `MAX_REMOVED` of them, without their texts.

    """

    time: str
    tool: str
    skill: str | None
    agent: str
    outcome: str
    milliseconds: float
    stripped: int = 0
    removed: tuple[Removed, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether the call failed or was refused."""
        return self.outcome != "ok"

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object."""
        return asdict(self) | {"removed": [asdict(removed) for removed in self.removed]}


def record(entry: AuditRecord) -> None:
    """Write a record to the logger."""
    if log.isEnabledFor(logging.INFO):
        line = entry.to_json()
        del line["removed"]
        log.info("%s", json.dumps(line, ensure_ascii=True))


def removed(reasons: Iterable[Mapping[str, Any]]) -> tuple[Removed, ...]:
    """The first `MAX_REMOVED` removals, of objects with `reason`, `path` and `count`."""
    return tuple(Removed(given["reason"], given["path"], given["count"]) for given in islice(reasons, MAX_REMOVED))


def started(milliseconds: float = 0.0) -> str:
    """The time that many milliseconds ago, for a record."""
    began = datetime.now(UTC) - timedelta(milliseconds=min(milliseconds, _MAX_MILLISECONDS))
    return began.isoformat(timespec="milliseconds")


def word(name: object) -> str:
    """A name from a caller, of any type, as bounded text."""
    return name[:MAX_NAME] if isinstance(name, str) else f"<{type(name).__name__}>"


def of_host(tool: str, skill: str | None, agent: str, outcome: str, milliseconds: float) -> AuditRecord:
    """The record of a call of a tool of the host.

    Raises:
        CortexError: `invalid_arguments`: the outcome is not a word, or the duration is invalid.

    """
    if not isinstance(outcome, str) or not _OUTCOME.fullmatch(outcome):
        hint = "`ok`, or a code such as `tool_not_allowed`: up to 64 lower-case letters, digits and _"
        raise CortexError("invalid_arguments", "the outcome of a call must be one word", hint=hint)
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not 0 <= milliseconds < math.inf:
        raise CortexError(
            "invalid_arguments", "the milliseconds of a call must be a number from 0", hint="leave it out"
        )
    took = float(milliseconds)
    return AuditRecord(started(took), word(tool), None if skill is None else word(skill), agent, outcome, took)
