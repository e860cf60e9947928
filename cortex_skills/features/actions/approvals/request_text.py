"""The state of a request as the agent that made it reads it: in words, as the answer of its call, and as JSON.

Rules kept here:
- a result was cleaned for a model when the action ran;
- `interrupted` states that it is not known what was done: it is never answered like a failure, which may be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CODES, CortexError
from cortex_skills.features.actions.action_request import ApprovalState, RequestStatus
from cortex_skills.features.actions.approvals.record import ApprovalRecord
from cortex_skills.tools.base import Outcome

_WAITS = ("pending", "approved", "running")


def answer_of(record: ApprovalRecord, state: ApprovalState) -> Outcome:
    """The answer of the call that asked for an action: its result, if a person decided while the call waited.

    Raises:
        CortexError: `approval_rejected`, or the code of the action that failed.
    """
    action, end = record.request.action, record.end
    if state == "rejected":
        hint = "do not ask for the same again, unless the person wants it"
        raise CortexError("approval_rejected", f"{words_of(record, state)}", hint=hint, details={"approval": record.id})
    if state == "failed" and end is not None:
        what, _, hint = end.text.partition("\n")
        code = end.code if end.code in CODES else "action_failed"
        raise CortexError(code, what, hint=hint, details={**end.details.get("details", {}), "approval": record.id})
    about: dict[str, Any] = {"action": action, "approval": record.id}
    if state == "done" and end is not None:
        return Outcome(end.text, {**about, "status": "done", **end.details})
    return Outcome(words_of(record, state), {**about, "status": "pending_approval" if state in _WAITS else state})


def words_of(record: ApprovalRecord, state: ApprovalState) -> str:
    """The state of a request, in one sentence."""
    action, resolution = record.request.action, record.resolution
    by = "" if resolution is None else f" by {resolution.by}"
    why = f": {resolution.reason}" if resolution is not None and resolution.reason else ""
    where = f" and runs on {record.request.host_name} when that host next looks" if _waits_elsewhere(record) else ""
    started = "its process stopped reporting while it ran" if record.started else "its process stopped before it ran"
    return {
        "pending": f"{action} did not run yet: it waits for a person as {record.id}, because {record.request.reason}; "
        f"it expires at {date_time(record.expires)}.",
        "approved": f"{action} was approved{by}{where or ' and is about to run'}.",
        "running": f"{action} was approved{by} and runs.",
        "rejected": f"{action} did not run: it was rejected{by}{why}.",
        "expired": f"{action} did not run by this request{why}."
        if why and not (resolution and resolution.runs_at)
        else f"{action} did not run: nobody approved it until {date_time(record.expires)}."
        if resolution is None or not resolution.runs_at
        else f"{action} was approved{by}, and did not run: {record.request.host_name} did not start it until "
        f"{date_time(record.expires)}.",
        "interrupted": f"{action} was approved{by}, and {started}: what it did is not known. Nothing runs it again.",
        "done": f"{action} was approved{by} and ran.",
        "failed": f"{action} was approved{by} and failed.",
    }[state]


def _waits_elsewhere(record: ApprovalRecord) -> bool:
    return record.resolution is not None and bool(record.resolution.runs_at)


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """A request as the agent that made it sees it."""

    record: ApprovalRecord
    state: ApprovalState

    def text(self, _: object = None, /) -> str:
        """Its state, and the result if there is one, which was cleaned when the action ran."""
        end = self.record.end
        return "\n".join([words_of(self.record, self.state), *([end.text] if end else [])])

    def document(self) -> RequestStatus:
        """Its state and its result."""
        record, end = self.record, self.record.end
        return {
            "approval": record.id,
            "action": record.request.action,
            "state": self.state,
            "created": date_time(record.created),
            "expires": date_time(record.expires),
            "resolvedBy": record.resolution.by if record.resolution else None,
            "reason": record.resolution.reason if record.resolution else None,
            "code": end.code or None if end else None,
            "result": dict(end.details) if end else None,
        }
