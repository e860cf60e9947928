"""Completion, in the real shells where they are installed."""

import os
import shutil
import subprocess

import pytest

from tests import fork_server

ASK = """
eval "$(cortex-skills completion bash)"
COMP_WORDS=({words}) COMP_CWORD={place}
_cortex_skills_completion cortex-skills
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

# Each shell without the settings of the user, and the command that loads the completion.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(cortex-skills completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -u -D; eval "$(cortex-skills completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "cortex-skills completion fish | source"),
}
WAIT_S = 60


def bash(script, cwd):
    environment = {**os.environ, "PATH": fork_server.search_path()}
    command = ["bash", "--norc", "-c", script]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("val", {"validate"}),
        ("graph imp", {"import"}),
        ("test --ju", {"--junit"}),
        ("completion z", {"zsh"}),
        ("call skill_a", {"skill_assert"}),
        ("--skills x query --scope na", {"namespace"}),
    ],
)
def test_bash_completes_commands_options_values_and_tools(tmp_path, words, expected):
    line = f"cortex-skills {words}"
    script = ASK.format(words=line, place=len(line.split()) - 1)
    assert set(bash(script, tmp_path)) == expected


@pytest.fixture(params=SHELLS)
def screen(request, tmp_path):
    """Each installed shell with the completion loaded."""
    terminal = pytest.importorskip("tests.terminal", reason="this system has no pseudo-terminals", exc_type=ImportError)
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    (tmp_path / "stock-watch").mkdir()
    (tmp_path / "stock.ttl").touch()
    command, setting = SHELLS[request.param]
    environment = {
        "HOME": str(tmp_path),
        "PATH": fork_server.search_path(),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    screen = terminal.Screen(command, environment, tmp_path)
    try:
        screen.type(f"{setting}; echo rea''dy\n")
        screen.until("ready")
        yield screen
    finally:
        screen.close()


def test_tab_completes_commands_options_tools_and_folders(screen):
    for typed, completed in (
        ("vali", "validate"),
        (" st", "stock-watch/"),
        ("\x15cortex-skills graph imp", "graph import"),
        ("\x15cortex-skills test --ju", "test --junit"),
        ("\x15cortex-skills call skill_as", "call skill_assert"),
    ):
        screen.type(("cortex-skills " if typed == "vali" else "") + typed)
        screen.type("\t")
        screen.until(completed)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_only_matching_words(tmp_path):
    for line, expected in (("completion ", {"bash", "zsh", "fish"}), ("call skill_g", {"skill_graph_query"})):
        script = f"cortex-skills completion fish | source; complete --do-complete 'cortex-skills {line}'"
        command = ["fish", "--no-config", "-c", script]
        environment = {**os.environ, "HOME": str(tmp_path), "PATH": fork_server.search_path()}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_S)
        assert (done.returncode, done.stderr) == (0, "")
        assert {found.partition("\t")[0] for found in done.stdout.splitlines()} == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_has_valid_syntax(run, shell):
    answer = run("completion", shell)
    assert answer.exit_code == 0
    assert "_CORTEX_SKILLS_COMPLETE" in answer.stdout
    if shutil.which(shell):
        read = subprocess.run([shell, "-n"], input=answer.stdout, capture_output=True, text=True, timeout=100)
        assert (read.returncode, read.stderr) == (0, "")
    assert run("completion", shell, "--json").json["script"].strip() == answer.stdout.strip()


def test_the_shell_is_taken_from_the_environment(run):
    assert run("completion", env={"SHELL": "/usr/bin/fish"}).stdout == run("completion", "fish").stdout
    for shell in ("", "/bin/tcsh"):
        answer = run("completion", "--json", env={"SHELL": shell})
        assert (answer.exit_code, answer.error["code"]) == (2, "invalid_arguments")
    assert "did you mean" in run("completoin").stderr
