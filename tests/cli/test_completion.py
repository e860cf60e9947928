"""Completion, by the shells themselves where they are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(sys.executable).parent

ASK = """
eval "$(cortex-skills completion bash)"
COMP_WORDS=({words}) COMP_CWORD={place}
_cortex_skills_completion cortex-skills
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def bash(script, cwd):
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", "--norc", "-c", script]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_is_one_that_its_shell_reads(run, shell):
    answer = run("completion", shell)
    assert answer.exit_code == 0
    assert "_CORTEX_SKILLS_COMPLETE" in answer.stdout
    if shutil.which(shell):
        read = subprocess.run([shell, "-n"], input=answer.stdout, capture_output=True, text=True, timeout=100)
        assert (read.returncode, read.stderr) == (0, "")
    assert run("completion", shell, "--json").json["script"].strip() == answer.stdout.strip()


def test_the_shell_is_told_from_the_environment(run):
    assert run("completion", env={"SHELL": "/usr/bin/fish"}).stdout == run("completion", "fish").stdout
    for shell in ("", "/bin/tcsh"):
        answer = run("completion", "--json", env={"SHELL": shell})
        assert (answer.exit_code, answer.error["code"]) == (2, "invalid_arguments")
    assert "did you mean" in run("completoin").stderr
