"""Configuration in the workspace runs nothing: not with the settings of the commands alone, nor by the kernel alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cortex_skills import Plugin
from cortex_skills.features.actions import shell_safe
from cortex_skills.features.actions.child_output import run_child
from tests.actions.asking import approved, kept_request
from tests.actions.test_shell_safe import call, confined

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="confinement is of Linux"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

MARK = "configuration-was-run"
CONFIG = """
[core]
    fsmonitor = {run}
    pager = {run}
    editor = {run}
    sshCommand = {run}
    askPass = {run}
    gitProxy = {run}
    alternateRefsCommand = {run}
    hooksPath = {hooks}
[pager]
    log = {run}
    diff = {run}
    status = {run}
[diff]
    external = {run}
[diff "evil"]
    textconv = {run}
    command = {run}
[filter "evil"]
    clean = {run}
    smudge = {run}
    process = {run}
    required = true
[gpg]
    program = {hooks}/sh
[log]
    showSignature = true
[status]
    submoduleSummary = true
[credential]
    helper = "!{raw}"
[interactive]
    diffFilter = {run}
[uploadpack]
    packObjectsHook = {run}
[merge "evil"]
    driver = {run}
[alias]
    log = "!{raw}"
    status = "!{raw}"
[include]
    path = {included}
[extensions]
    partialClone = evil
[remote "evil"]
    url = "ext::sh -c {words}"
    promisor = true
    partialCloneFilter = blob:none
[protocol]
    allow = always
