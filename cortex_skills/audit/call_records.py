"""The audit record of every call that reaches the gate.

Rules kept here:
- a record has the tool, skill, agent, outcome and duration; never an argument, a value of the graph, or output of a
  skill;
- a host records calls of its other tools in the same way, with one word as the outcome;
- a record is one line of JSON on the logger `cortex_skills.audit` at INFO; the host configures its destination.
"""

from __future__ import annotations

import json
import logging
import math
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from cortex_skills.errors import CortexError

log = logging.getLogger("cortex_skills.audit")

MAX_NAME = 256
_OUTCOME = re.compile(r"[a-z][a-z0-9_]{0,63}")


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

    """

    time: str
    tool: str
    skill: str | None
    agent: str
    outcome: str
    milliseconds: float
    stripped: int = 0


def is_kept() -> bool:
    """Whether the logger is enabled for records."""
    return log.isEnabledFor(logging.INFO)


def record(entry: AuditRecord) -> None:
    """Write a record."""
    if is_kept():
        log.info("%s", json.dumps(asdict(entry), ensure_ascii=True))


def now() -> str:
    """The current time, for a record."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


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
    return AuditRecord(now(), word(tool), None if skill is None else word(skill), agent, outcome, float(milliseconds))
