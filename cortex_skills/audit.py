"""The record of every call that reached the gate: who wanted what, and what became of it.

Rules kept here:
- a record says which tool, skill and agent, the outcome and the time it took; never an argument, a value of the graph,
  or what a skill said;
- a host records the calls of its own tools in the same way: their outcome is one word too;
- one line of JSON on the logger `cortex_skills.audit`, at INFO: a host decides where it goes.
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
        time: when it came, RFC 3339, UTC.
        tool: the tool that was asked for.
        skill: the acting skill; None when none was found.
        agent: on whose behalf.
        outcome: `ok`, or the stable code of the error.
        milliseconds: how long it took.
        stripped: how many values the enrichment lost to cleaning.

    """

    time: str
    tool: str
    skill: str | None
    agent: str
    outcome: str
    milliseconds: float
    stripped: int = 0


def is_kept() -> bool:
    """Whether a record would be written anywhere."""
    return log.isEnabledFor(logging.INFO)


def record(entry: AuditRecord) -> None:
    """Write a record."""
    if is_kept():
        log.info("%s", json.dumps(asdict(entry), ensure_ascii=True))


def now() -> str:
    """The time of a record."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def word(name: object) -> str:
    """What a caller named; it may be anything."""
    return name[:MAX_NAME] if isinstance(name, str) else f"<{type(name).__name__}>"


def of_host(tool: str, skill: str | None, agent: str, outcome: str, milliseconds: float) -> AuditRecord:
    """The record of a call of a host's own tool.

    Raises:
        CortexError: `invalid_arguments`: the outcome is no word, or the time is none.

    """
    if not isinstance(outcome, str) or not _OUTCOME.fullmatch(outcome):
        hint = "`ok`, or a code such as `tool_not_allowed`: up to 64 lower-case letters, digits and _"
        raise CortexError("invalid_arguments", "the outcome of a call must be one word", hint=hint)
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not 0 <= milliseconds < math.inf:
        raise CortexError(
            "invalid_arguments", "the milliseconds of a call must be a number from 0", hint="leave it out"
        )
    return AuditRecord(now(), word(tool), None if skill is None else word(skill), agent, outcome, float(milliseconds))
