"""`shell_safe`: arguments that are refused by name, and the confinement that holds without them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox.isolation.confined_command import ConfinedCommand
from cortex_skills import CortexError, Plugin
from cortex_skills.cancellation import CancelToken
from cortex_skills.features.actions import shell_safe
from cortex_skills.features.actions.action import ActionCall
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.argument_policies import checked_arguments
from cortex_skills.features.actions.child_output import run_child
from tests.actions.asking import approved, kept_request
from tests.actions.manifests import manifest

SECRET = "the secret of the owner"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement is of Linux")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with a secret in each place that is not read."""
    root = tmp_path / "work"
    for name in ("docs/deep", "docs/.git", "logs/audit", "src", "out"):
        (root / name).mkdir(parents=True)
    (root / "docs" / "a.md").write_text("alpha\nbeta\n")
    (root / "docs" / "deep" / "b.md").write_text("beta\n")
    for name in ("docs/.env", "docs/.git/config", "logs/audit/x", "src/x", "../outside"):
        (root / name).write_text(SECRET)
    (root / "docs" / "link").symlink_to(root / "src" / "x")
    os.link(root / ".." / "outside", root / "out" / "hard")
    return root


@pytest.fixture
def plugin(acting, folder: Path) -> Plugin:
    commands = ["ls", "cat", "grep", "find", "git", "pnpm"]
    return acting(trustLevel="bounded_auto", workspace=str(folder), commands=commands)


def run(plugin: Plugin, command: str, *args: str, **more: Any) -> Any:
    """Ask for a command, and approve it; the result of the first step that refuses."""
    return approved(plugin, "shell_safe", {"command": command, "args": list(args), **more})


def outputs(result: Any) -> tuple[str, int]:
    assert result.code is None, result.text
    return result.details["outputs"]["stdout"], result.details["outputs"]["exitCode"]


def test_commands_read_what_may_be_read(plugin: Plugin) -> None:
    assert outputs(run(plugin, "cat", "docs/a.md")) == ("alpha\nbeta\n", 0)
    assert outputs(run(plugin, "grep", "-rn", "beta", "deep", "a.md", cwd="docs")) == (
        "deep/b.md:1:beta\na.md:2:beta\n",
        0,
    )
    assert outputs(run(plugin, "ls", "docs")) == ("a.md\ndeep\nlink\n", 0)
    assert outputs(run(plugin, "find", "docs/deep", "-name", "*.md", "-type", "f")) == ("docs/deep/b.md\n", 0)
    assert outputs(run(plugin, "grep", "gamma", "docs/a.md")) == ("", 1)


def test_a_pattern_that_looks_like_an_option_is_a_pattern_after_two_hyphens(plugin: Plugin, folder: Path) -> None:
    (folder / "docs" / "c.md").write_text("a -x b\n")
    assert outputs(run(plugin, "grep", "--", "-x", "docs/c.md")) == ("a -x b\n", 0)


@pytest.mark.parametrize("words", [("grep", "-r", "secret", "docs"), ("grep", "-R", "secret", "docs")])
def test_what_is_denied_is_not_read_by_searching(plugin: Plugin, words: tuple[str, ...]) -> None:
    result = run(plugin, *words)
    assert result.code == "command_refused" if "-R" in words else SECRET not in result.text


def test_the_kernel_refuses_what_no_policy_sees(plugin: Plugin) -> None:
    for path in ("docs/link", "out/hard"):
        result = run(plugin, "cat", path)
        assert result.details["outputs"]["exitCode"] == 1
        assert "Permission denied" in result.details["outputs"]["stderr"]
        assert SECRET not in result.text
    assert SECRET not in run(plugin, "grep", "-r", "secret", "logs", "out", "docs").text


