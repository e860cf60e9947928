"""`Plugin.reload`: a new version replaces the running one, in every mode."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.policy.budgets import RateWindow
from tests.plugin.skills import living_sandboxes
from tests.reload.versions import Opened, answer, names, save_code, save_manifest, version_of, write


def test_the_saved_version_is_active_after_a_reload(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2)
    save_manifest(skills / "kyc", skillVersion="2.0.0")
    report = plugin.reload()
    (item,) = report.reloaded
    assert (item.name, item.version, item.files) == ("kyc", "2.0.0", ("skill.ts",))
    assert [str(difference) for difference in item.differences] == ["semantic.skillVersion: was 1.2.3, is now 2.0.0"]
    assert version_of(plugin, "kyc") == "2"
    assert plugin.skills["kyc"].semantic.skill_version == "2.0.0"
    assert living_sandboxes() == 1


def test_a_changed_new_or_removed_helper_is_a_change(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", "v")
    (folder / "lib").mkdir()
    main = "import { v } from './lib/v';\n" + (folder / "skill.ts").read_text()
    (folder / "skill.ts").write_text(main)
    (folder / "lib/v.ts").write_text("export const v = 1;")
    plugin.load(folder)
    (folder / "lib/v.ts").write_text("export const v = 2;")
    assert plugin.reload().reloaded[0].files == ("lib/v.ts",)
    assert version_of(plugin, "kyc") == "2"
    (folder / "unused.ts").write_text("export {};")
    assert plugin.reload().reloaded[0].files == ("unused.ts",)
    (folder / "unused.ts").unlink()
    assert plugin.reload().reloaded[0].files == ("unused.ts",)


def test_only_the_contents_of_loaded_files_count(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    plugin.load(folder)
    before = plugin.skills["kyc"]
    os.utime(folder / "skill.ts")
    write(folder, 1)
    for name in (".skill.ts.swp", "skill.ts~", "4913", "README.md", "notes.txt"):
        (folder / name).write_text("anything")
    (folder / "node_modules").mkdir()
    (folder / "node_modules/a.ts").write_text("eval('1')")
    report = plugin.reload()
    assert (bool(report), report.unchanged) == (False, ("kyc",))
    assert plugin.skills["kyc"] is before


def test_the_new_version_is_activated_before_the_old_is_deactivated(
    plugin: Plugin, skills: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def logging_hooks(version: int) -> str:
        return f"""onActivate() {{ logger.info("activated {version}"); }},
        onDeactivate({{ reason }}) {{ logger.info("deactivated {version}: " + reason); }},"""

    plugin.load(write(skills / "kyc", 1, logging_hooks(1)))
    save_code(skills / "kyc", 2, logging_hooks(2))
    plugin.reload()
    plugin.unload("kyc")
    records = [record.message for record in caplog.records if record.name == "cortex_skills.runtime.log"]
    assert records == [
        "[skill:kyc] activated 1",
        "[skill:kyc] activated 2",
        "[skill:kyc] deactivated 1: reload",
        "[skill:kyc] deactivated 2: unload",
    ]


def test_budgets_and_the_rate_window_survive(opened: Opened, skills: Path) -> None:
    plugin = opened(sandbox={"maxAssertions": 2, "maxWrites": 2})
    writing = "onActivate() { return graphClient.createTriple({ subject: 's', predicate: 'note', object: VERSION }); },"
    plugin.load(write(skills / "kyc", 1, writing.replace("VERSION", "1")))
    plugin._host.limits.own.rate = RateWindow(4)
    for number in range(2):
        assert answer(plugin, "kyc")
        records = {"subject": "a", "predicate": "note", "object": number}
        assert not plugin.call("skill_assert", records).is_error
    save_code(skills / "kyc", 2, writing.replace("VERSION", "2"))
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    (used,) = plugin.status()["skills"]
    assert [used[key] for key in ("queriesUsed", "assertionsUsed", "writesUsed")] == [2, 2, 2]
    assert plugin.call("skill_assert", {"subject": "a", "predicate": "note", "object": 9}).code == "rate_limited"
    plugin._host.limits.own.rate = RateWindow(1000)
    assert plugin.call("skill_assert", {"subject": "a", "predicate": "note", "object": 9}).code == "assertion_limit"
    save_code(skills / "kyc", 3, writing.replace("VERSION", "3"))
    (rejected,) = plugin.reload().rejected  # its write during activation exceeds the budget
    assert (rejected.error.code, version_of(plugin, "kyc")) == ("write_limit", "2")


def children() -> int:
    """How many child processes are alive."""
    return len(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads its children from /proc")
def test_a_skill_in_a_separate_process_is_reloaded_into_another(opened: Opened, skills: Path) -> None:
    plugin = opened(sandbox={"isolation": "process"})
    try:
        plugin.load(write(skills / "kyc", 1))
    except CortexError as error:
        pytest.skip(f"no isolation here: {error}")
    before = children()
    for version in range(2, 6):
        save_code(skills / "kyc", version)
        assert names(plugin.reload())["reloaded"] == ["kyc"]
        assert version_of(plugin, "kyc") == str(version)
    save_code(skills / "kyc", 9, "onActivate() { throw new Error('no'); },")
    assert names(plugin.reload())["rejected"] == ["kyc"]
    assert children() == before


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not here")
def test_the_direct_mode_is_reloaded_too(opened: Opened, skills: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_UNSAFE_DIRECT_LOAD", "1")
    plugin = opened(sandbox={"sandboxEnabled": False})
    plugin.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2)
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    assert version_of(plugin, "kyc") == "2"
    save_code(skills / "kyc", "oops oops")
    assert names(plugin.reload())["rejected"] == ["kyc"]
    assert version_of(plugin, "kyc") == "2"
