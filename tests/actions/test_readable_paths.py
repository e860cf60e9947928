"""What a confined command may read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.features.actions import shell_safe
from cortex_skills.features.actions.paths import Workspace
from cortex_skills.features.actions.readable_paths import apart_from, readable
from tests.actions.asking import approved

DEPTH, NAME = 50, "d" * 100  # more than a path has characters for


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("alpha\n")
    (tmp_path / "docs" / "deep" / "b.md").write_text("beta\n")
    return Workspace(tmp_path, (".env*", "/docs/private"))


def found(workspace: Workspace) -> tuple[set[str], set[str]]:
    read, listed = readable(workspace, ["docs"])
    top = f"{workspace.root}/"
    return {path.removeprefix(top) for path in read}, {path.removeprefix(top) for path in listed}


def test_a_folder_that_holds_nothing_denied_is_one_path(workspace: Workspace) -> None:
    (workspace.root / "docs" / "link").symlink_to("/etc/passwd")
    assert found(workspace) == ({"docs"}, set())


@pytest.mark.parametrize("kind", ["denied", "denied by its path", "hard link", "pipe", "own"])
def test_a_folder_that_holds_something_else_is_given_without_it(workspace: Workspace, kind: str) -> None:
    deep = workspace.root / "docs" / "deep"
    if kind == "denied":
        (deep / ".ENV").write_text("x")
    elif kind == "denied by its path":
        workspace = replace(workspace, never=("/docs/deep/c",))
        (deep / "c").mkdir()
    elif kind == "hard link":
        (workspace.root / "outside").write_text("x")
        os.link(workspace.root / "outside", deep / "c")
    elif kind == "pipe":
        os.mkfifo(deep / "c")
    else:
        (deep / "c").mkdir()
        (workspace.root / "elsewhere").symlink_to(deep / "c")  # another name of the same folder, as of a mount
        workspace = replace(workspace, own=(workspace.root / "elsewhere",))
    (workspace.root / "docs" / "other").mkdir()
    assert found(workspace) == ({"docs/a.md", "docs/deep/b.md", "docs/other"}, {"docs", "docs/deep"})


def test_a_folder_that_is_too_deep_prevents_no_command(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.root / "docs" / "deep")
    for _ in range(DEPTH):
        Path(NAME).mkdir()
        os.chdir(NAME)
    read, listed = found(workspace)
    assert read == {"docs/a.md", "docs/deep/b.md"}
    assert {"docs", "docs/deep", f"docs/deep/{NAME}/{NAME}"} <= listed


def test_a_folder_that_the_user_may_not_list_prevents_no_command(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scandir(path: str) -> Any:
        if path.endswith("/deep"):
            raise PermissionError(path)
        return listing(path)

    listing = os.scandir
    monkeypatch.setattr(os, "scandir", scandir)  # the user of the tests may be one who may list everything
    assert found(workspace) == ({"docs/a.md"}, {"docs", "docs/deep"})


def test_a_folder_without_some_paths(tmp_path: Path) -> None:
    for name in ("lib", "src/app/docs", "src/other", "bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib64").symlink_to("lib")
    (tmp_path / "src" / "key").write_text("x")
    left_out = (tmp_path / "src" / "app", tmp_path / "src" / "key", tmp_path.parent / "elsewhere")
    paths = {str(path.relative_to(tmp_path)) for path in apart_from(tmp_path, left_out)}
    assert paths == {"lib", "bin", "src/other"}
    assert list(apart_from(tmp_path / "lib", left_out)) == [tmp_path / "lib"]
    assert list(apart_from(tmp_path / "src" / "app", left_out)) == []


@pytest.mark.skipif(sys.platform != "linux", reason="confinement is of Linux")
def test_a_workspace_in_a_folder_of_the_system_is_confined_as_anywhere(
    acting: Callable[..., Plugin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "usr" / "src" / "app"
    for name in ("docs/.env", "src/x"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("the secret\n")
    (root / "docs" / "link").symlink_to(root / "src" / "x")
    (root / "docs" / "a.md").write_text("no secret\n")
    monkeypatch.setattr(shell_safe, "_SYSTEM", (*shell_safe._SYSTEM, str(tmp_path / "usr")))
    plugin = acting(trustLevel="bounded_auto", workspace=str(root))
    for words in (["-rh", "secret", "docs"], ["-rh", "secret"], ["-h", "secret", "docs/link"]):
        result = approved(plugin, "shell_safe", {"command": "grep", "args": words})
        assert "the secret" not in result.text
        assert ("no secret" in result.text) is (words == ["-rh", "secret", "docs"])
