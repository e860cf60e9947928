"""Hot reload: real files, written as editors write them, and a real watch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from cortex_skills import Plugin
from cortex_skills.lifecycle.watcher import Watcher, is_relevant, watched_folders
from tests.reload.conftest import Reports
from tests.reload.versions import code, needs, save, save_code, save_manifest, version_of, write

Opened = Callable[..., Plugin]


def in_place(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def by_rename(file: Path, text: str) -> None:
    """As most editors do: the new file replaces the old one."""
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def as_vim(file: Path, text: str) -> None:
    """Vim with a backup: create a test file, rename the old file, write the new one, delete the backup."""
    (file.parent / "4913").touch()
    (file.parent / "4913").unlink()
    backup = file.rename(file.with_name(f"{file.name}~"))
    file.write_text(text, encoding="utf-8")
    backup.unlink()


def in_parts(file: Path, text: str) -> None:
    """A slow writer: half a file exists for longer than the debounce time."""
    with file.open("w", encoding="utf-8") as out:
        out.write(text[: len(text) // 2])
        out.flush()
        time.sleep(0.25)
        out.write(text[len(text) // 2 :])


@pytest.mark.parametrize("write_file", [in_place, by_rename, as_vim, in_parts])
def test_a_save_is_noticed_for_every_way_of_writing(
    hot: Plugin, skills: Path, write_file: Callable[[Path, str], None]
) -> None:
    reports = Reports(hot)
    hot.load(write(skills / "kyc", 0))
    for version in range(1, 4):
        write_file(skills / "kyc/skill.ts", code("kyc", version))
        reports.reloaded("kyc")
        while version_of(hot, "kyc") != str(version):  # a half-written file may have caused a reload
            reports.reloaded("kyc")
    assert hot.status()["hotReload"]["rejected"] == []


def test_nothing_is_watched_unless_configured(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    assert not plugin.is_watching
    assert plugin.status()["hotReload"] == {"watching": False, "reloads": 0, "rejected": []}


def test_a_broken_version_between_two_good_ones(hot: Plugin, skills: Path) -> None:
    reports = Reports(hot)
    hot.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", "oops oops")
    reports.rejected("kyc", "transpile_error")
    assert version_of(hot, "kyc") == "1"
    save_code(skills / "kyc", 2)
    reports.reloaded("kyc")
    assert version_of(hot, "kyc") == "2"


def test_a_folder_that_is_deleted_and_created_again(hot: Plugin, skills: Path) -> None:
    reports = Reports(hot)
    hot.load(write(skills / "kyc", 1))
    for version in (2, 3):
        shutil.rmtree(skills / "kyc")
        reports.rejected("kyc", "skill_not_found")
        assert version_of(hot, "kyc") == str(version - 1)
        write(skills / "kyc", version)
        while version_of(hot, "kyc") != str(version):
            reports.reloaded("kyc")
    save_code(skills / "kyc", 4)  # still watched
    reports.reloaded("kyc")
    assert hot.status()["hotReload"]["rejected"] == []


def test_a_parent_folder_that_is_deleted_and_created_again(hot: Plugin, tmp_path: Path) -> None:
    reports = Reports(hot)
    hot.load(write(tmp_path / "work/skills/kyc", 1))
    shutil.rmtree(tmp_path / "work")
    reports.rejected("kyc", "skill_not_found")
    write(tmp_path / "work/skills/kyc", 2)
    while version_of(hot, "kyc") != "2":
        reports.reloaded("kyc")


def test_a_folder_that_is_replaced_by_another(hot: Plugin, tmp_path: Path) -> None:
    """As a checkout or a deployment does it: folders are renamed, and a link is changed."""
    reports = Reports(hot)
    for version in (1, 2, 3):
        write(tmp_path / f"release-{version}/kyc", version)
    current = tmp_path / "current"
    current.symlink_to("release-1", target_is_directory=True)
    hot.load(current)
    assert version_of(hot, "kyc") == "1"
    turned = tmp_path / "turned"
    turned.symlink_to("release-2", target_is_directory=True)
    turned.replace(current)
    reports.reloaded("kyc")
    save_code(tmp_path / "release-2/kyc", 4)
    while version_of(hot, "kyc") != "4":
        reports.reloaded("kyc")


def test_helpers_in_new_folders_are_watched(hot: Plugin, skills: Path) -> None:
    reports = Reports(hot)
    folder = write(skills / "kyc", 1)
    hot.load(folder)
    (folder / "lib/deep").mkdir(parents=True)
    (folder / "lib/deep/v.ts").write_text("export const v = 2;")
    (folder / "skill.ts").write_text("import { v } from './lib/deep/v';\n" + code("kyc", "v"))
    while version_of(hot, "kyc") != "2":
        reports.reloaded("kyc")
    (folder / "lib/deep/v.ts").write_text("export const v = 3;")
    while version_of(hot, "kyc") != "3":
        reports.reloaded("kyc")


def test_a_folder_created_while_the_watch_is_set_up_is_watched(
    hot: Plugin, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = Reports(hot)
    folder = write(skills / "kyc", 1)
    watch = watchfiles.watch

    def watch_late(*folders: str, **options: Any) -> Any:
        if not (folder / "lib").exists():
            (folder / "lib").mkdir()
            (folder / "lib/v.ts").write_text("export const v = 2;")
            (folder / "skill.ts").write_text("import { v } from './lib/v';\n" + code("kyc", "v"))
        return watch(*folders, **options)

    monkeypatch.setattr(watchfiles, "watch", watch_late)
    hot.load(folder)
    while version_of(hot, "kyc") != "2":
        reports.reloaded("kyc")
    (folder / "lib/v.ts").write_text("export const v = 3;")
    while version_of(hot, "kyc") != "3":
        reports.reloaded("kyc")


def test_a_new_skill_a_removed_tool_and_a_removed_dependency(hot: Plugin, skills: Path) -> None:
    reports = Reports(hot)
    write(skills / "base", 1, skillVersion="1.0.0", allowedTools=["skill_graph_query", "skill_assert"])
    write(skills / "user", 1, **needs("base"))
    hot.load(skills)
    write(skills / "third", 1)
    reports.rejected("third", "permission_denied")
    save_manifest(skills / "base", skillVersion="1.0.0", allowedTools=["skill_graph_query"])
    reports.rejected("base", "tool_not_allowed")
    shutil.rmtree(skills / "base")
    reports.rejected("base", "skill_not_found")
    save_code(skills / "user", 2)  # its dependency is still active, so this is valid
    reports.reloaded("user")
    assert (version_of(hot, "base"), version_of(hot, "user")) == ("1", "2")
    save_manifest(skills / "user", **needs("nowhere"))
    reports.rejected("user", "manifest_invalid")
    assert sorted(r["name"] for r in hot.status()["hotReload"]["rejected"]) == ["base", "third", "user"]


def test_saves_that_are_faster_than_loads_end_with_the_last_version(hot: Plugin, skills: Path) -> None:
    reports = Reports(hot)
    hot.load(write(skills / "kyc", 0))
    for version in range(1, 301):
        save_code(skills / "kyc", version)
    while version_of(hot, "kyc") != "300":
        reports.reloaded("kyc")
    assert hot.status()["hotReload"]["reloads"] < 300


@pytest.mark.extended
def test_a_slow_skill_does_not_prevent_reloading_others(opened: Opened, skills: Path) -> None:
    hot = opened(hotReload=True, sandbox={"executionTimeoutMs": 3000})
    reports = Reports(hot)
    write(skills / "slow", 1)
    write(skills / "quick", 1)
    hot.load(skills)
    for version in (2, 3):
        (skills / "slow/skill.ts").write_text(f"for (;;) {{ {version} }}\nexport default {{ name: 'slow' }};")
        save_code(skills / "quick", version)
        while version_of(hot, "quick") != str(version):
            reports.reloaded("quick")
    while not hot.status()["hotReload"]["rejected"]:
        assert hot.is_watching
        time.sleep(0.01)
    (rejected,) = hot.status()["hotReload"]["rejected"]
    assert (rejected["name"], rejected["error"]["code"]) == ("slow", "skill_timeout")
    assert version_of(hot, "slow") == "1"


def test_touched_and_unrelated_files_cause_no_reload(hot: Plugin, skills: Path) -> None:
    reports = Reports(hot)
    folder = write(skills / "kyc", 1)
    hot.load(folder)
    before = hot.skills["kyc"]
    for name in (".skill.ts.swp", "skill.ts~", "4913", "#skill.ts#", "notes.md"):
        (folder / name).write_text("anything")
    os.utime(folder / "skill.ts")
    write(skills / "other", 1)  # not loaded
    save(folder / "helper.ts", "export {};")  # this is one
    report = reports.reloaded("kyc")
    assert [item.files for item in report.reloaded] == [("helper.ts",)]
    assert len(reports.reports) == 0
    assert hot.skills["kyc"] is not before


def test_polling_notices_a_save(hot: Plugin, skills: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    monkeypatch.setenv("WATCHFILES_POLL_DELAY_MS", "50")
    reports = Reports(hot)
    hot.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2)
    reports.reloaded("kyc")
    shutil.rmtree(skills / "kyc")
    reports.rejected("kyc", "skill_not_found")
    write(skills / "kyc", 3)
    while version_of(hot, "kyc") != "3":
        reports.reloaded("kyc")


def test_without_watches_left_folders_are_polled(
    hot: Plugin, skills: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import watchfiles

    real = watchfiles.watch

    def exhausted(*paths: str, force_polling: bool | None = None, **more: object) -> object:
        if not force_polling:
            raise OSError(28, "No space left on device")
        return real(*paths, force_polling=True, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("watchfiles.watch", exhausted)
    reports = Reports(hot)
    hot.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2)
    reports.reloaded("kyc")
    assert "they are polled instead" in caplog.text


# --- what is watched


def test_folders_without_skills_are_not_watched(tmp_path: Path) -> None:
    folder = write(tmp_path / "skills/kyc", 1)
    for name in ("lib/deep", "node_modules/a/b", ".git/objects", "lib/node_modules/c"):
        (folder / name).mkdir(parents=True)
    (tmp_path / "skills/target/debug").mkdir(parents=True)  # not a skill
    (tmp_path / "elsewhere").mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    names = {str(Path(path).relative_to(tmp_path)) for path in watched_folders([tmp_path / "skills"])}
    assert names == {".", "skills", "skills/kyc", "skills/kyc/lib", "skills/kyc/lib/deep", "skills/target"}
    assert set(watched_folders([folder])) == {
        str(tmp_path / name) for name in ("skills", "skills/kyc", "skills/kyc/lib", "skills/kyc/lib/deep")
    }


def test_a_missing_folder_is_watched_through_its_parent(tmp_path: Path) -> None:
    assert list(watched_folders([tmp_path / "a/b/c"])) == [str(tmp_path)]


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(400)  # creating so many files is slow on some disks
def test_a_hundred_thousand_other_files_are_not_watched(hot: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    for number in range(100):
        inside = folder / f"node_modules/p{number}"
        inside.mkdir(parents=True)
        for other in range(1000):
            (inside / f"f{other}.js").touch()
    reports = Reports(hot)
    hot.load(folder)
    assert len(set(watched_folders([folder]))) == 2
    save_code(folder, 2)
    reports.reloaded("kyc")


@pytest.mark.parametrize(
    ("path", "relevant"),
    [
        ("/a/skills/kyc/skill.ts", True),
        ("/a/skills/kyc/lib/v.ts", True),
        ("/a/skills", True),
        ("/a", True),
        ("/a/other", False),
        ("/a/skills2/kyc/skill.ts", False),
        ("/a/skills/kyc/.skill.ts.swp", False),
        ("/a/skills/kyc/4913", False),
        ("/a/skills/kyc/skill.ts~", False),
        ("/a/skills/kyc/node_modules/x/index.js", False),
        ("/a/skills/.git/index", False),
    ],
)
def test_temporary_files_of_editors_are_not_relevant(path: str, relevant: bool) -> None:
    assert is_relevant(path, [Path("/a/skills")]) is relevant


# --- the end


def test_a_watcher_continues_after_an_exception(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[object] = []
    came = threading.Semaphore(0)

    def changed(paths: frozenset[str] | None) -> None:
        seen.append(paths)
        came.release()
        raise RuntimeError("a bug")

    watcher = Watcher(changed, debounce_ms=20)
    watcher.add(tmp_path)
    assert came.acquire(timeout=100)
    (tmp_path / "a.ts").touch()
    assert came.acquire(timeout=100)
    watcher.close()
    watcher.close()
    watcher.add(tmp_path / "more")  # too late
    assert seen == [None, frozenset({str(tmp_path / "a.ts")})]
    assert not watcher.is_watching
    assert "could not be checked" in caplog.text


def test_a_watcher_may_be_closed_by_its_callback(tmp_path: Path) -> None:
    done = threading.Event()

    watchers: list[Watcher] = []

    def changed(_: frozenset[str] | None) -> None:
        watchers[0].close()
        done.set()

    watchers.append(Watcher(changed))
    watchers[0].add(tmp_path)
    assert done.wait(100)
    watchers[0].close()
    assert not watchers[0].is_watching


def test_an_interpreter_ends_without_close(skills: Path) -> None:
    write(skills / "kyc", 1)
    program = f"""
from cortex_skills import Config, Plugin
plugin = Plugin.open(Config(hotReload=True, verification={{"requireSignature": False}}))
print(plugin.load({str(skills)!r}), plugin.is_watching)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "['kyc'] True\n", "")


def test_the_watch_library_is_imported_only_when_needed(skills: Path) -> None:
    write(skills / "kyc", 1)
    program = f"""
import json, sys
from cortex_skills import Config, Plugin
with Plugin.open(Config(verification={{"requireSignature": False}})) as plugin:
    plugin.load({str(skills)!r})
    plugin.reload()
print(json.dumps([name for name in ("watchfiles", "anyio") if name in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
    assert json.loads(done.stdout) == []
