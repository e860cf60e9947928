"""The rules of `executeSkill` and its approval queue of MetaHuman OS, and what its audit holds of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.features.actions.dialects.metahuman import APPROVAL, AUDIT, NOT_KEPT

AtLevel = Callable[..., Plugin]
Entries = Callable[[], list[dict[str, Any]]]
LEVELS = ("observe", "suggest", "supervised_auto", "bounded_auto")
OFFERED = {
    "observe": {"fs_read", "search_index"},
    "suggest": {"fs_read", "search_index"},
    "supervised_auto": {"fs_read", "search_index", "fs_write", "run_agent"},
    "bounded_auto": {"fs_read", "search_index", "fs_write", "run_agent", "shell_safe"},
}


@pytest.mark.parametrize("level", LEVELS)
def test_the_skills_available_at_a_level_are_those_that_may_run_there(at_level: AtLevel, level: str) -> None:
    plugin = at_level(level)
    offered = {tool["function"]["name"] for tool in plugin.tools("openai")}
    assert offered & OFFERED["bounded_auto"] == OFFERED[level]


def test_the_list_follows_the_level(at_level: AtLevel) -> None:
    plugin = at_level("observe")
    source = plugin.tool_sources[0]
    before = source.revision()
    plugin.trust.set("bounded_auto", actor="ada")
    assert source.revision() != before
    assert OFFERED["bounded_auto"] <= set(source.all())


@pytest.mark.parametrize("action", sorted(OFFERED["bounded_auto"] - OFFERED["observe"]))
def test_below_its_level_a_skill_is_refused_with_both_levels(at_level: AtLevel, action: str) -> None:
    refused = at_level("observe").call(action, {})
    assert refused.code == "trust_level_too_low"
    assert refused.details["details"]["present"] == "observe"


@pytest.mark.parametrize(
    ("inputs", "named"),
    [({}, "path"), ({"path": 3}, "path"), ({"path": ["docs/a.txt"]}, "path"), ({"path": "docs/a.txt", "x": 1}, "x")],
)
def test_inputs_are_checked_against_the_manifest(at_level: AtLevel, inputs: dict[str, Any], named: str) -> None:
    refused = at_level("supervised_auto").call("fs_read", inputs)
    assert refused.code == "invalid_arguments"
    assert named in refused.text


def test_an_unknown_skill_is_refused_and_recorded(at_level: AtLevel, entries: Entries) -> None:
    assert at_level("bounded_auto").call("fs_format", {}).code == "tool_not_found"
    (entry,) = [each for each in entries() if each["details"]["action"] == "fs_format"]
    assert entry["level"] == "warn"


@pytest.mark.parametrize(
    "path", ["docs/a.txt/", "docs/", "docs//a.txt", "out-evil/a.txt", "docs/../brain/a", "brain/a"]
)
def test_a_path_outside_the_allowed_folders_is_refused(at_level: AtLevel, path: str) -> None:
    assert at_level("bounded_auto").call("fs_read", {"path": path}).code == "path_refused"


@pytest.mark.parametrize("path", ["out/new.txt/", "docs/new.txt", "etc/new.txt", "persona/x", "out"])
def test_a_file_outside_the_writable_folders_is_not_asked_for(at_level: AtLevel, path: str) -> None:
    plugin = at_level("supervised_auto")
    refused = plugin.call("fs_write", {"path": path, "content": "x"})
    assert refused.code in ("path_refused", "action_failed")
    assert plugin.approvals.list("pending").records == ()


def test_an_execution_has_one_entry_with_the_names_of_the_original(at_level: AtLevel, entries: Entries) -> None:
    at_level("supervised_auto").call("fs_read", {"path": "docs/a.txt"})
    started, done = (each for each in entries() if each["category"] == "action")
    assert (started["event"], "success" in started["details"]) == ("action.started", False)
    assert (done["event"], done["level"], done["actor"]) == ("skill_executed", "info", "operator")
    details = done["details"]
    assert (details["action"], details["success"], details["trustLevel"]) == ("fs_read", True, "supervised_auto")
    assert details["inputs"] == {"path": "docs/a.txt"}
    assert (details["outputs"]["content"], details["outputs"]["size"]) == ("one\ntwo\n", 8)
    assert details["durationMs"] >= 0


def test_an_agent_with_a_name_is_the_actor(at_level: AtLevel, entries: Entries) -> None:
    plugin = at_level("supervised_auto")
    plugin.call("fs_read", {"path": "docs/a.txt"}, agent="nova")
    assert {each["actor"] for each in entries() if each["category"] == "action"} == {"nova"}
    (record,) = [each.record for each in plugin.audit.calls.page(limit=5).calls if each.record.tool == "fs_read"][:1]
    assert (record.agent, record.actor) == ("nova", None)


def test_a_refused_execution_is_a_warning_whose_outputs_state_why(at_level: AtLevel, entries: Entries) -> None:
    at_level("supervised_auto").call("fs_read", {"path": "docs/missing.txt"})
    entry = entries()[-1] if entries()[-1]["event"] == "skill_executed" else entries()[-2]
    assert (entry["level"], entry["event"], entry["details"]["success"]) == ("warn", "skill_executed", False)
    assert "does not exist" in entry["details"]["outputs"]["error"]


def test_outputs_of_an_entry_are_bounded_and_without_secrets(
    at_level: AtLevel, entries: Entries, workspace: Path
) -> None:
    (workspace / "docs" / "long.txt").write_text("word " * 2_000 + "api_key=hunter2hunter2\n")
    (workspace / "docs" / "key.txt").write_text("password: hunter2hunter2\n")
    plugin = at_level("supervised_auto")
    plugin.call("fs_read", {"path": "docs/long.txt"})
    plugin.call("fs_read", {"path": "docs/key.txt"})
    contents = [e["details"]["outputs"]["content"] for e in entries() if e["event"] == "skill_executed"]
    assert [len(content) <= 203 for content in contents] == [True, True]
    assert "hunter2" not in str(contents)


def test_a_skill_that_needs_approval_is_queued_and_runs_once(
    at_level: AtLevel, entries: Entries, workspace: Path
) -> None:
    plugin = at_level("supervised_auto")
    asked = plugin.call("fs_write", {"path": "out/test.txt", "content": "This may be written"})
    assert asked.details["status"] == "pending_approval"
    assert not (workspace / "out" / "test.txt").exists()
    queued = [each for each in entries() if each["event"] == "skill_executed"][-1]
    assert queued["details"]["outputs"] == {"approval": asked.details["approval"]}
    plugin.approvals.approve(asked.details["approval"], by="ada")
    assert (workspace / "out" / "test.txt").read_text() == "This may be written"
    done = [each for each in entries() if each["event"] == "skill_executed"][-1]
    assert (done["actor"], done["details"]["approvedBy"]) == ("ada", "ada")
    assert done["details"]["outputs"] == {"path": "out/test.txt", "size": 19}
    with pytest.raises(CortexError, match="was approved by ada") as refused:
        plugin.approvals.approve(asked.details["approval"], by="bob")
    assert refused.value.code == "approval_resolved"


def test_a_rejected_skill_does_not_run(at_level: AtLevel, workspace: Path) -> None:
    plugin = at_level("supervised_auto")
    asked = plugin.call("fs_write", {"path": "out/no.txt", "content": "x"})
    plugin.approvals.reject(asked.details["approval"], by="ada", reason="no")
    with pytest.raises(CortexError, match="was rejected by ada"):
        plugin.approvals.approve(asked.details["approval"], by="ada")
    assert not (workspace / "out" / "no.txt").exists()


@pytest.mark.parametrize("approval", ["approval-1700000000000-abcdefg", "", "../x"])
def test_an_unknown_item_is_not_found(at_level: AtLevel, approval: str) -> None:
    with pytest.raises(CortexError) as refused:
        at_level("supervised_auto").approvals.approve(approval, by="ada")
    assert refused.value.code == "approval_not_found"


def test_the_same_request_after_a_change_of_the_level_is_the_same_request(at_level: AtLevel) -> None:
    plugin = at_level("observe")
    first = plugin.call("fs_read", {"path": "docs/a.txt"}).details["approval"]
    plugin.trust.set("suggest", actor="ada")
    assert plugin.call("fs_read", {"path": "docs/a.txt"}).details["approval"] == first
    assert plugin.call("fs_read", {"path": "docs/a.txt"}, agent="nova").details["approval"] != first
    assert len(plugin.approvals.list("pending").records) == 2


def test_the_members_of_a_queue_item_and_of_an_entry_are_mapped(at_level: AtLevel, entries: Entries) -> None:
    plugin = at_level("supervised_auto")
    asked = plugin.call("fs_write", {"path": "out/test.txt", "content": "x"})
    item = plugin.approvals.show(asked.details["approval"])
    kept = item.to_json(item.created)
    assert {name for name in APPROVAL.values() if not name.startswith(NOT_KEPT)} <= set(kept)
    plugin.approvals.approve(asked.details["approval"], by="ada")
    entry = [each for each in entries() if each["event"] == "skill_executed"][-1]
    for place in AUDIT.values():
        if place.startswith(NOT_KEPT) or place == "details.outputs.error":
            continue
        found: Any = entry
        for part in place.split("."):
            found = found[part]
        assert found is not None, place
