"""Running the commands of docs/proofs.md."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests import fork_server

ROOT = Path(__file__).parents[2]


def section(title: str) -> str:
    """The text of a section of the page."""
    page = (ROOT / "docs/proofs.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def run_commands(title: str, folder: Path, **settings: str) -> str:
    """Run the one shell block of a section in a folder; returns its output."""
    (block,) = re.findall(r"^```sh\n(.*?)^```$", section(title), re.MULTILINE | re.DOTALL)
    (folder / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    environment |= {name: str(folder / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    environment["PATH"] = fork_server.search_path()
    environment["CORTEX_SKILL_SANDBOX__PROOF_TIMEOUT_MS"] = "60000"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env=environment | settings,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
