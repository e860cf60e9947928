"""The example of an artifact: every step, from the project to the refused call."""

from __future__ import annotations

from pathlib import Path

import pytest
import run_artifact
from run_artifact import Party


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], dict[str, object]]:
    folder, lines = tmp_path_factory.mktemp("artifact"), []
    return folder, lines, run_artifact.run(folder, lines.append)


def test_the_artifact_is_built_verified_installed_called_and_stopped(story) -> None:
    _, lines, outputs = story
    assert outputs == {"status": 200, "first": True, "changed": False, "body": "welcome"}
    assert lines == [
        "built and signed: page-watch.palyra-skill",
        "verified without trust: signature_invalid",
        "verified by the user, who trusts the key",
        "installed without an answer to what it requests: grants_required",
        "installed, with what it requests",
        "called: pending_approval",
        'approved, and run: {"body": "welcome", "changed": false, "first": true, "status": 200}',
        "asserted to the graph: pageStatus 200",
        "called after it was quarantined: artifact_quarantined",
    ]


def test_the_secret_is_in_no_file_of_the_user_but_its_own_store(story) -> None:
    folder, _, _ = story
    found = [
        path.name
        for path in (folder / "user").rglob("*")
        if path.is_file() and run_artifact.TOKEN.encode() in path.read_bytes()
    ]
    assert found == []


def test_a_version_that_is_quarantined_is_listed_when_it_is_asked_for(story) -> None:
    folder, _, _ = story
    assert Party(folder / "user").ask("installed", "list")["artifacts"] == []
    (listed,) = Party(folder / "user").ask("installed", "list", "--quarantined-only")["artifacts"]
    assert (listed["skillId"], listed["version"], listed["status"]) == ("acme.page_watch", "0.1.0", "quarantined")
