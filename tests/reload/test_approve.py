"""A running host takes a skill that the user approves or signs, in another process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cortex_skills import Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.lifecycle.reload.granted_permissions import GrantedPermissions
from tests.reload.conftest import Reports
from tests.reload.versions import RECALL, save_code, save_manifest, version_of, write

Opened = Callable[..., Plugin]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "config"))
    return place


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(program, [str(word) for word in words])


def test_an_added_permission_is_taken_when_it_is_approved(
    hot: Plugin, skills: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reports = Reports(hot)
    hot.load(write(skills / "kyc", 1))
    save_manifest(skills / "kyc", **RECALL)
    reports.rejected("kyc", "permission_denied")
    assert json.loads(run("approve", "--json").stdout)[0]["asked"] == ["memory:recall"]
    answer = run("approve", "kyc")
    assert answer.stdout == f"kyc in {skills / 'kyc'} may now use memory:recall\n"
    reports.reloaded("kyc")
    assert "memory:recall" in hot.skills["kyc"].semantic.permissions.names()
    assert hot.rejected == []
    assert caplog.records[-1].message == "kyc is reloaded: version 1.2.3 answers"
    assert json.loads(run("approve", "--json").stdout) == []


def test_what_a_skill_asks_for_no_more_is_taken_back(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    plugin.load(folder)
    before = (folder / "SKILL.md").read_bytes()
    for back in (lambda: (folder / "SKILL.md").write_bytes(before), lambda: write(folder, 2)):
        save_manifest(folder, **RECALL)
        plugin._active.reload_changed(None)
        assert [request.asked for request in GrantedPermissions.of_user().requests()] == [("memory:recall",)]
        back()
        plugin._active.reload_changed(None)
        assert plugin.rejected == []
        assert GrantedPermissions.of_user().requests() == []
    assert version_of(plugin, "kyc") == "2"


def test_an_approval_whose_event_was_lost_is_found_by_the_next_check(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    save_manifest(skills / "kyc", **RECALL)
    active = plugin._active
    active.reload_changed(None)
    assert [(each.name, each.error.code) for each in plugin.rejected] == [("kyc", "permission_denied")]
    assert run("approve", "kyc").exit_code == 0
    active.reload_changed(None)
    assert plugin.rejected == []
    assert "memory:recall" in plugin.skills["kyc"].semantic.permissions.names()


def test_a_new_skill_of_a_watched_folder_is_taken_when_it_is_approved(hot: Plugin, skills: Path) -> None:
    reports = Reports(hot)
    write(skills / "kyc", 1)
    hot.load(skills)
    write(skills / "second", 1)
    reports.rejected("second", "permission_denied")
    assert run("approve", skills / "second").exit_code == 0
    reports.wait(lambda report: [item.name for item in report.loaded] == ["second"])
    assert sorted(hot.skills) == ["kyc", "second"]


def test_signing_a_skill_wakes_the_hosts_that_watch_it_and_the_last_line_of_the_log_states_the_outcome(
    opened: Opened, skills: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write(skills / "kyc", 1)
    assert run("sign", folder).exit_code == 0
    plugin = opened(hotReload=True, verification={"requireSignature": True})
    reports = Reports(plugin)
    plugin.load(folder)
    save_code(folder, 2)
    reports.rejected("kyc", "signature_invalid")
    assert version_of(plugin, "kyc") == "1"
    assert run("sign", folder).exit_code == 0
    reports.reloaded("kyc")
    assert version_of(plugin, "kyc") == "2"
    lines = [record.getMessage() for record in caplog.records if record.name == "cortex_skills.reload"]
    assert lines[-1] == "kyc is reloaded: version 1.2.3 answers"


def test_a_name_that_nothing_waits_under_is_refused_with_the_nearest(skills: Path) -> None:
    GrantedPermissions.of_user().ask("kyc", skills / "kyc", {"graph:write"})
    answer = run("approve", "kyk")
    assert answer.exit_code == 1
    assert "did you mean kyc?" in answer.stderr


def test_of_two_skills_with_one_name_the_folder_is_named(skills: Path, tmp_path: Path) -> None:
    grants = GrantedPermissions.of_user()
    for folder in (skills / "kyc", tmp_path / "kyc"):
        grants.ask("kyc", folder, {"graph:write"})
    answer = run("approve", "kyc")
    assert answer.exit_code == 1
    assert str(tmp_path / "kyc") in answer.stderr
    assert run("approve", tmp_path / "kyc").exit_code == 0
    assert grants.granted(tmp_path / "kyc") == {"graph:write"}
    assert grants.granted(skills / "kyc") == set()


def test_a_grant_is_kept_when_more_is_asked_for(skills: Path) -> None:
    grants = GrantedPermissions.of_user()
    grants.ask("kyc", skills / "kyc", {"graph:write"})
    grants.approve(grants.requests()[0])
    grants.ask("kyc", skills / "kyc", {"graph:write", "memory:recall"})
    (request,) = grants.requests()
    assert (request.asked, request.granted) == (("memory:recall",), ("graph:write",))
    assert grants.granted(skills / "kyc") == {"graph:write"}


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text("{"),
        lambda file: file.write_text("[]"),
        lambda file: file.write_text(file.read_text().replace('"graph:write"', "1")),
        lambda file: file.write_text(file.read_text().replace("kyc", "other")),
        lambda file: file.chmod(0o666),
    ],
    ids=["broken", "a list", "a number", "another folder", "writable by others"],
)
def test_a_file_that_the_user_did_not_write_grants_nothing(skills: Path, change: Callable[[Path], Any]) -> None:
    grants = GrantedPermissions.of_user()
    grants.ask("kyc", skills / "kyc", {"graph:write"})
    grants.approve(grants.requests()[0])
    assert grants.granted(skills / "kyc") == {"graph:write"}
    (file,) = grants.place.iterdir()
    change(file)
    assert grants.granted(skills / "kyc") == set()
