"""The commands of docs/artifacts.md work, in their order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cortex_skills.doors.cli.app import program

PAGE = Path(__file__).parents[2] / "docs" / "artifacts.md"


def test_an_artifact_is_built_and_verified_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    part = page[page.index("## Build one") : page.index("## Trust")]
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) == 5
    for line in lines:
        _, *words = shlex.split(line)
        done = CliRunner().invoke(program, words)
        assert done.exit_code == 0, (line, done.stdout + done.stderr)
    assert "tofu_newly_pinned" in done.stdout
