"""`AuditLog`: the audit of one plugin: what the gate, the actions and the approvals write to, and what is read.

    audit.record(entry)                                       # a call
    audit.event("actions.trust_level.set", actor="ada", facts={"from": "observe", "to": "suggest"})
    audit.event("approvals.approve", actor="ada", facts={"id": record.id}, data={"reason": reason})
    audit.check_writable("fs_write", agent="a1", inputs=inputs)     # before an action runs
    audit.calls.page(limit=20)

Rules kept here:
- every record goes to `RecentCalls`, in memory, and to the journal, where one is kept;
- inputs, outputs and data are kept where a journal is, redacted, without secrets and bounded, and not elsewhere;
- facts, which this program made, are kept there as they are, beside the data: they name what a record is about;
- no action runs without a journal: the first one begins it, where none is kept yet. Where there is none by choice
  (`audit.journal: off`), actions are refused;
- when the journal cannot be written, calls continue with a warning in the log, and the number of records that are
  missing is recorded later (`audit.gap`); actions are refused. `audit.onFull` changes that: `refuse-all` refuses calls
  too, `warn` refuses none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Literal

from cortex_skills.audit import call_records, lines, telemetry
from cortex_skills.audit.bounded import Facts, bounded, bounded_facts, bounded_output
from cortex_skills.audit.call_records import STARTED, AuditRecord
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_reader import JournalReader
from cortex_skills.audit.recent_calls import CallReader, RecentCall, RecentCalls
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.redaction import hidden_texts
from cortex_skills.secrets import without_secrets

log = logging.getLogger(__name__)

OnFull = Literal["refuse-actions", "refuse-all", "warn"]


class AuditLog:
    """The audit of one plugin. Safe to use from several threads.

    Args:
        agent: the plugin's own, for events that concern no other.
        recent: the latest records in memory.
        journal: the audit on disk; None for none yet.
        namespace: of the plugin, which its records in the journal have.
        on_full: what is refused while the journal cannot be written.
        begin: opens the journal where none is kept yet; None where none may be.

    Attributes:
        calls: reads the records: of the journal, or else the latest ones.
        watchers: functions that get each record, in the thread that records it; they must be quick and raise nothing.
    """

    def __init__(
        self,
        agent: str,
        recent: RecentCalls,
        journal: Journal | None = None,
        *,
        namespace: str = "",
        on_full: OnFull = "refuse-actions",
        begin: Callable[[], Journal] | None = None,
    ) -> None:
        self._agent = agent
        self._namespace = namespace
        self._on_full = on_full
        self.recent = recent
        self.watchers: list[Callable[[AuditRecord], None]] = []
        self.journal = journal
        self.calls: CallReader = recent if journal is None else JournalReader(journal.folder, namespace)
        self._begin = begin
        self._missing = 0  # records that could not be written
        self._lock = Lock()

    def begin(self) -> None:
        """Keep a journal from now on, where one may be kept and is not yet.

        Raises:
            CortexError: `config_invalid`: the id of this host is damaged.
        """
        if self.journal is not None or self._begin is None:
            return
        with self._lock:
            if self.journal is None:
                journal = self._begin()
                self.calls = JournalReader(journal.folder, self._namespace)
                self.journal = journal

    def record(self, entry: AuditRecord) -> RecentCall:
        """Record a call or an event."""
        call = self.recent.record(entry)
        telemetry.record(entry, self._namespace)
        for watch in self.watchers:
            watch(entry)
        if self.journal is None:
            return call
        try:
            if self._missing:
                self._record_gap(self.journal)
            return self._write(self.journal, entry)
        except OSError as error:
            self._not_written(error)
            return call

    @property
    def missing(self) -> int:
        """How many records could not be written, and are not noted as missing yet."""
        return self._missing

    def kept(self, value: object) -> Any:
        """What a record may hold of an input, an output or data, as JSON; None where no journal is kept."""
        return None if self.journal is None or value is None else bounded(without_secrets(value))

    def kept_facts(self, facts: Facts | None, data: Mapping[str, Any] | None = None) -> Any:
        """What a record may hold of facts, and of data beside them; None where no journal is kept, or there is none."""
        if self.journal is None or not (facts or data):
            return None
        return {**(self.kept(data) or {}), **bounded_facts(facts or {})}

    def kept_output(self, output: object, inputs: object = None, kept_inputs: object = None) -> Any:
        """What a record may hold of a result; None where no journal is kept.

        Args:
            output: its text, or its outputs as an object.
            inputs: of the call.
            kept_inputs: what the record holds of them: what is masked there is masked in the text, too.
        """
        if self.journal is None:
            return None
        return bounded_output(without_secrets(output), hidden_texts(inputs, kept_inputs))

    def event(
        self,
        event: str,
        *,
        agent: str | None = None,
        actor: str | None = None,
        outcome: str = "ok",
        facts: Facts | None = None,
        data: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> RecentCall:
        """Record an event that is no call.

        Args:
            event: what happened, such as `approvals.approve`.
            agent: whom it concerns; the plugin's own when omitted.
            actor: who did it, if not the agent.
            outcome: `ok`, or a code.
            facts: what this program states, such as an id, a digest, or `from` and `to`: never what was given to it.
            data: what people, agents or artifacts wrote, such as a reason, as JSON; redacted here.
            fields: other attributes of `AuditRecord`: `skill`, `category`, `inputs`, `approved_by`, `trust_level`, …;
                inputs and outputs are redacted here.

        Raises:
            CortexError: `invalid_arguments`: the event or the outcome is malformed.
        """
        return self.record(self._event(event, agent, actor, outcome, fields | {"facts": facts, "data": data}))

    def check_call(self) -> None:
        """Refuse a call if its record cannot be written, where `audit.onFull` is `refuse-all`.

        Raises:
            CortexError: `audit_unavailable`.
        """
        if self.journal is None or self._on_full != "refuse-all" or not self._missing:
            return
        try:
            self._record_gap(self.journal)
        except OSError as error:
            raise self._unavailable(error, "no tool may be called") from error

    def check_writable(self, action: str = "", *, agent: str | None = None, sync: bool = True, **fields: Any) -> None:
        """Record that an action is about to run, as `action.started`; call it before each run of one.

        Args:
            action: its id.
            agent: on whose behalf; the plugin's own when omitted.
            sync: whether the record is flushed to the disk first: for an action that may change something.
            fields: as for `event`.

        Raises:
            CortexError: `audit_unavailable`: the journal cannot be written, or there is none, and nothing may run
                without a record.
        """
        self.begin()
        if self.journal is None:
            if self._on_full == "warn":
                return
            problem = f"no journal of the audit is kept: {action or 'the action'} was not run"
            raise CortexError("audit_unavailable", problem, hint="set audit.journal to auto, or audit.onFull to warn")
        entry = self._event(STARTED, agent, fields.pop("actor", None), "ok", fields, action)
        try:
            if self._missing:
                self._record_gap(self.journal)
            self._write(self.journal, entry, sync=sync)
        except OSError as error:
            if self._on_full != "warn":
                raise self._unavailable(error, f"{action or 'the action'} was not run") from error
            self._not_written(error)

    def check_host(self) -> None:
        """Refuse to begin with the journal of another host.

        Raises:
            CortexError: `config_invalid`.
        """
        if self.journal is not None:
            self.journal.check_host()

    def close(self) -> None:
        """Sign what was written, and close the journal. Closing twice has no effect."""
        if self.journal is not None:
            self.journal.close()

    def _write(self, journal: Journal, entry: AuditRecord, *, sync: bool = False) -> RecentCall:
        document = lines.document_of(entry, self._namespace, journal.host)
        seq, digest = journal.append(document, sync=sync)
        return RecentCall(f"{digest[:8]}-{seq}", entry)

    def _record_gap(self, journal: Journal) -> None:
        """Record how many records are missing, once the journal can be written again."""
        with self._lock:
            if missing := self._missing:
                entry = call_records.of_event(lines.GAP, self._agent, data={"missing": missing})
                self._write(journal, entry)
                log.warning("the audit journal is written again; %d records are missing", missing)
                self._missing = 0

    def _not_written(self, error: OSError) -> None:
        with self._lock:
            self._missing += 1
            if self._missing == 1:
                log.warning("%s; calls continue without a record", self._unavailable(error, "a call has none").message)

    def _unavailable(self, error: OSError, consequence: str) -> CortexError:
        folder = "" if self.journal is None else str(self.journal.folder)
        message = f"the audit journal cannot be written ({error.strerror}): {consequence}"
        hint = f"make space or allow writing in {folder}"
        return CortexError("audit_unavailable", message, hint=hint)

    def _event(
        self,
        event: str,
        agent: str | None,
        actor: str | None,
        outcome: str,
        fields: dict[str, Any],
        tool: str = "",
    ) -> AuditRecord:
        data = self.kept_facts(fields.pop("facts", None), fields.pop("data", None))
        given: dict[str, Any] = fields | {"actor": actor, "data": data}
        given |= {name: self.kept(fields[name]) for name in ("inputs", "outputs") if name in fields}
        return call_records.of_event(event, self._agent if agent is None else agent, outcome, tool=tool, **given)
