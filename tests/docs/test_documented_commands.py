"""What the README tells a newcomer to do, done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The environment is set up already when the tests run.
SET_UP = ("make setup", "export PATH=")


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCK.findall(README) if name == language]


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which every shell block of the README has run, in order, and what they printed."""
    folder = tmp_path_factory.mktemp("newcomer")
    lines = [line for block in blocks("sh") for line in block.splitlines() if not line.startswith(SET_UP)]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_the_commands_of_the_readme_work_in_the_order_in_which_they_stand(newcomer: tuple[Path, str]) -> None:
    _, printed = newcomer
    assert "3 triples found:" in printed
    assert "Asserted: mayros:nails mayros:reorder true" in printed


def test_the_answer_that_the_readme_shows_is_the_answer(newcomer: tuple[Path, str]) -> None:
    _, printed = newcomer
    (shown,) = [text for text in blocks("text") if "triples found" in text]
    for line in shown.splitlines():
        assert line in printed.splitlines()


def test_the_python_of_the_readme_runs(newcomer: tuple[Path, str]) -> None:
    folder, _ = newcomer
    (program,) = blocks("python")
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert '"alreadyReordered":1' in done.stdout


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md"], ids=lambda p: p.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
        assert (page.parent / target).exists(), target