PATHS = [
    "/etc/passwd",
    "../outside",
    "src/x",
    "docs/.env",
    "logs/audit/x",
    "docs/../src/x",
    "docs/.git/config",
    "",
    "-",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_is_refused(plugin: Plugin, path: str) -> None:
    for words in (("cat", path), ("ls", path), ("grep", "x", path), ("cat", "--", path)):
        assert run(plugin, *words).code == "path_refused"


ARGUMENTS = [
    ("find", "docs", "-exec", "sh", "{}", ";"),
    ("find", "docs", "-execdir", "sh", ";"),
    ("find", "docs", "-ok", "sh", ";"),
    ("find", "docs", "-delete"),
    ("find", "docs", "-fprint", "out/x"),
    ("find", "docs", "-fls", "out/x"),
    ("find", "-L", "docs"),
    ("find", "docs", "-newer", "/etc/passwd"),
    ("find", "docs", "-type", "x"),
    ("find", "-files0-from", "docs/a.md"),
    ("find", "docs", "-name"),
    ("grep", "-f", "/etc/passwd", "docs"),
    ("grep", "--file=/etc/passwd", "docs"),
    ("grep", "-P", "(a+)+$", "docs"),
    ("grep", "-R", "x", "docs"),
    ("grep", "--dereference-recursive", "x", "docs"),
    ("grep", "-A", "many", "x", "docs"),
    ("grep", "--include", "x", "docs"),
    ("ls", "--hyperlink"),
    ("ls", "-I", "x"),
    ("cat", "-u", "docs/a.md"),
    ("cat", "--show-all", "docs/a.md"),
    ("cat", "docs/a\n.md"),
    ("cat", "docs/\0"),
    ("git",),
    ("git", "-c", "core.pager=sh", "log"),
    ("git", "-C", "/", "log"),
    ("git", "--git-dir=/x", "log"),
    ("git", "--exec-path=/x", "log"),
    ("git", "fetch", "--upload-pack=sh"),
    ("git", "clone", "x"),
    ("git", "config", "x"),
    ("git", "ls-files", "-o"),
    ("git", "log", "--output=out/x"),
    ("git", "log", "--ext-diff"),
    ("git", "log", "--textconv"),
    ("git", "diff", "--no-index", "a", "b"),
    ("git", "show", "HEAD:docs/.env"),
    ("git", "show", "../x"),
    ("git", "log", "--max-count=x"),
    ("pnpm", "exec", "sh"),
    ("pnpm", "dlx", "x"),
    ("pnpm", "install"),
    ("pnpm", "-C", "/", "list"),
    ("pnpm", "list", "--dir=/"),
    ("pnpm", "list", "../x"),
]


@pytest.mark.parametrize("words", ARGUMENTS, ids=" ".join)
def test_an_argument_that_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(CortexError) as caught:
        checked_arguments(words[0], words[1:])
    assert caught.value.code == "command_refused"
    assert caught.value.message.startswith(f"args: {words[0]}: ")


@pytest.mark.parametrize("path", [":/", ":(top)src/x", ":!a.md", ":^a.md", ":(glob)**"])
def test_git_takes_no_pathspec_with_magic(plugin: Plugin, path: str) -> None:
    for words in (("log", "--", path), ("ls-files", path), ("status", path)):
        assert run(plugin, "git", *words, cwd="docs").code == "path_refused"


@pytest.mark.parametrize("command", ["sh", "bash", "/bin/ls", "ls ", "ls;id", "python3", "rm", ""])
def test_another_command_is_refused(plugin: Plugin, command: str) -> None:
    assert run(plugin, command).code == "command_refused"


@pytest.mark.parametrize("cwd", ["..", "/", "src", "docs/..", "docs/.git", "outside"])
def test_a_working_folder_that_is_refused(plugin: Plugin, cwd: str) -> None:
    assert run(plugin, "ls", "docs", cwd=cwd).code == "path_refused"


@pytest.mark.parametrize("place", ["/usr", "docs/deep", "missing"])
def test_a_working_folder_that_became_a_link_after_the_approval_is_refused(
    plugin: Plugin, folder: Path, place: str
) -> None:
    request = kept_request(plugin, plugin.call("shell_safe", {"command": "ls", "cwd": "out"}))
    shutil.rmtree(folder / "out")
    (folder / "out").symlink_to(folder / place)
    result = plugin.part(AgentActions).run_approved(request, "ada")
    assert (result.code, "a symbolic link" in result.text) == ("path_refused", True)


@pytest.mark.parametrize("args", ["docs", [1], [None], {"0": "docs"}, ["x"] * 101])
def test_arguments_are_a_list_of_texts(plugin: Plugin, args: Any) -> None:
    assert plugin.call("shell_safe", {"command": "ls", "args": args}).code == "invalid_arguments"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_runs_no_program_of_its_configuration(plugin: Plugin, folder: Path) -> None:
    shutil.rmtree(folder / "docs" / ".git")
    ran = folder.parent / "ran"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "docs/a.md"], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    for name in ("core.fsmonitor", "diff.external", "core.pager", "core.sshCommand"):
        subprocess.run([*git, "config", name, f"touch {ran}"], check=True)
    (folder / "docs" / "a.md").write_text("gamma\n")
    assert outputs(run(plugin, "git", "log", "--oneline"))[0].endswith(" first\n")
    diff, code = outputs(run(plugin, "git", "diff", "--", "docs/a.md"))
    assert ("+gamma\n" in diff, code) == (True, 0)
    assert not ran.exists()


