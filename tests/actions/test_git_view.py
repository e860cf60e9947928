"""The view of a repository that git gets."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.git_view import ENVIRONMENT, git_view, settings_of

WRITTEN = re.compile(
    r"\[(core|index|extensions)\]|(threads|preloadindex|repositoryformatversion|bare) = (0|1|false)|"
    r"(filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol|quotepath|objectformat|refstorage) = [a-z0-9]{1,10}"
)
LINES = st.sampled_from(
    ["[core]", '[core "x"]', "[extensions]", "[include]", "[alias]", "eol = lf", "pager = sh", "objectFormat=sha256"]
)


@given(st.text() | st.lists(LINES | st.text(), max_size=20).map("\n".join))
def test_any_configuration_becomes_known_settings_with_plain_values(config: str) -> None:
    assert all(WRITTEN.fullmatch(line) for line in settings_of(config).split("\n"))


@pytest.mark.parametrize(
    ("config", "kept"),
    [
        ("[core]\n\tfileMode = false\n\teol = lf ; as ever\n", {"filemode = false", "eol = lf"}),
        ("[Core] ignorecase=TRUE", {"ignorecase = true"}),
        ("[core]\nfsmonitor = sh\nworktree = /\nbare = true\n", set()),
        ('[core "x"]\nfilemode = false\n[alias]\neol = crlf\n', set()),
        ('[core]\neol = "lf"\nsymlinks = false\\\n', set()),
        ("[extensions]\nobjectformat = sha256\nworktreeConfig = true\npartialClone = x\n", {"objectformat = sha256"}),
    ],
)
def test_a_setting_is_kept_when_it_is_known_and_its_value_a_word(config: str, kept: set[str]) -> None:
    lines = settings_of(config).splitlines()
    own = {"[index]", "threads = 1", "[core]", "[extensions]", "preloadindex = false", "bare = false"}
    assert {line for line in lines if line not in own and not line.startswith("repositoryformatversion")} == kept
    assert ("repositoryformatversion = 1" in lines) is ("[extensions]" in lines)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_git_reads_objects_of_both_formats(tmp_path: Path, kind: str) -> None:
    def git(*words: str, **more: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", **ENVIRONMENT, **more}
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path, env=environment).stdout

    git("init", "-q", "-b", "main", f"--object-format={kind}")
    git("commit", "-qm", "first", "--allow-empty")
    with git_view(tmp_path) as (repository, view):
        assert git("log", "--format=%s", GIT_DIR=str(view), GIT_WORK_TREE=str(tmp_path)) == "first\n"
        assert repository == tmp_path / ".git"
    assert not view.exists()


@pytest.mark.parametrize(
    "kind", ["nothing", "file", "link", "no head", "head is a link", "index is a link", "long config"]
)
def test_what_is_no_plain_repository_is_refused(tmp_path: Path, kind: str) -> None:
    repository, elsewhere = tmp_path / ".git", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "HEAD").write_text("ref: refs/heads/main\n")
    if kind == "file":
        repository.write_text(f"gitdir: {elsewhere}\n")
    elif kind == "link":
        repository.symlink_to(elsewhere)
    elif kind != "nothing":
        repository.mkdir()
    if kind == "head is a link":
        (repository / "HEAD").symlink_to(elsewhere / "HEAD")
    elif kind == "index is a link":
        (repository / "HEAD").write_text("ref: refs/heads/main\n")
        (repository / "index").symlink_to(elsewhere / "HEAD")
    elif kind == "long config":
        (repository / "HEAD").write_text("ref: refs/heads/main\n")
        (repository / "config").write_text("#" * 70_000)
    with pytest.raises(CortexError) as caught, git_view(tmp_path):
        pass
    assert caught.value.code == "action_failed"
