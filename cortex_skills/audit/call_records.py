"""The audit record of every call that reaches the gate, and of events that are no calls.

Rules kept here:
- a record has the tool or action, skill, agent, outcome and duration; inputs and outputs only where a journal is kept
  (`audit_log`), redacted and bounded;
- what a call changes or recalls is in its record (`changes`), each as its operation states it: one act has one record;
- a host records calls of its other tools in the same way, with one word as the outcome;
- a record is one line of JSON on the logger `cortex_skills.audit` at INFO; the host configures its destination. The
  line has no input, output or data of an event, and the number of removed values; only `RecentCalls` has their places.
  Of what a call changed it has the names of the operations.
"""

from __future__ import annotations

import json
import logging
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.errors import CortexError

log = logging.getLogger("cortex_skills.audit")

TOOL_CALL = "tool.call"
# The names of an action: those of MetaHuman OS, whose tools read the journal.
ACTION = "action"
ACTION_CALL = "skill_executed"
STARTED = "action.started"
OPERATOR = "operator"  # who acts, where a caller named no agent
DEFAULT_AGENT = "default"  # of a caller that names none
MAX_NAME = 256
MAX_REMOVED = 20
MAX_CHANGES = 20
_MAX_MILLISECONDS = 1e11
_OF_JOURNAL = ("inputs", "outputs", "data", "host")
_EVENT = re.compile(r"[a-z][a-z_]{0,31}(\.[a-z][a-z_]{0,31}){1,3}")
_OUTCOME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from an enrichment: the reason, the place as a JSON Pointer, and how many values."""

    reason: str
    path: str
    count: int


class AuditRecord(NamedTuple):  # one is made for each call: a third of the time of a frozen dataclass
    """One call, or one event that is no call.

    Attributes:
        time: the start, RFC 3339, UTC.
        tool: the tool or action that was called; of another event, its name.
        skill: the acting skill; None when none was found.
        agent: the agent that the call is for.
        outcome: `ok`, or the stable code of the error.
        milliseconds: the duration.
        stripped: how many values the cleaner removed from the enrichment.
        removed: the first `MAX_REMOVED` of them, without their texts.
        event: `tool.call`, `skill_executed` of an action, or what happened, such as `actions.trust_level.set`.
        category: `tool`, `action`, or the first part of the event.
        actor: who did it, if not the agent: the person who approved.
        inputs: the arguments, redacted and bounded; None where no journal is kept.
        outputs: the beginning of the result, in the same way.
        data: what else is stated. Facts of the program, such as an id, a digest or `from` and `to`, as they are; what
            people, agents and artifacts wrote, such as a reason, in the same way as the inputs.
        approval_required: whether the call had to wait for an approval.
        approved_by: who approved it.
        trust_level: of the agent, when the call was checked.
        host: the installation that wrote it; None where no journal is kept.
        session: the id of the client's session (`Session.id_of`); None for what is no call.
        changes: what the call changed, or tried to, and what it recalled, as `change_of` makes it: the first
            `MAX_CHANGES`.
    """

    time: str
    tool: str
    skill: str | None
    agent: str
    outcome: str
    milliseconds: float
    stripped: int = 0
    removed: tuple[Removed, ...] = ()
    event: str = TOOL_CALL
    category: str = "tool"
    actor: str | None = None
    inputs: Any = None
    outputs: Any = None
    data: Any = None
    approval_required: bool = False
    approved_by: str | None = None
    trust_level: str | None = None
    host: HostIdentity | None = None
    session: str | None = None
    changes: tuple[dict[str, Any], ...] = ()

    @property
    def level(self) -> str:
        """`info`, `warn` for what was refused or failed, `error` for an error of the plugin."""
        return {"ok": "info", "internal_error": "error"}.get(self.outcome, "warn")

    @property
    def is_refused(self) -> bool:
        """Whether the call failed or was refused."""
        return self.outcome != "ok"

    @property
    def acts(self) -> tuple[AuditRecord, ...]:
        """What was done, each as a record of its operation: the changes of a call, or else the record itself."""
        if not self.changes:
            return (self,)
        return tuple(
            self._replace(
                event=change["event"],
                category=change["event"].partition(".")[0],
                outcome=change["code"] or "ok",
                inputs=None,
                outputs=None,
                data=change.get("data"),
                changes=(),
            )
            for change in self.changes
        )

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object."""
        return self._asdict() | {
            "level": self.level,
            "removed": [asdict(removed) for removed in self.removed],
            "host": None if self.host is None else asdict(self.host),
            "changes": list(self.changes),
        }


