"""The records of calls and events: their levels, names, and what reaches the log."""

from __future__ import annotations

import json
import logging

import pytest

from cortex_skills import CortexError
from cortex_skills.audit import call_records
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.call_records import AuditRecord, of_event, of_host, started
from cortex_skills.audit.recent_calls import RecentCalls


@pytest.mark.parametrize(
    ("outcome", "level"), [("ok", "info"), ("permission_denied", "warn"), ("internal_error", "error")]
)
def test_the_level_of_a_record_follows_from_its_outcome(outcome: str, level: str) -> None:
    assert of_host("t", None, "a1", outcome, 1.0).level == level


def test_the_log_has_no_input_output_or_data(caplog: pytest.LogCaptureFixture) -> None:
    entry = AuditRecord(started(), "t", None, "a1", "ok", 1.0, inputs={"a": "SECRET"}, outputs="SECRET", data="SECRET")
    with caplog.at_level(logging.INFO, "cortex_skills.audit"):
        call_records.record(entry)
    line = json.loads(caplog.messages[0])
    assert "SECRET" not in caplog.text
    assert (line["event"], line["category"], line["approved_by"]) == ("tool.call", "tool", None)


def test_an_event_has_its_name_its_category_and_the_agent_of_the_plugin() -> None:
    audit = AuditLog("a1", RecentCalls())
    call = audit.event("trust_level.changed", actor="ada", data={"from": "observe", "to": "suggest"})
    record = call.record
    assert (record.event, record.tool, record.category) == ("trust_level.changed",) * 2 + ("trust_level",)
    assert (record.agent, record.actor, record.outcome, record.data) == ("a1", "ada", "ok", None)
    assert audit.recent.page().calls == (call,)
    approved = audit.event("approval.approved", agent="a2", category="fs", approved_by="ada", inputs={"path": "x"})
    assert (approved.record.agent, approved.record.category, approved.record.inputs) == ("a2", "fs", None)


@pytest.mark.parametrize("event", ["", "approved", "Approval.approved", "a.b\n", "a..b", "a.\ud800", "a." + "b" * 40])
def test_a_malformed_event_is_refused(event: str) -> None:
    with pytest.raises(CortexError, match="the name of an event is malformed"):
        of_event(event, "a1")


def test_without_a_journal_no_action_runs_unless_records_may_be_missing() -> None:
    audit = AuditLog("a1", RecentCalls())
    with pytest.raises(CortexError, match=r"^no journal of the audit is kept: fs_write was not run$"):
        audit.check_writable("fs_write", inputs={"path": "out/x"})
    audit = AuditLog("a1", RecentCalls(), on_full="warn")
    audit.check_writable("fs_write", inputs={"path": "out/x"})
    assert audit.recent.page().calls == ()
