"""Rows of the audit and of actions: what a journal adds to a record and to a query, and the gate to an action."""

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
from cortex_skills.features.actions.action import ActionCall
from cortex_skills.features.actions.output_text import text_for_model
from tests.configs import config

_ARGUMENTS = {"subject": "mayros:nails", "predicate": "reorder", "object": True, "scope": "namespace"}
_BATCH = 500
OPERATOR = """---
name: operator
description: Reads notes.
type: semantic
semantic: {version: 1, permissions: {}, allowedTools: ["*"]}
---
"""


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch:
        return [_record(Path(scratch)), _call(Path(scratch)), _action(Path(scratch))]


def _record(folder: Path) -> Row:
    journal = Journal(folder / "alone")
    log = AuditLog("a1", RecentCalls(), journal, namespace="mayros")
    inputs, outputs = log.kept(_ARGUMENTS), log.kept_output("Asserted mayros:nails mayros:reorder true")
    entry = AuditRecord(started(), "skill_assert", "probe", "a1", "ok", 1.0, inputs=inputs, outputs=outputs)
    log.record(entry)
    line = day_files(folder / "alone")[0].read_bytes()
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    ours, theirs = in_turn_s([lambda: log.record(entry), lambda: os.write(raw, line)], _BATCH, clock=time.process_time)
    os.close(raw)
    log.close()
    return Row("a record in the journal, beyond the raw write of its line (CPU)", ours - theirs, "allowed", 30e-6, 1)


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
    return Row("`skill_graph_query` with a journal, 20 triples (CPU)", ours, "the same without one", theirs, 1.5)


def _action(folder: Path) -> Row:
    """`fs_read` of 4 KB through the gate, beside its run and the cleaning of what it read."""
    skill, workspace = folder / "operator", folder / "workspace"
    skill.mkdir()
    (workspace / "docs").mkdir(parents=True)
    (skill / "SKILL.md").write_text(OPERATOR)
    notes = "".join(
        f"{n}. The shelf {n % 7} holds {n * 37 % 100} boxes of nails, counted in the morning.\n" for n in range(70)
    )
    (workspace / "docs" / "notes.md").write_text(notes[:4096])
    settings = {"trustLevel": "supervised_auto", "workspace": str(workspace)}
    audit, limits = {"folder": str(folder / "actions")}, {"maxCallsPerMinute": 1000}
    tools = {"profiles": ["operator"]}
    with Plugin.open(config(actions=settings, audit=audit, tools=tools, skillSandbox=limits)) as plugin:
        plugin.load(skill)
        action = plugin.actions.find("fs_read")
        assert action is not None
        manifest, inputs = action.manifest, {"path": "docs/notes.md"}

        def bare() -> None:
            until = time.monotonic() + manifest.limits.timeout_ms / 1000
            host = plugin._host
            call = ActionCall(manifest, inputs, "a1", "mayros", plugin.actions.settings, plugin.memories, until)
            text_for_model(manifest, dict(action.run(call)), host.cleaning)

        def gated() -> None:
            result = plugin.call("fs_read", inputs)
            assert not result.is_error, result.text

        ours, theirs = in_turn_s([gated, bare], 2, clock=time.process_time)
    return Row(
        "`fs_read` of 4 KB with gate, trust level and journal (CPU)",
        ours,
        "its run and its cleaning",
        theirs,
        1.5,
    )
