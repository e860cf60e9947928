"""Folders of skills become registered skills: once, in the order of their dependencies, some of them invalid."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills import Config, Plugin
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.sources import synchronise
from tests.configs import config
from tests.plugin.skills import write_skill
from tests.registry.records import own_records

TEXT = "---\nname: {name}\ndescription: Fetches data.\n{more}---\nRead it.\n"


def write(folder: Path, name: str, more: str = "") -> Path:
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_text(TEXT.format(name=name, more=more))
    return place


@pytest.fixture
def registry() -> SkillRegistry:
    return SkillRegistry(open_store("memory:"), Names("mayros"), lambda: None)


def versions(registry: SkillRegistry) -> dict[str, int]:
    return {record.key.name: registry.version(record.version_id).number for record in own_records(registry)}


def test_of_two_skills_with_one_name_the_first_is_registered_and_keeps_its_version(registry, tmp_path):
    places = [tmp_path / name for name in ("one", "two", "three")]
    for place, text in zip(places, ("first", "second", "first"), strict=True):
        write(place, "twice", f"license: {text}\n")
    for _ in range(3):
        report = synchronise(registry, places, actor="ada")
        assert {place.parent.name: done.created for place, done in report.found.items()} in (
            {"one": True, "three": False},
            {"one": False, "three": False},
        )
        [(refused, error)] = report.refused.items()
        assert (refused.parent.name, error.code, "one/twice" in error.message) == ("two", "skill_exists", True)
    [version] = registry.versions(SkillKey("mayros", "twice"))
    assert registry.document(version).license == "first"


def test_new_and_changed_skills_are_registered_and_an_unchanged_one_writes_nothing(registry, tmp_path):
    write(tmp_path, "one")
    write(tmp_path, "two")
    first = synchronise(registry, [tmp_path], actor="ada")
    assert [done.created for done in first.found.values()] == [True, True]
    events = registry.log.count()
    write(tmp_path, "two", "license: MIT\n")
    second = synchronise(registry, [tmp_path], actor="ada")
    assert {place.name: done.created for place, done in second.found.items()} == {"one": False, "two": True}
    assert (versions(registry), registry.log.count()) == ({"one": 1, "two": 2}, events + 1)
    assert registry.record(SkillKey("mayros", "one")).standing.origin == "human"


def test_a_skill_is_registered_after_those_it_depends_on(registry, tmp_path):
    write(tmp_path, "a", "depends_on: [b]\n")
    write(tmp_path, "b", "depends_on: [c]\n")
    write(tmp_path, "c")
    assert synchronise(registry, [tmp_path], actor="ada").refused == {}
    assert registry.dependencies(SkillKey("mayros", "a")) == [SkillKey("mayros", "b")]


def test_what_is_wrong_is_reported_and_the_others_go_on(registry, tmp_path):
    write(tmp_path, "good")
    write(tmp_path, "lonely", "depends_on: [nobody]\n")
    write(tmp_path, "x", "depends_on: [y]\n")
    write(tmp_path, "y", "depends_on: [x]\n")
    (write(tmp_path, "bad") / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "SKILL.md").symlink_to(tmp_path / "good/SKILL.md")
    report = synchronise(registry, [tmp_path, tmp_path / "missing"], actor="ada")
    assert [place.name for place in report.found] == ["good"]
    assert {place.name: error.code for place, error in report.refused.items()} == {
        "bad": "manifest_invalid",
        "linked": "manifest_invalid",
        "lonely": "skill_not_found",
        "x": "skill_not_found",
        "y": "skill_not_found",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_reported(registry, tmp_path):
    closed = write(tmp_path, "closed")
    closed.chmod(0)
    try:
        report = synchronise(registry, [tmp_path], actor="ada")
    finally:
        closed.chmod(0o755)
    assert [error.code for error in report.refused.values()] == ["manifest_invalid"]


def test_a_plugin_registers_from_absolute_folders_at_once_and_from_relative_ones_on_demand(
    tmp_path, monkeypatch, caplog
):
    checkout, own = tmp_path / "checkout", tmp_path / "own"
    write(checkout / ".cortex/skills", "theirs")
    write(own, "mine")
    (write(own, "bad") / "SKILL.md").write_text("---\nname: bad\n---\n")
    monkeypatch.chdir(checkout)
    with Plugin.open(Config(registry={"folders": [".cortex/skills", str(own)]})) as plugin:
        assert list(versions(plugin.registry)) == ["mine"]
        assert f"the skill in {own / 'bad'} is not registered" in caplog.text
        assert sorted(place.name for place in plugin.synchronise().found) == ["mine", "theirs"]
        assert sorted(versions(plugin.registry)) == ["mine", "theirs"]
    with Plugin.open(Config(registry={"folders": [str(own)]}), registers=False) as plugin:
        assert versions(plugin.registry) == {}


CODE = "export default { name: 'probe', onQuery: () => ({ additionalContext: 'hello' }) };"


def test_a_semantic_skill_that_loads_is_recorded_with_its_files(tmp_path):
    folder = write_skill(tmp_path / "probe", CODE)
    with Plugin.open(config()) as plugin:
        plugin.load(folder)
        record = plugin.registry.record(SkillKey("mayros", "probe"))
        document = plugin.registry.document(plugin.registry.current(record.key))
        assert (record.standing.origin, document.kind) == ("human", "semantic")
        assert {each.path: each.data for each in document.resources}["skill.ts"] == CODE.encode()
        plugin.unload("probe")
        plugin.load(folder)
        assert versions(plugin.registry) == {"probe": 1}
        (folder / "skill.ts").write_text(CODE.replace("hello", "hi"))
        plugin.reload()
        assert versions(plugin.registry) == {"probe": 2}
        assert plugin.registry.verify_events() is None


def test_a_skill_that_is_refused_or_being_developed_is_not_recorded(tmp_path):
    folder = write_skill(tmp_path / "probe", CODE)
    with Plugin.open(config(), developing=[folder]) as plugin:
        plugin.load(folder)
        assert versions(plugin.registry) == {}
    broken = write_skill(tmp_path / "broken", "export default { name: ")
    with Plugin.open(config()) as plugin:
        plugin.load(tmp_path, strict=False)
        assert broken.exists()
        assert versions(plugin.registry) == {"probe": 1}


def test_a_plugin_that_reads_the_past_or_does_not_serve_records_nothing(tmp_path):
    folder = write_skill(tmp_path / "probe", CODE)
    for given in ({"as_of": "2026-01-01T00:00:00Z"}, {"registers": False}):
        with Plugin.open(config(), **given) as plugin:
            plugin.load(folder)
            assert versions(plugin.registry) == {}


def test_the_built_in_skill_is_recorded_as_that_of_the_package():
    from cortex_skills.skill_folder.builtin import builtin_skill

    with Plugin.open(config()) as plugin:
        plugin.load(builtin_skill("notebook"))
        standing = plugin.registry.record(SkillKey("mayros", "notebook")).standing
        assert (standing.origin, standing.lifecycle, standing.trust_tier) == ("builtin", "released", 4)


def test_a_record_that_is_refused_leaves_the_skill_running(tmp_path, caplog):
    folder = write_skill(tmp_path / "probe", CODE)
    (folder / "large.bin").write_bytes(bytes((4 << 20) + 1))
    with Plugin.open(config()) as plugin:
        assert plugin.load(folder) == ["probe"]
        assert versions(plugin.registry) == {}
    assert "probe is not recorded in the registry" in caplog.text
