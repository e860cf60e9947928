"""`Plugin.reload`: permissions of a new version and their approval."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from cortex_skills import Plugin
from tests.reload.versions import READ, RECALL, Opened, names, save_manifest, version_of, write


def test_an_added_permission_needs_the_hosts_approval(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **RECALL)
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.code, rejected.error.details["missing"]) == ("permission_denied", ["memory:recall"])
    assert version_of(plugin, "kyc") == "1"
    assert names(plugin.reload("kyc", approve=["memory:recall"]))["reloaded"] == ["kyc"]
    assert plugin.skills["kyc"].manifest.has_permission("memory:recall")


def test_a_removed_permission_is_lost_at_once_and_may_be_added_again(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **READ)
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    records = plugin.call("skill_assert", {"subject": "a", "predicate": "note", "object": 1})
    assert records.code == "permission_denied"
    write(skills / "kyc", 3)
    (item,) = plugin.reload().reloaded
    assert {d.field for d in item.differences if d.security} == {"semantic.permissions", "semantic.assertions"}


def test_a_host_may_ask_a_person(opened: Opened, skills: Path) -> None:
    asked = []

    def ask(name: str, added: frozenset[str]) -> bool:
        asked.append((name, added))
        return len(asked) > 1

    plugin = opened(approve=ask)
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **RECALL)
    assert names(plugin.reload())["rejected"] == ["kyc"]
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    assert asked == [("kyc", frozenset({"memory:recall"}))] * 2


def test_an_approval_function_that_raises_does_not_approve(opened: Opened, skills: Path) -> None:
    def ask(name: str, added: frozenset[str]) -> bool:
        raise RuntimeError("no terminal")

    plugin = opened(approve=ask)
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **RECALL)
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.code, version_of(plugin, "kyc")) == ("internal_error", "1")


def test_removing_a_tool_is_refused(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1, allowedTools=["skill_graph_query", "skill_assert"]))
    for tools in ({"allowedTools": ["skill_graph_query"]}, {"allowedTools": []}, {}):
        write(skills / "kyc", 2, **tools)
        (rejected,) = plugin.reload().rejected
        assert (rejected.error.code, version_of(plugin, "kyc")) == ("tool_not_allowed", "1")
    write(skills / "kyc", 2, allowedTools=["skill_graph_query", "skill_assert", "hub_search"])
    assert names(plugin.reload())["reloaded"] == ["kyc"]


def test_differences_that_permit_more_are_logged_as_warnings(
    plugin: Plugin, skills: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plugin.load(write(skills / "kyc", 1, allowedTools=["skill_graph_query"]))
    save_manifest(skills / "kyc", allowedTools=["*"], skillVersion="1.3.0")
    plugin.reload()
    records = {(r.levelno, r.getMessage()) for r in caplog.records if r.name == "cortex_skills.reload"}
    assert records == {
        (logging.WARNING, "kyc: the manifest changed: semantic.allowedTools: added *"),
        (logging.INFO, "kyc: the manifest changed: semantic.skillVersion: was 1.2.3, is now 1.3.0"),
        (logging.INFO, "kyc is reloaded: version 1.3.0 answers"),
    }


def test_a_reload_cannot_gain_the_memories_of_agents(plugin: Plugin, skills: Path) -> None:
    queries = [{"predicate": "urn:cortex-graph:ontology#memoryText", "scope": "namespace"}]
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, queries=queries)
    (rejected,) = plugin.reload().rejected
    assert rejected.error.code == "manifest_invalid"
    inspects = {"graph": ["read", "write"], "proofs": ["request"], "memory": ["inspect"]}
    write(skills / "kyc", 3, queries=queries, permissions=inspects)
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.code, rejected.error.details["missing"]) == ("permission_denied", ["memory:inspect"])
    assert version_of(plugin, "kyc") == "1"
    assert names(plugin.reload(approve=["memory:inspect"]))["reloaded"] == ["kyc"]
