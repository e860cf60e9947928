"""What `init`, `package init` and `package scaffold` print and write as next steps runs as it is written."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_skills.skill_folder.builtin import EXAMPLES
from tests import fork_server
from tests.signals import signals_delivered

NEEDS_THE_INDEX = "python -m pip install"  # of the compiler, which the environment of the tests has already


class Shell:
    """Runs lines as a user types them, with separate configuration and data.

    Attributes:
        folder: where commands run first; its name has a space.

    """

    def __init__(self, root: Path) -> None:
        self.folder = root / "my work"
        self.folder.mkdir()
        (root / "bin").mkdir()
        (root / "bin" / "cortex-skills").symlink_to(fork_server.command())
        (root / "bin" / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        (root / "bin" / "python").chmod(0o755)
        places = {name: str(root / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        self.variables = {**os.environ, **places, "PATH": f"{root / 'bin'}:{os.environ['PATH']}"}
        self.settings = root / "cortex.yaml"
        self.settings.write_text("artifacts: {builder: true}\n")

    def run(self, line: str, folder: Path | None = None, code: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=folder or self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, (line, done.stdout, done.stderr)
        return done.stdout

    def run_readme(self, folder: Path, codes: dict[str, int] | None = None) -> list[str]:
        """Run each line of each block of the README; `codes` has the exit codes that it states."""
        blocks = re.findall(r"^```sh\n(.*?)^```", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)
        lines = [line for block in blocks for line in block.splitlines()]
        assert lines
        expected = codes or {}
        return [
            self.run(line, folder, next((code for word, code in expected.items() if word in line), 0))
            for line in lines
            if not line.startswith(NEEDS_THE_INDEX)
        ]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        "",
        *(
            pytest.param(options, marks=[] if options == "--from verify-kyc" else pytest.mark.extended)
            for options in ("--agentskills", *(f"--from {name}" for name in EXAMPLES))
        ),
    ],
)
def test_the_commands_that_init_prints_run(shell: Shell, options: str):
    name = options.removeprefix("--from ") if "--from" in options else "stock-watch"
    printed = shell.run(f"cortex-skills init {name} {options}", shell.folder)
    commands = [line.strip() for line in printed.partition("Next:\n")[2].splitlines()]
    assert commands
    for line in commands:
        if " dev " in line:
            assert_starts(shell, line, name)
        else:
            assert "0 failed" in shell.run(line) or "passed" in shell.run(line)


def test_the_commands_that_init_prints_run_for_a_path_with_a_space(shell: Shell):
    printed = shell.run(f"cortex-skills init '{shell.folder}/stock-watch' --yes")
    (first, _) = printed.partition("Next:\n")[2].splitlines()
    assert first == f"  cortex-skills test '{shell.folder}/stock-watch'"
    shell.run(first)


def assert_starts(shell: Shell, line: str, name: str) -> None:
    """Start a command that runs until it is interrupted, and interrupt it after it has loaded the skill."""
    with (
        signals_delivered(signal.SIGINT),
        subprocess.Popen(
            ["bash", "-c", f"exec {line}"], cwd=shell.folder, env=shell.variables, stdout=subprocess.PIPE, text=True
        ) as started,
    ):
        assert started.stdout is not None
        shown = ""
        for text in started.stdout:
            shown += text
            if f"loaded {name}" in shown or "rejected" in shown:
                break
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=60)
    assert f" loaded {name}" in shown


@pytest.mark.parametrize("name", ["acme.echo", pytest.param("echo", marks=pytest.mark.extended)])
def test_the_readme_of_package_init_runs(shell: Shell, name: str):
    printed = shell.run(f"cortex-skills package init {name}")
    assert printed.splitlines()[-1] == f"Next: see {shell.folder / name / 'README.md'}"
    outputs = shell.run_readme(shell.folder / name)
    assert f"ok    {name}/skill.test.ts: " in outputs[0]
    assert "is installed; its status is active" in outputs[-1]


@pytest.mark.parametrize("words", ["echo --publisher acme", "acme.echo --publisher acme", "acme.echo"])
def test_a_project_is_valid_and_built_with_each_way_to_name_its_publisher(run, tmp_path, monkeypatch, words: str):
    monkeypatch.chdir(tmp_path)
    assert run("package", "init", *words.split()).exit_code == 0
    folder = words.partition(" ")[0]
    assert run("validate", "--no-types", folder).stdout == f"ok {folder}: echo 0.1.0\n"
    monkeypatch.chdir(tmp_path / folder)
    assert "acme.echo 0.1.0" in run("package", "build", ".", "-o", "out.palyra-skill").stdout


@pytest.mark.extended
def test_the_readme_of_package_init_wasm_runs(shell: Shell):
    name = "acme.greet-tool"
    pytest.importorskip("ziglang", reason="the README installs a compiler from the package index")
    shell.run(f"cortex-skills package init {name} --wasm")
    outputs = shell.run_readme(shell.folder / name)
    (waiting,) = re.findall(r"waits for a person as (\w+)", outputs[-2])
    assert waiting in outputs[-1]
    assert "Ada" in shell.run(f"cortex-skills approvals approve {waiting}")  # as the README states below the block


def test_the_readme_of_package_scaffold_runs(shell: Shell):
    name = "acme.notes"
    shell.run(f"cortex-skills package scaffold {name} --prompt 'Counts notes.' --config '{shell.settings}'")
    outputs = shell.run_readme(shell.folder / name, {"cortex-skills install": 1})
    assert "its status is quarantined" in outputs[-2]
    assert "active" in outputs[-1]
