"""What a call changes is in the record of the call: one act, one record, and none is lost."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills import Plugin
from cortex_skills.audit.call_records import MAX_CHANGES, AuditRecord
from cortex_skills.audit.journal_files import day_files
from cortex_skills.audit.recent_calls import CallFilter
from cortex_skills.doors.cli.app import program
from cortex_skills.features.graph.tools import skill_assert
from cortex_skills.features.registry.documents.skill_md import inline_document
from tests.configs import config
from tests.plugin.skills import write_skill

FACT = {"subject": "shop", "predicate": "note", "object": 3}
KNOWN = ("event", "success", "code")


def opened(folder: Path, *, journal: bool = True, code: str | None = None, **semantic: Any) -> Plugin:
    audit = {"folder": str(folder / "audit")} if journal else {}
    limits = {"maxCallsPerMinute": 1000, "maxWrites": 1000}
    plugin = Plugin.open(config(audit=audit, skillSandbox=limits, tools={"profiles": ["core", "registry"]}), agent="a1")
    plugin.load(write_skill(folder / "probe", code, **semantic))
    return plugin


def records(plugin: Plugin, **wanted: Any) -> list[AuditRecord]:
    return [each.record for each in plugin.audit.calls.page(CallFilter(**wanted)).calls]


def searched(folder: Path, *args: str) -> list[dict[str, Any]]:
    command = ["audit", "search", "--folder", str(folder / "audit"), *args, "--json"]
    found: list[dict[str, Any]] = json.loads(CliRunner().invoke(program, command).stdout)
    return found


def test_the_record_of_a_call_has_the_operation_its_object_both_states_and_the_caller(tmp_path: Path) -> None:
    with opened(tmp_path) as plugin:
        triple = plugin.call("skill_assert", FACT, agent="bob").details["tripleHash"]
        plugin.call("skill_retract", {"tripleHash": triple}, agent="bob", session="client 7")
        retracted, asserted = records(plugin)
        session = plugin._host.session.id_of("client 7")
    assert (asserted.event, asserted.tool, asserted.skill, asserted.agent) == (
        "tool.call",
        "skill_assert",
        "probe",
        "bob",
    )
    (change,) = asserted.changes
    assert {name: change[name] for name in KNOWN} == {"event": "graph.assert", "success": True, "code": None}
    assert change["data"] == {
        "statements": 1,
        "created": 1,
        "object": triple,
        "before": None,
        "after": "present, without proofs",
        "kind": "agent",
        "door": "python",
        "namespace": "mayros",
    }
    (act,) = retracted.acts
    assert (act.event, act.category, act.tool, act.outcome) == ("graph.withdraw", "graph", "skill_retract", "ok")
    assert (act.data["object"], act.data["after"]) == (triple, "withdrawn")
    assert (retracted.session, asserted.session) == (session, plugin._host.session.id_of(""))
    assert "client 7" not in json.dumps(retracted.to_json())


def test_a_call_is_found_by_what_it_changed(tmp_path: Path) -> None:
    with opened(tmp_path) as plugin:
        triple = plugin.call("skill_assert", FACT).details["tripleHash"]
        plugin.call("skill_retract", {"tripleHash": triple[:8]})
        plugin.call("skill_retract", {"tripleHash": triple})
        assert [each.outcome for each in records(plugin)] == ["ok", "ok", "ok"]
    for args, tools in (
        (("--event", "graph.assert"), ["skill_assert"]),
        (("--event", "graph.withdraw", "--outcome", "ok"), ["skill_retract"] * 2),
        (("--outcome", "refused"), ["skill_retract"]),  # a call that is answered, of a change that was not made
        (("--outcome", "not_found"), ["skill_retract"]),
        (("--about", triple), ["skill_retract"] * 2 + ["skill_assert"]),
        (("--event", "tool.call"), ["skill_retract"] * 2 + ["skill_assert"]),
        (("--event", "graph.change"), []),
    ):
        assert (args, [each["tool"] for each in searched(tmp_path, *args)]) == (args, tools)
    shown = CliRunner().invoke(program, ["audit", "tail", "--folder", str(tmp_path / "audit")]).stdout
    assert "tool.call graph.assert" in shown


def test_a_call_with_several_changes_has_one_record_that_names_each(tmp_path: Path) -> None:
    with opened(
        tmp_path, permissions={"registry": ["read", "learn", "manage"], "graph": ["read"]}, assertions=[]
    ) as plugin:
        for name in ("base", "upper"):
            document = inline_document({"name": name, "description": "d", "body": "b"}, "mayros")
            plugin.registry.register(document, actor="a1", origin="learned")
        given = {"operation": "bulk_delete", "name": "", "names": ["base", "absent", "upper"]}
        answer = plugin.call("skill_write", {name: value for name, value in given.items() if value})
        assert answer.code is None, answer.text
        (record,) = records(plugin, tool="skill_write")
    deleted = {each["data"]["object"]: each["code"] for each in record.changes}
    assert {each["event"] for each in record.changes} == {"registry.delete"}
    assert deleted == {"mayros/base": None, "mayros/upper": None, "absent": "skill_not_found"}


def test_changes_that_one_record_cannot_hold_have_records_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = skill_assert.assert_statements

    def each_by_itself(call: Any) -> Any:
        for value in range(MAX_CHANGES + 3):
            call.operate(write, {"statements": [{**FACT, "object": value}]})
        return asserted(call)

    asserted = skill_assert._run
    monkeypatch.setitem(skill_assert.SKILL_ASSERT.__dict__, "run", each_by_itself)
    with opened(tmp_path) as plugin:
        assert not plugin.call("skill_assert", {**FACT, "object": "last"}).is_error
        call, *others = records(plugin)
        assert (call.event, len(call.changes)) == ("tool.call", MAX_CHANGES)
        assert [each.event for each in others] == ["graph.assert"] * 4
        found = [act.data["object"] for each in (call, *others) for act in each.acts]
        assert len(set(found)) == plugin.graph.count() == MAX_CHANGES + 4


def test_what_the_code_of_a_skill_changes_is_recorded_before_the_code_goes_on(tmp_path: Path) -> None:
    code = """// @ts-nocheck
    export default { name: "probe", async onQuery() {
      await graphClient.createTriple({ subject: "s", predicate: "note", object: 1 });
      while (true) {}
    } };"""
    with opened(tmp_path, code=code) as plugin:
        assert plugin.call("skill_graph_query", {}, session="client 7").details["enrichment"]["code"] == "skill_timeout"
        call, change = records(plugin)
    assert (call.tool, call.changes, call.milliseconds > change.milliseconds) == ("skill_graph_query", (), True)
    assert (change.event, change.skill, change.session) == ("graph.assert", "probe", call.session)
    assert call.session != plugin._host.session.id_of("")


@pytest.mark.parametrize("journal", [True, False])
def test_a_call_in_which_the_process_is_stopped_keeps_the_record_of_what_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: bool
) -> None:
    def stopped(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(skill_assert, "_answered", stopped)
    with opened(tmp_path, journal=journal) as plugin:
        with pytest.raises(KeyboardInterrupt):
            plugin.call("skill_assert", FACT)
        assert plugin.graph.count() == 1
        assert [(each.event, each.outcome) for each in records(plugin)] == [("graph.assert", "ok")]


def test_a_change_whose_record_does_not_fit_on_the_disk_is_one_missing_record(tmp_path: Path) -> None:
    with opened(tmp_path) as plugin:
        plugin.call("nothing", {})
        old = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (day_files(tmp_path / "audit")[0].stat().st_size + 100, old[1]))
        try:
            plugin.call("skill_assert", FACT)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
        plugin.call("skill_assert", FACT)
        assert [each.data for each in records(plugin, event="audit.gap")] == [{"missing": 1}]
        assert [act.event for each in plugin.recent_calls.page().calls for act in each.record.acts] == [
            *("graph.assert", "graph.assert", "tool.call"),
        ]


def test_without_a_journal_a_record_names_the_operations_and_no_object(tmp_path: Path) -> None:
    with opened(tmp_path, journal=False) as plugin:
        plugin.call("skill_assert", FACT)
        (record,) = records(plugin, event="graph.assert")
    assert record.changes == ({"event": "graph.assert", "success": True, "code": None},)
