"""`Plugin.reload`: after a rejected version the old one stays active."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_skills import Plugin
from tests.plugin.skills import living_sandboxes
from tests.reload.versions import Opened, names, save_code, version_of, write
from tests.time_limits import LONG_MS, queries_stop_after

BROKEN = {
    "syntax": ("export default { name: 'kyc' oops };", "transpile_error"),
    "half": ("export default {\n  name: 'kyc',\n  onQuery() { ret", "transpile_error"),
    "empty": ("", "skill_error"),
    "another name": ("export default { name: 'other' };", "skill_error"),
    "throws": ("export default { name: 'kyc', onActivate() { throw new Error('no'); } };", "skill_error"),
    "loops": ("for (;;) {}\nexport default { name: 'kyc' };", "skill_timeout"),
    "full": ("const a = []; for (;;) a.push(new Array(1e4).fill(1));\nexport default { name: 'kyc' };", "skill_memory"),
    "dangerous": ("eval('1');\nexport default { name: 'kyc' };", "scan_rejected"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_version_leaves_the_old_one_active_until_it_is_corrected(
    opened: Opened, skills: Path, broken: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    text, code = broken
    plugin = opened(sandbox={"executionTimeoutMs": 3000 if code == "skill_timeout" else LONG_MS})
    folder = write(skills / "kyc", 1)
    plugin.load(folder)
    (folder / "skill.ts").write_text(text)
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code, rejected.answering) == ("kyc", code, "1.2.3")
    assert version_of(plugin, "kyc") == "1"
    assert [r["error"]["code"] for r in plugin.status()["hotReload"]["rejected"]] == [code]
    assert f"kyc is rejected, version 1.2.3 keeps answering: [{code}]" in caplog.text
    assert living_sandboxes() == 1
    save_code(folder, 2)
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    assert (version_of(plugin, "kyc"), plugin.status()["hotReload"]["rejected"]) == ("2", [])


def test_a_reverted_change_is_reported_and_reloads_nothing(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    before = plugin.skills["kyc"]
    save_code(skills / "kyc", "oops oops")
    assert names(plugin.reload())["rejected"] == ["kyc"]
    save_code(skills / "kyc", 1)
    assert names(plugin.reload())["restored"] == ["kyc"]
    assert plugin.skills["kyc"] is before
    assert plugin.status()["hotReload"]["rejected"] == []


def test_a_disabled_skill_is_restarted(opened: Opened, skills: Path) -> None:
    plugin = opened()
    plugin.load(write(skills / "kyc", 1, "onQuery({ predicate }) { while (predicate.endsWith('bad')); return {}; },"))
    with queries_stop_after(0.25):
        for _ in range(3):
            plugin.call("skill_graph_query", {"predicate": "bad", "scope": "namespace"})
    assert plugin.status()["skills"][0]["fault"]["code"] == "skill_timeout"
    assert names(plugin.reload("kyc"))["reloaded"] == ["kyc"]
    assert plugin.status()["skills"][0]["fault"] is None
    assert plugin.reload("kyc").unchanged == ("kyc",)


def test_removed_code_is_not_a_new_version(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    plugin.load(folder)
    away = (folder / "skill.ts").rename(folder / "skill.ts~")
    (rejected,) = plugin.reload().rejected
    assert ("the code of kyc was removed" in str(rejected.error), version_of(plugin, "kyc")) == (True, "1")
    away.rename(folder / "skill.ts")
    assert names(plugin.reload())["restored"] == ["kyc"]


def test_a_companion_file_is_part_of_the_manifest(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    (folder / "SKILL.md").write_text(
        "---\nname: kyc\ndescription: For the tests.\nmetadata: {semantic: semantic.yaml}\n---\n"
    )
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\n")
    plugin.load(folder)
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\n# a remark\n")
    assert plugin.reload().unchanged == ("kyc",)
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read, write]}\n")
    (rejected,) = plugin.reload().rejected
    assert rejected.error.code == "permission_denied"
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\nmaxQueries: 7\n")
    assert [d.field for d in plugin.reload().reloaded[0].differences] == ["semantic.maxQueries"]


def test_a_skill_that_is_renamed_in_place_is_refused(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    manifest = skills / "kyc/SKILL.md"
    manifest.write_text(manifest.read_text().replace("name: kyc", "name: other"))
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code) == ("kyc", "manifest_invalid")
    assert version_of(plugin, "kyc") == "1"
