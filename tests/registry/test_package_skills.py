"""The procedural skills of the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from skills_ref.validator import validate

from cortex_graph import open_store
from cortex_graph.names import Names
from cortex_skills import Plugin
from cortex_skills.enrichment.text_lines import clean_lines
from cortex_skills.features.registry.folders import read_skill_folder, skill_folders_in
from cortex_skills.features.registry.inline import inline_document
from cortex_skills.features.registry.model_text import ORDINARY
from cortex_skills.features.registry.package_skills import FOLDER, register_package_skills
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.skill_record import SkillKey
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools import own_tools
from tests.configs import config

NAMES = {
    *("plan-complex-tasks", "handle-failure-recovery", "reflect-on-outcomes", "use-episodic-memory"),
    *("extract-semantic-knowledge", "learn-procedural-skills", "diagnose-agent-failures", "profile-performance"),
    *("analyze-errors", "design-tool-interface", "test-code-reliability", "implement-database-changes"),
}


@pytest.fixture
def registry() -> SkillRegistry:
    return SkillRegistry(open_store("memory:"), Names("mayros"), lambda: None)


def key(name: str) -> SkillKey:
    return SkillKey("mayros", name)


@pytest.mark.parametrize("folder", skill_folders_in(FOLDER), ids=lambda folder: folder.name)
def test_a_skill_of_the_package_is_valid_names_known_tools_and_holds_no_injection(folder: Path) -> None:
    assert validate(folder) == []
    read = read_skill_folder(folder, "mayros")
    assert read.warnings == ()
    tools = {step.tool for step in read.document.steps if step.tool}
    assert tools
    assert tools <= own_tools().keys()
    assert clean_lines(read.document.body, ORDINARY).removed == 0


def test_they_are_registered_once_as_builtin(registry: SkillRegistry) -> None:
    for _ in range(2):
        register_package_skills(registry)
    records = list(registry.all_records())
    assert {record.key.name for record in records} == NAMES
    assert {(r.standing.origin, r.standing.lifecycle, r.standing.trust_tier) for r in records} == {
        ("builtin", "released", 4)
    }
    assert registry.log.count() == len(NAMES)


def test_a_skill_of_a_person_keeps_its_name(registry: SkillRegistry) -> None:
    mine = inline_document({"name": "analyze-errors", "description": "Mine."}, "mayros")
    registry.register(mine, actor="ada", origin="human")
    register_package_skills(registry)
    assert registry.record(key("analyze-errors")).standing.origin == "human"
    assert registry.current(key("analyze-errors")).description == "Mine."
    assert len(list(registry.all_records())) == len(NAMES)


def test_a_newer_package_makes_a_new_version_and_an_older_one_does_not_take_it_back(registry: SkillRegistry) -> None:
    register_package_skills(registry)
    known = registry.document(registry.current(key("analyze-errors")))
    registry.register(known.changed(description="Newer."), actor="cortex-skills", origin="builtin")
    register_package_skills(registry)
    assert registry.current(key("analyze-errors")).description == "Newer."
    assert registry.record(key("analyze-errors")).standing.trust_tier == 4


def test_an_agent_finds_and_loads_them_with_the_notebook(tmp_path: Path) -> None:
    settings = config(tools={"profiles": ["core", "registry"]}, proofs={"keys": str(tmp_path / "keys")})
    with Plugin.open(settings) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        found = plugin.call("skill_find", {"query": "a tool call failed, recover"}).details["skills"]
        assert found[0]["name"] == "handle-failure-recovery"
        loaded = plugin.call("load_skill", {"name": "handle-failure-recovery"})
        assert loaded.details["strippedCount"] == 0
        assert "Read the error whole" in loaded.text
        assert plugin.call("skill_write", {"operation": "delete", "name": "analyze-errors"}).code == "permission_denied"
        listed = plugin.context()
        assert all(f"★ {name}: " in listed for name in {*NAMES, NOTEBOOK})


def test_a_store_that_cannot_be_written_to_is_used_without_them() -> None:
    with Plugin.open(config(), registers=False) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        assert plugin.call("skill_read", {}).text == "No skill matches."
