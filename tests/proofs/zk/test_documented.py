"""What docs/proofs.md shows of zero knowledge, done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_commands_from_the_issuer_to_the_verifier_work(tmp_path: Path) -> None:
    page = (ROOT / "docs/proofs.md").read_text(encoding="utf-8")
    section = page.partition("## Zero knowledge")[2]
    (block,) = re.findall(r"^```sh\n(.*?)^```$", section.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    places["CORTEX_SKILL_SANDBOX__PROOF_TIMEOUT_MS"] = "60000"
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(
        command, cwd=tmp_path, env={**kept, "PATH": path, **places}, capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("      does not mean: ")
    assert "VERIFIED (zk)" in done.stdout
    assert "the committed number lies between 1900 and 2008, both included" in done.stdout
    for file in (tmp_path / "proof.json", tmp_path / "credential.json"):
        assert "1990" not in file.read_text()
    assert not (tmp_path / "for-alice.json").exists()
