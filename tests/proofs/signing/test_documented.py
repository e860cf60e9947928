"""What docs/proofs.md shows of signatures, done."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_commands_from_the_key_to_the_verifier_work(tmp_path: Path) -> None:
    page = (ROOT / "docs/proofs.md").read_text(encoding="utf-8")
    section = page.partition("## Signatures")[2]
    (block,) = re.findall(r"^```sh\n(.*?)^```$", section.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    places["CORTEX_SKILL_SANDBOX__PROOF_TIMEOUT_MS"] = "60000"
    unsigned = {"CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "false"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=tmp_path,
        env={**kept, **places, **unsigned, "PATH": path},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    did, _, verdict = done.stdout.splitlines()[:3]
    assert verdict == "VERIFIED (credential)"
    credential = json.loads((tmp_path / "boris.json").read_text())
    assert credential["issuer"] == did
    assert credential["credentialSubject"]["id"] == "urn:cortex:mayros:customer:boris"
