"""A session as a run: each call with what came of it, from the records of the audit.

Rules kept here:
- everything is a function of records that were read before: those of a journal, or of the memory of a server;
- what a call changed is below it: what its own record names, and the operations that its skill ran meanwhile;
- a request for approval is below the call that asked, with the decision, and below that the action that ran then;
- a record that belongs to nothing else stands alone: no record is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from cortex_skills.audit.call_records import ACTION_CALL, STARTED, TOOL_CALL, AuditRecord
from cortex_skills.audit.recent_calls import RecentCall

Kind = Literal["call", "change", "recall", "asked", "decided", "done"]

_CALLS = (TOOL_CALL, ACTION_CALL)
_REQUESTED = "approval.requested"
_DECISIONS = "approvals."
_ROUNDING = timedelta(milliseconds=2)  # of the times of records
_RECALL = "memory.recall"
_COUNTED = {"graph.assert": "asserted", "memory.remember": "remembered", "memory.reflect": "remembered"}


@dataclass(slots=True)
class RunStep:
    """One step of a run.

    Attributes:
        kind: a call, what it changed or recalled, what it asked for, what a person decided, or what was done then.
        record: of the audit; `change` is one of its changes.
        id: of the record.
        below: what came of it, the oldest first.
    """

    kind: Kind
    record: AuditRecord
    id: str
    below: list[RunStep] = field(default_factory=list)

    @property
    def began(self) -> datetime:
        """When it began."""
        return datetime.fromisoformat(self.record.time)

    @property
    def ended(self) -> datetime:
        """When it ended."""
        return self.began + timedelta(milliseconds=self.record.milliseconds)

    @property
    def data(self) -> Mapping[str, Any]:
        """What the record states beside."""
        return self.record.data if isinstance(self.record.data, dict) else {}

    @property
    def only_reads(self) -> bool:
        """Whether it is a call that changed nothing, asked for nothing, and was not refused."""
        return self.kind == "call" and self.record.event == TOOL_CALL and not (self.led_on or self.record.is_refused)

    @property
    def led_on(self) -> bool:
        """Whether anything but a recall came of it."""
        return any(step.kind != "recall" for step in self.below)

    def all(self) -> list[RunStep]:
        """It and everything below it."""
        return [self, *(each for step in self.below for each in step.all())]


@dataclass(frozen=True, slots=True)
class RunTree:
    """A session.

    Attributes:
        id: of the session.
        agents: whom it worked for, the most frequent first.
        steps: what was called, the oldest first.
    """

    id: str
    agents: tuple[str, ...]
    steps: tuple[RunStep, ...]

    @property
    def began(self) -> datetime:
        """When the first step began."""
        return min(step.began for step in self.steps)

    @property
    def ended(self) -> datetime:
        """When the last step ended, of those below too."""
        return max(each.ended for step in self.steps for each in step.all())

    def counts(self) -> dict[str, int]:
        """How many calls, assertions, memories, requests, actions that were done, and refusals it has."""
        counts = Counter({"calls": sum(step.kind == "call" for step in self.steps)})
        for step in (each for root in self.steps for each in root.all()):
            record, is_ok = step.record, not step.record.is_refused
            counts["refused"] += not is_ok and step.kind == "call"
            counts["asked"] += step.kind == "asked"
            counts["done"] += (
                is_ok and record.event == ACTION_CALL and step.kind != "asked" and not waits_for_person(record)
            )
            if step.kind == "change" and is_ok and record.event in _COUNTED:
                counts[_COUNTED[record.event]] += int(step.data.get("created", 1) or 0)
        return dict(counts)


def approvals_of(calls: Sequence[RecentCall]) -> list[str]:
    """The ids of the requests that some calls asked for, the oldest first."""
    return list(dict.fromkeys(found for call in reversed(calls) if (found := _asked(call.record))))


def run_of(session: str, calls: Sequence[RecentCall], followed: Mapping[str, Sequence[RecentCall]]) -> RunTree:
    """A run.

    Args:
        session: its id.
        calls: its records, the newest first.
        followed: the records about each of `approvals_of`, the newest first.
    """
    agents = Counter(call.record.agent for call in calls)
    steps: list[RunStep] = []
    loose: list[RunStep] = []  # changes whose call has no record yet: an operation is recorded before its call
    for call in reversed(calls):
        record = call.record
        if record.event not in _CALLS:
            loose.append(RunStep(_kind_of(record), record, call.id))
            continue
        step = RunStep("call", record, call.id, _changes(record, call.id))
        own = [each for each in loose if _is_within(each, step)]
        step.below += own
        loose = [each for each in loose if each not in own]
        if waits_for_person(record):
            step.below.append(_request(step, followed.get(_asked(record) or "", ())))
        steps.append(step)
    ordered = sorted([*steps, *loose], key=lambda step: step.began)
    return RunTree(session, tuple(agent for agent, _ in agents.most_common()), tuple(ordered))


def _changes(record: AuditRecord, call_id: str) -> list[RunStep]:
    return [RunStep(_kind_of(act), act, call_id) for act in record.acts] if record.changes else []


def _kind_of(act: AuditRecord) -> Kind:
    return "recall" if act.event == _RECALL else "change"


def _is_within(change: RunStep, call: RunStep) -> bool:
    return change.record.agent == call.record.agent and call.began - _ROUNDING <= change.began


def waits_for_person(record: AuditRecord) -> bool:
    """Whether a call asked a person to approve an action."""
    is_kept = record.event == ACTION_CALL and record.approval_required and record.approved_by is None
    return is_kept and not record.is_refused  # such as one above the number of requests that are kept


def _asked(record: AuditRecord) -> str | None:
    """The request that a call made; None for any other, and where no data is kept."""
    found = record.data.get("approval") if waits_for_person(record) and isinstance(record.data, dict) else None
    return found if isinstance(found, str) else None


def _request(call: RunStep, about: Sequence[RecentCall]) -> RunStep:
    """What a call asked for, with the decision and what was done."""
    others = [each for each in reversed(about) if each.id != call.id and each.record.event != STARTED]
    requested = [RunStep("asked", each.record, each.id) for each in others if each.record.event == _REQUESTED]
    asked = (requested or [RunStep("asked", call.record, call.id)])[0]
    decisions = [
        RunStep("decided", each.record, each.id) for each in others if each.record.event.startswith(_DECISIONS)
    ]
    runs = [
        RunStep("done", each.record, each.id, _changes(each.record, each.id))
        for each in others
        if each.record.event == ACTION_CALL and each.record.approved_by is not None
    ]
    if decisions and runs:
        decisions[-1].below += runs
    asked.below += decisions or runs
    return asked
