"""What docs/proofs.md shows of Proofs of Logic, done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_commands_from_the_assertion_to_its_proof_work(tmp_path: Path) -> None:
    page = (ROOT / "docs/proofs.md").read_text(encoding="utf-8")
    section = page.partition("\n## Proof of Logic\n")[2].partition("\n## ")[0]
    (query,) = re.findall(r"^```sparql\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (block,) = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    asked = query.replace("triple/HASH", "triple/$premise")
    block += f"""
premise=$(cortex-skills proof show "$proof" --store ./kyc-store |
    python3 -c 'import json, sys; reads = json.load(sys.stdin)["premises"]["reads"]; print(max(t for r in reads for t in r["triples"]))')
echo "$proof"
cortex-skills graph sparql --store ./kyc-store -f - <<END
{asked}
END
"""
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(
        command, cwd=tmp_path, env={**kept, "PATH": path, **places}, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = done.stdout.partition("VERIFIED (pol)\n")[2]
    *_, proof, head, found = done.stdout.splitlines()
    assert (head, found) == ("proof", f"urn:cortex:mayros/proof/{proof}")  # who depends on the premise
    parts = re.findall(r"^  verified (\w+)$", shown, re.MULTILINE)
    assert parts == ["signature", "statement", "premises", "logic", "about"]
    assert re.findall(r"^\| `(\w+)` \| .* \| .* \|$", section, re.MULTILINE) == parts
