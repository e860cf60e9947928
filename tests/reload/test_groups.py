"""`Plugin.reload`: skills that depend on one another are replaced together."""

from __future__ import annotations

import shutil
from pathlib import Path

from cortex_skills import Plugin
from tests.plugin.skills import living_sandboxes
from tests.reload.versions import NOTHING, names, needs, save_code, save_manifest, version_of, write


def test_dependencies_must_stay_in_range(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    plugin.load(skills)
    save_manifest(skills / "base", skillVersion="2.0.0")
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code) == ("base", "manifest_invalid")
    assert "user needs base ^1.0.0, but it is at 2.0.0" in str(rejected.error)
    save_manifest(skills / "user", **needs("base", "^2.0.0"))  # valid together
    assert names(plugin.reload())["reloaded"] == ["base", "user"]


def test_a_missing_dependency_is_refused(plugin: Plugin, skills: Path) -> None:
    write(skills / "user", 1)
    plugin.load(skills)
    write(skills / "user", 2, **needs("base"))
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.code, version_of(plugin, "user")) == ("manifest_invalid", "1")
    write(skills / "base", 1, skillVersion="1.0.0")
    report = plugin.reload(approve=True)
    assert (names(report)["loaded"], names(report)["reloaded"]) == (["base"], ["user"])


def test_a_group_is_replaced_together_or_not_at_all_and_others_do_not_wait(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    write(skills / "alone", 1)
    plugin.load(skills)
    save_code(skills / "base", 2)
    save_code(skills / "user", "oops oops")
    save_code(skills / "alone", 2)
    report = plugin.reload()
    assert names(report)["reloaded"] == ["alone"]
    assert {r.name: r.error.code for r in report.rejected} == {"base": "transpile_error", "user": "transpile_error"}
    assert [version_of(plugin, name) for name in ("base", "user", "alone")] == ["1", "1", "2"]
    assert living_sandboxes() == 3
    save_code(skills / "user", 2)
    assert names(plugin.reload("user"))["reloaded"] == ["base", "user"]  # with the skills connected to it
    assert [version_of(plugin, name) for name in ("base", "user")] == ["2", "2"]


def test_each_skill_is_reported_once(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "left", 1, **needs("base"))
    write(skills / "right", 1, **needs("base"))
    plugin.load(skills)
    shutil.rmtree(skills / "base")
    save_code(skills / "left", 2)
    save_code(skills / "right", "oops oops")
    report = plugin.reload()
    assert sorted(r.name for r in report.rejected) == ["base", "left", "right"]
    save_code(skills / "right", 3)
    report = plugin.reload("right")
    assert names(report)["reloaded"] == ["left", "right"]
    assert [r["name"] for r in plugin.status()["hotReload"]["rejected"]] == ["base"]


def test_a_rejected_skill_is_retried_with_connected_ones_and_on_request(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    write(skills / "alone", 1)
    plugin.load(skills)
    save_manifest(skills / "base", skillVersion="2.0.0")
    assert names(plugin.reload())["rejected"] == ["base"]
    save_code(skills / "alone", 2)
    assert names(plugin.reload(retry=False)) == {**NOTHING, "reloaded": ["alone"]}
    assert names(plugin.reload(retry=False)) == NOTHING
    assert names(plugin.reload()) == {**NOTHING, "rejected": ["base"]}
    save_manifest(skills / "user", **needs("base", "^2.0.0"))
    assert names(plugin.reload(retry=False)) == {**NOTHING, "reloaded": ["base", "user"]}


def test_a_dependent_is_not_reloaded_with_its_dependency(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    plugin.load(skills)
    before = plugin.skills["user"]
    save_code(skills / "base", 2)
    assert names(plugin.reload())["reloaded"] == ["base"]
    assert plugin.skills["user"] is before
