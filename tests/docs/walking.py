"""The samples of the pages, and running them in a folder as a newcomer would."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests import fork_server

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])

# Whose Python samples run in the folder of the tutorial.
PYTHON_PAGES = (
    "docs/python.md",
    "docs/graph.md",
    "docs/ontology.md",
    "docs/sandbox.md",
    "docs/enrichment.md",
    "docs/direct-mode.md",
    "docs/actions.md",
    "docs/how-to/a-memory-that-lasts.md",
    "docs/how-to/an-agent-on-an-existing-graph.md",
)


def blocks(page: str, language: str) -> list[str]:
    """The samples of a language in a page, by its path in the checkout."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block for name, block in BLOCK.findall(text) if name == language]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with separate data and settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    home = {"XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
    environment = {**kept, **home, "PATH": fork_server.search_path(), "CORTEX_UNSAFE_DIRECT_LOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280)


def shell(lines: list[str], folder: Path) -> str:
    """Run the lines, of which none may fail, and return their output."""
    done = run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