def record(entry: AuditRecord) -> None:
    """Write a record to the logger."""
    if log.isEnabledFor(logging.INFO):
        line = entry.to_json()
        for name in ("removed", *_OF_JOURNAL):
            del line[name]
        line["changes"] = [change["event"] for change in entry.changes]
        log.info("%s", json.dumps(line, ensure_ascii=True))


def removed(reasons: Iterable[Mapping[str, Any]]) -> tuple[Removed, ...]:
    """The first `MAX_REMOVED` removals, of objects with `reason`, `path` and `count`."""
    return tuple(Removed(given["reason"], given["path"], given["count"]) for given in islice(reasons, MAX_REMOVED))


def change_of(entry: AuditRecord) -> dict[str, Any]:
    """The record of an operation, as the record of its call has it: with the members of `details` in a journal."""
    code = None if entry.outcome == "ok" else entry.outcome
    data = {} if entry.data is None else {"data": entry.data}
    return {"event": entry.event, "success": code is None, "code": code, **data}


@dataclass(slots=True)
class CallChanges:
    """Collects the changes of one call for its record, on the thread of the call."""

    _kept: list[AuditRecord] = field(default_factory=list)
    _is_open: bool = True

    def keep(self, entry: AuditRecord) -> bool:
        """Keep the record of a change; False if it must be written as a separate record."""
        if not self._is_open or len(self._kept) >= MAX_CHANGES:
            return False
        self._kept.append(entry)
        return True

    def close(self) -> list[AuditRecord]:
        """The changes, in their order; none is kept any more."""
        self._is_open = False
        return self._kept


def started(milliseconds: float = 0.0) -> str:
    """The time that many milliseconds ago, for a record."""
    began = time.time() - min(milliseconds, _MAX_MILLISECONDS) / 1000
    second, fraction = divmod(began, 1)
    return f"{_second(second)}.{int(fraction * 1000):03}+00:00"


@lru_cache(8)
def _second(began: float) -> str:
    return f"{datetime.fromtimestamp(began, UTC):%Y-%m-%dT%H:%M:%S}"


def word(name: object) -> str:
    """A name from a caller, of any type, as bounded text."""
    return name[:MAX_NAME] if isinstance(name, str) else f"<{type(name).__name__}>"


def of_host(
    tool: str, skill: str | None, agent: str, outcome: str, milliseconds: float, inputs: Any = None
) -> AuditRecord:
    """The record of a call of a tool of the host.

    Raises:
        CortexError: `invalid_arguments`: the outcome is not a word, or the duration is invalid.
    """
    _check_outcome(outcome)
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not 0 <= milliseconds < math.inf:
        raise CortexError(
            "invalid_arguments", "the milliseconds of a call must be a number from 0", hint="leave it out"
        )
    took = float(milliseconds)
    acting = None if skill is None else word(skill)
    return AuditRecord(started(took), word(tool), acting, agent, outcome, took, inputs=inputs)


def of_event(event: str, agent: str, outcome: str = "ok", *, tool: str = "", **fields: Any) -> AuditRecord:
    """The record of an event that is no call.

    Args:
        event: what happened, such as `approvals.approve`.
        agent: whom it concerns.
        outcome: `ok`, or a code.
        tool: the tool or action that it concerns; the event itself when empty.
        fields: other attributes of the record.

    Raises:
        CortexError: `invalid_arguments`: the event or the outcome is malformed.
    """
    if not _is_event(event):
        hint = "lower-case words joined by dots: `approvals.approve`"
        raise CortexError("invalid_arguments", "the name of an event is malformed", hint=hint)
    _check_outcome(outcome)
    given = {"category": event.partition(".")[0], "skill": None, "milliseconds": 0.0} | fields
    return AuditRecord(time=started(), tool=word(tool or event), agent=agent, outcome=outcome, event=event, **given)


@lru_cache
def _is_event(name: str) -> bool:
    return _EVENT.fullmatch(name) is not None


def _check_outcome(outcome: object) -> None:
    if not isinstance(outcome, str) or not _OUTCOME.fullmatch(outcome):
        hint = "`ok`, or a code such as `tool_not_allowed`: up to 64 lower-case letters, digits and _"
        raise CortexError("invalid_arguments", "the outcome of a call must be one word", hint=hint)
