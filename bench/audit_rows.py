"""Rows of the audit: a record beside the raw write of its line, and a call with a journal beside one without."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench.measure import Row, in_turn_s
from bench.skill import MANIFEST
from cortex_skills import Plugin
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.call_records import AuditRecord, started
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_files import day_files
from cortex_skills.audit.recent_calls import RecentCalls
from tests.configs import config

_ARGUMENTS = {"subject": "mayros:nails", "predicate": "reorder", "object": True, "scope": "namespace"}
_BATCH = 500


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch:
        return [_record(Path(scratch)), _call(Path(scratch))]


def _record(folder: Path) -> Row:
    journal = Journal(folder / "alone")
    log = AuditLog("a1", RecentCalls(), journal, namespace="mayros")
    inputs, outputs = log.kept(_ARGUMENTS), log.kept_text("Asserted mayros:nails mayros:reorder true")
    entry = AuditRecord(started(), "skill_assert", "probe", "a1", "ok", 1.0, inputs=inputs, outputs=outputs)
    log.record(entry)
    line = day_files(folder / "alone")[0].read_bytes()
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    ours, theirs = in_turn_s([lambda: log.record(entry), lambda: os.write(raw, line)], _BATCH, clock=time.process_time)
    os.close(raw)
    log.close()
    return Row(
        "CPU time of a record in the journal, beyond the raw write of its line", ours - theirs, "allowed", 30e-6, 1
    )


def _call(folder: Path) -> Row:
    skill = folder / "bench"
    skill.mkdir()
    (skill / "SKILL.md").write_text(MANIFEST)
    limits = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000, "maxAssertions": 1000}
    with (
        Plugin.open(config(skillSandbox=limits)) as without,
        Plugin.open(config(skillSandbox=limits, audit={"folder": str(folder / "journal")})) as journalled,
    ):
        for plugin in (without, journalled):
            plugin.load(skill)
            for number in range(20):
                plugin.call("skill_assert", {"subject": f"c{number}", "predicate": "hasStatus", "object": "ok"})

        def asked(plugin: Plugin) -> None:
            result = plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"})
            assert not result.is_error, result.text

        ours, theirs = in_turn_s([lambda: asked(journalled), lambda: asked(without)], 20, clock=time.process_time)
    return Row("CPU time of `skill_graph_query` with a journal, 20 triples", ours, "the same without one", theirs, 1.5)