"""
COMMANDS = [
    ("status",),
    ("log", "-p"),
    ("log", "--stat", "--", "docs"),
    ("diff",),
    ("diff", "--cached", "-p"),
    ("diff", "HEAD", "--", "docs/a.md"),
    ("show",),
    ("show", "lost"),
    ("ls-files", "-m"),
    ("rev-parse", "HEAD"),
]


def git(folder: Path, *words: str, given: str = "") -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=given).stdout.strip()


def poison(repository: Path, marker: Path) -> None:
    """Give a repository everything that makes git run a program, which writes a file and an error."""
    raw = f"echo {MARK} >&2; touch {marker}"
    hooks = repository / "hooks"
    (repository / "included").write_text(f'[core]\n\tfsmonitor = "{raw}"\n')
    words = raw.replace(" ", "% ")
    config = CONFIG.format(run=f'"{raw}"', raw=raw, words=words, hooks=hooks, included=repository / "included")
    (repository / "config").write_text(f"[core]\n    repositoryformatversion = 1\n{config}")
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "query-watchman", "reference-transaction", "post-checkout", "git", "sh", "less"):
        (hooks / name).write_text(f"#!/bin/sh\n{raw}\n")
        (hooks / name).chmod(0o755)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that is a hostile repository; its folder `docs` is a bare one, `docs/sub` a submodule.

    The last commit of `main` has a signature; the tree of the branch `lost` is not there.
    """
    root = tmp_path_factory.mktemp("hostile") / "work"
    (root / "docs" / "sub").mkdir(parents=True)
    (root / "docs" / "a.md").write_text("alpha\n")
    (root / "docs" / ".gitattributes").write_text("*.md filter=evil diff=evil merge=evil\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    first = git(root, "cat-file", "commit", "HEAD")
    tree = git(root, "rev-parse", "HEAD^{tree}")
    signature = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n"
    for branch, text in (("lost", first.replace(tree, "1" * 40)), ("main", first.replace("\n\n", signature, 1))):
        made = git(root, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", given=f"{text}\n")
        git(root, "update-ref", f"refs/heads/{branch}", made)
    shutil.copytree(root / ".git", root / "docs" / "sub" / ".git")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{git(root, 'rev-parse', 'HEAD')},docs/sub")
    (root / ".gitmodules").write_text('[submodule "sub"]\n\tpath = docs/sub\n\turl = ./sub\n\tignore = none\n')
    shutil.copytree(root / ".git", root / "docs", dirs_exist_ok=True)
    (root / "docs" / "a.md").write_text("beta\n")
    for repository in (root / ".git", root / "docs", root / "docs" / "sub" / ".git"):
        poison(repository, root.parent / MARK)
    return root


@pytest.fixture
def marker(workspace: Path) -> Iterator[Path]:
    """The file that is written when a configuration runs something."""
    path = workspace.parent / MARK
    path.unlink(missing_ok=True)
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture(params=["confined", "unconfined"])
def plugin(request, acting: Callable[..., Plugin], workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Plugin:
    """A plugin that may read all folders; also on a system without confinement."""
    commands = ["ls", "cat", "grep", "find", "git"]
    options = {"workspace": str(workspace), "commands": commands, "read": ["docs"], "never": [".env*"]}
    plugin = acting(trustLevel="bounded_auto", allowUnconfined=request.param == "unconfined", **options)
    if request.param == "unconfined":
        monkeypatch.setattr(sys, "platform", "darwin")
    return plugin


@pytest.mark.parametrize("words", [("log", "-p"), ("status",), ("diff",), ("show", "lost")], ids=" ".join)
@pytest.mark.parametrize("folder", [".", "docs"])
def test_the_folders_are_hostile(workspace: Path, marker: Path, folder: str, words: tuple[str, ...]) -> None:
    if (folder, words) not in (("docs", ("status",)), ("docs", ("diff",))):  # a bare repository has no files
        command = ["git", "-c", "safe.directory=*", "-C", str(workspace / folder), "--no-pager", *words]
        subprocess.run(command, check=False, capture_output=True)
        assert marker.exists()


@pytest.mark.parametrize("cwd", [".", "docs", "docs/sub"])
def test_git_runs_nothing(plugin: Plugin, marker: Path, cwd: str) -> None:
    found = {}
    for words in COMMANDS if cwd == "." else COMMANDS[::3]:
        result = approved(plugin, "shell_safe", {"command": "git", "args": list(words), "cwd": cwd})
        has_tree = words != ("show", "lost")
        failed = has_tree and cwd != "docs/sub" and result.details["outputs"]["exitCode"] != 0
        if MARK in result.text or marker.exists() or failed:
            found[words] = result.text
            marker.unlink(missing_ok=True)
    assert found == {}


def test_git_answers_from_the_repository_of_the_workspace(plugin: Plugin) -> None:
    def output(*words: str, **more: str) -> str:
        result = approved(plugin, "shell_safe", {"command": "git", "args": list(words), **more})
        return result.details["outputs"]["stdout"]

    assert "-alpha\n+beta" in output("diff", "--", "a.md", cwd="docs")
    assert output("log", "--oneline").endswith(" first\n")
    assert "docs/a.md" in output("status")
    assert "(use -u to show untracked files)" in output("status", "--", "docs/config")  # new, and not looked for
    assert output("rev-parse", "--abbrev-ref", "HEAD").startswith("main\n")


@pytest.mark.parametrize("words", [("log",), ("status",), ("diff",), ("show", "lost")], ids=" ".join)
@pytest.mark.parametrize("folder", [".", "docs"])
def test_the_kernel_starts_nothing_of_a_hostile_repository(
    workspace: Path, marker: Path, folder: str, words: tuple[str, ...]
) -> None:
    command = confined("git", "-c", "safe.directory=*", *words)
    command = replace(command, read=(*command.read, str(workspace)), write=("/dev/null",))
    environment = {"PATH": f"{workspace}/docs/hooks:/usr/bin:/bin", "HOME": str(workspace)}
    done = run_child(command, call(), workspace / folder, environment, 100_000)
    assert done.lacking == ()
    assert MARK.encode() not in done.stdout + done.stderr
    assert not marker.exists()


def test_a_folder_below_the_workspace_is_no_repository(acting: Callable[..., Plugin], workspace: Path) -> None:
    plugin = acting(trustLevel="bounded_auto", workspace=str(workspace / "docs"), commands=["git"], read=["sub"])
    (workspace / "docs" / ".git").write_text(f"gitdir: {workspace}/.git\n")
    result = approved(plugin, "shell_safe", {"command": "git", "args": ["log"], "cwd": "sub"})
    (workspace / "docs" / ".git").unlink()
    assert (result.code, "the workspace is no git repository" in result.text) == ("action_failed", True)


READERS = [
    ("ls", "-la", "docs"),
    ("cat", "docs/a.md"),
    ("grep", "-rn", "beta", "docs"),
    ("find", "docs", "-name", "*.md"),
]


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_the_other_commands_run_nothing_of_their_folder(
    plugin: Plugin, workspace: Path, marker: Path, words: tuple[str, ...]
) -> None:
    for name in ("ls", "cat", "grep", "find", ".grep", ".dir_colors", "libc.so.6", "ld.so.preload", ".bashrc"):
        (workspace / "docs" / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (workspace / "docs" / name).chmod(0o755)
    result = approved(plugin, "shell_safe", {"command": words[0], "args": list(words[1:])})
    assert (result.code, result.details["outputs"]["exitCode"]) == (None, 0)
    assert not marker.exists()


NODE_SCRIPT = """\
#!/usr/bin/env node
const fs = require("fs");
const seen = {};
for (const name of [".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpm-workspace.yaml", "package.json"])
  try { seen[name] = fs.readFileSync(name, "utf8").length > 0; } catch (error) { seen[name] = error.code; }
try { require("child_process").execFileSync("/bin/true"); } catch (error) { seen.child = error.code; }
console.log(JSON.stringify({ seen, words: process.argv.slice(2) }));
"""


@pytest.mark.skipif(shutil.which("node", path="/usr/local/bin:/usr/bin") is None, reason="node is not installed")
def test_pnpm_is_started_by_node_and_finds_no_configuration(
    acting: Callable[..., Plugin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, root = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    (tools / "pnpm").write_text(NODE_SCRIPT)
    (tools / "pnpm").chmod(0o755)
    monkeypatch.setattr(shell_safe, "_PATH", f"{tools}:{shell_safe._PATH}")
    monkeypatch.setattr(shell_safe, "_SYSTEM", (*shell_safe._SYSTEM, str(tools)))
    (root / "docs").mkdir(parents=True)
    for name in (".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpm-workspace.yaml", "package.json"):
        (root / "docs" / name).write_text("{}")
    plugin = acting(trustLevel="bounded_auto", workspace=str(root), commands=["pnpm"])
    result = approved(plugin, "shell_safe", {"command": "pnpm", "args": ["list", "--json"], "cwd": "docs"})
    found = json.loads(result.details["outputs"]["stdout"])
    hidden = dict.fromkeys((".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpm-workspace.yaml"), "EACCES")
    assert found["seen"] == hidden | {"package.json": True, "child": "EPERM"}
    assert found["words"][:2] == ["--config.ignore-pnpmfile=true", "--config.manage-package-manager-versions=false"]
    assert found["words"][2:] == ["list", "--json"]


def test_pnpm_does_not_run_where_the_kernel_cannot_hide_its_configuration(
    acting: Callable[..., Plugin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    plugin = acting(trustLevel="bounded_auto", workspace=str(tmp_path), commands=["pnpm"], allowUnconfined=True)
    monkeypatch.setattr(shell_safe, "_started", lambda *_: ("/bin/true", ("true",)))
    monkeypatch.setattr(sys, "platform", "darwin")
    result = approved(plugin, "shell_safe", {"command": "pnpm", "args": ["list"], "cwd": "docs"})
    assert result.code == "confinement_missing"


def test_a_command_that_is_a_shell_script_is_refused(
    acting: Callable[..., Plugin], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "ls").write_text("#!/bin/sh\nexec ls\n")
    (tmp_path / "ls").chmod(0o755)
    monkeypatch.setattr(shell_safe, "_PATH", str(tmp_path))
    plugin = acting(trustLevel="bounded_auto", workspace=str(tmp_path), commands=["ls"])
    result = approved(plugin, "shell_safe", {"command": "ls", "args": ["docs"]})
    assert (result.code, "ls is a script here" in result.text) == ("action_failed", True)


def test_a_person_is_shown_the_command_with_all_that_is_added(plugin: Plugin, workspace: Path) -> None:
    inputs = {"command": "git", "args": ["log", "--grep=a b"], "cwd": "docs"}
    asked = plugin.call("shell_safe", inputs)
    found = str(Path(shutil.which("git", path="/usr/local/bin:/usr/bin:/bin")).resolve())
    assert kept_request(plugin, asked).preview == (
        f"nothing; it runs, in docs:\n{found} --no-pager log --no-ext-diff --no-textconv --ignore-submodules=dirty "
        "'--grep=a b' --"
    )