def call(timeout_ms: int = 30_000, cancel: CancelToken | None = None) -> ActionCall:
    import time

    from cortex_skills.features.actions.manifest import ActionManifest

    shown = ActionManifest.of(manifest(limits={"timeoutMs": timeout_ms}))
    deadline = time.monotonic() + timeout_ms / 1000
    return ActionCall(shown, {}, "a1", "mayros", None, None, deadline, cancel)


SYSTEM = tuple(str(Path(path).resolve()) for path in ("/usr", "/bin", "/lib", "/lib64", sys.base_prefix))


def confined(*words: str, **more: Any) -> ConfinedCommand:
    return ConfinedCommand(str(Path(shutil.which(words[0])).resolve()), words, SYSTEM, **more)


def python(program: str, **more: Any) -> ConfinedCommand:
    """A confined interpreter, which tries what no command of the policies can."""
    return confined(sys.executable, "-I", "-S", "-c", program, **more)


@pytest.mark.parametrize(
    "program",
    [
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import os; os.kill(os.getppid(), 0)",
        "import os; os.fork() or os.setsid()",
        "open('/tmp/cortex-not-written', 'w')",
        "open('/etc/passwd')",
        "import os; os.listdir('/')",
        "import os; os.mkdir('/tmp/cortex-not-made')",
        "open('/proc/self/environ')",
    ],
)
def test_a_confined_program_cannot(program: str, tmp_path: Path) -> None:
    done = run_child(python(f"try:\n  {program}\nexcept OSError: print('refused')"), call(), tmp_path, {}, 10_000)
    assert (done.lacking, done.stdout.strip()[:7]) == ((), b"refused"), done


def test_a_program_that_writes_too_much_is_ended(tmp_path: Path) -> None:
    with pytest.raises(CortexError, match="wrote more than 1,000 bytes"):
        run_child(confined("yes"), call(), tmp_path, {}, 1000)


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    program = "import os, time\nos.fork()\nprint(os.getpid(), flush=True)\ntime.sleep(60)"
    with pytest.raises(CortexError) as caught:
        run_child((sys.executable, "python", "-c", program), call(timeout_ms=700), tmp_path, {}, 10_000)
    assert caught.value.code == "action_timeout"


def test_a_program_whose_call_is_cancelled_is_ended(tmp_path: Path) -> None:
    cancel = CancelToken()
    threading.Timer(0.3, cancel.cancel).start()
    with pytest.raises(CortexError) as caught:
        run_child(confined("sleep", "60"), call(cancel=cancel), tmp_path, {}, 10_000)
    assert caught.value.code == "cancelled"


def test_without_confinement_it_is_refused(plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert run(plugin, "ls", "docs").code == "confinement_missing"


WORKING = [
    ("ls", "-1AaFhlRrSt", "docs"),
    ("ls", "--all", "--recursive", "--reverse", "docs"),
    ("cat", "-nbsETA", "docs/a.md"),
    ("grep", "-EHhinrsvwxIo", "-A", "1", "-B", "1", "-C", "1", "-m", "5", "--include=*.md", "nothing", "docs"),
    ("find", "docs", "(", "-name", "*.md", "-o", "-empty", ")", "-type", "f", "-size", "+0", "-mtime", "-3"),
    ("find", "docs", "-maxdepth", "2", "-mindepth", "1", "-not", "-iname", "x", "-path", "*", "-mmin", "-9", "-print"),
]


def test_every_option_works_under_the_confinement(plugin: Plugin) -> None:
    results = {words: run(plugin, *words).details["outputs"] for words in WORKING}
    found = {words: (outputs["stderr"], outputs["exitCode"]) for words, outputs in results.items()}
    assert found == dict.fromkeys(WORKING, ("", 0))


def test_a_program_is_called_by_the_name_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cat").symlink_to("/bin/ls")  # as where one program is several commands
    monkeypatch.setattr(shell_safe, "_PATH", str(tmp_path))
    program, words = shell_safe._started("cat", checked_arguments("cat", ["docs/a.md"]))
    assert (program, words) == (str(Path("/bin/ls").resolve()), ("cat", "--", "docs/a.md"))
