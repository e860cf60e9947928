"""The record of every call that reached the gate: who wanted what, and what became of it.

Rules kept here:
- a record says which tool, skill and agent, the outcome and the time it took; never an argument, a value of the graph,
  or what a skill said;
- one line of JSON on the logger `cortex_skills.audit`, at INFO: a host decides where it goes.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass

log = logging.getLogger("cortex_skills.audit")


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


def record(entry: AuditRecord) -> None:
    """Write a record."""
    if log.isEnabledFor(logging.INFO):
        log.info("%s", json.dumps(asdict(entry), ensure_ascii=True))
