"""`Plugin.reload`: new, removed and named folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from tests.reload.versions import names, save_code, version_of, write


def test_a_new_skill_of_a_folder_is_loaded_when_the_host_approves(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 1)
    plugin.load(skills)
    write(skills / "two", 1)
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.answering, rejected.error.code) == ("two", None, "permission_denied")
    write(skills / "plain", 1, permissions={}, assertions=[])  # needs no permission
    assert names(plugin.reload())["loaded"] == ["plain"]
    assert names(plugin.reload("two", approve=True))["loaded"] == ["two"]
    assert sorted(plugin.skills) == ["one", "plain", "two"]


def test_a_removed_folder_leaves_its_skill_active(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 1)
    plugin.load(write(skills / "two", 1))
    plugin.load(skills / "one")
    shutil.rmtree(skills / "two")
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code, version_of(plugin, "two")) == ("two", "skill_not_found", "1")
    write(skills / "two", 1)
    assert names(plugin.reload())["restored"] == ["two"]
    shutil.rmtree(skills / "two")
    plugin.reload()
    write(skills / "two", 2)
    assert names(plugin.reload())["reloaded"] == ["two"]
    assert plugin.status()["hotReload"]["rejected"] == []


def test_an_unloaded_skill_stays_unloaded_until_the_host_loads_it(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 1)
    write(skills / "two", 1)
    plugin.load(skills)
    plugin.unload("two")
    write(skills / "two", 2)
    assert not plugin.reload(approve=True)
    plugin.load(skills / "two")
    write(skills / "two", 3)
    assert names(plugin.reload())["reloaded"] == ["two"]


def test_a_second_folder_of_the_same_name_is_refused(plugin: Plugin, tmp_path: Path) -> None:
    write(tmp_path / "a/kyc", 1)
    write(tmp_path / "b/other", 1)
    plugin.load(tmp_path / "a")
    plugin.load(tmp_path / "b")
    write(tmp_path / "b/kyc", 2)
    (rejected,) = plugin.reload(approve=True).rejected
    assert (rejected.folder, rejected.error.code) == (tmp_path / "b/kyc", "invalid_arguments")
    assert version_of(plugin, "kyc") == "1"


def test_only_the_named_skills_are_checked(plugin: Plugin, skills: Path) -> None:
    for name in ("one", "two", "three"):
        write(skills / name, 1)
    plugin.load(skills)
    for name in ("one", "two", "three"):
        save_code(skills / name, 2)
    assert names(plugin.reload("one"))["reloaded"] == ["one"]
    assert names(plugin.reload(paths=[str(skills / "two/skill.ts")]))["reloaded"] == ["two"]
    assert not plugin.reload(paths=[str(skills / "thre"), str(skills.parent / "elsewhere")])
    assert names(plugin.reload(paths=[str(skills)]))["reloaded"] == ["three"]
    with pytest.raises(CortexError, match="no skill 'four' is active"):
        plugin.reload("four")


def test_skills_are_found_again_from_another_working_directory(
    plugin: Plugin, skills: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(skills / "kyc", 1)
    monkeypatch.chdir(skills)
    plugin.load("kyc")
    monkeypatch.chdir(tmp_path)
    save_code(skills / "kyc", 2)
    assert names(plugin.reload())["reloaded"] == ["kyc"]
