"""`AuditLog`: the audit of one plugin: what the gate, the actions and the approvals write to, and what is read.

    audit.record(entry)                                       # a call
    audit.event("trust_level.changed", actor="ada", data={"from": "observe", "to": "suggest"})
    audit.check_writable("fs_write", agent="a1", inputs=inputs)     # before an action runs

Rules kept here:
- every record goes to `RecentCalls`, in memory;
- inputs, outputs and data are kept where a journal is, redacted and bounded, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cortex_skills.audit import call_records
from cortex_skills.audit.bounded import bounded, bounded_text
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.recent_calls import RecentCall, RecentCalls


class AuditLog:
    """The audit of one plugin. Safe to use from several threads.

    Args:
        agent: the plugin's own, for events that concern no other.
        recent: the latest records in memory.

    """

    def __init__(self, agent: str, recent: RecentCalls) -> None:
        self._agent = agent
        self.recent = recent
        self._keeps = False  # no journal yet

    def record(self, entry: AuditRecord) -> RecentCall:
        """Record a call or an event."""
        return self.recent.record(entry)

    def kept(self, value: object) -> Any:
        """What a record may hold of an input, an output or data, as JSON; None where no journal is kept."""
        return bounded(value) if self._keeps and value is not None else None

    def kept_text(self, text: str) -> Any:
        """What a record may hold of the text of a result; None where no journal is kept."""
        return bounded_text(text) if self._keeps else None

    def event(
        self,
        event: str,
        *,
        agent: str | None = None,
        actor: str | None = None,
        outcome: str = "ok",
        data: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> RecentCall:
        """Record an event that is no call.

        Args:
            event: what happened, such as `approval.approved`.
            agent: whom it concerns; the plugin's own when omitted.
            actor: who did it, if not the agent.
            outcome: `ok`, or a code.
            data: what else there is, as JSON, such as `from` and `to`.
            fields: other attributes of `AuditRecord`: `skill`, `category`, `inputs`, `approved_by`, `trust_level`, …;
                inputs and outputs are redacted here.

        Raises:
            CortexError: `invalid_arguments`: the event or the outcome is malformed.

        """
        return self.record(self._event(event, agent, actor, outcome, data, fields))

    def check_writable(self, action: str = "", *, agent: str | None = None, **fields: Any) -> None:
        """Record that an action is about to run, as `action.started`; call it before each run of one.

        Args:
            action: its id.
            agent: on whose behalf; the plugin's own when omitted.
            fields: as for `event`.

        Raises:
            CortexError: `audit_unavailable`: the journal cannot be written, and nothing may run without a record.

        """

    def _event(
        self,
        event: str,
        agent: str | None,
        actor: str | None,
        outcome: str,
        data: Mapping[str, Any] | None,
        fields: dict[str, Any],
    ) -> AuditRecord:
        given: dict[str, Any] = fields | {"actor": actor, "data": self.kept(data)}
        given |= {name: self.kept(fields[name]) for name in ("inputs", "outputs") if name in fields}
        return call_records.of_event(event, self._agent if agent is None else agent, outcome, **given)
