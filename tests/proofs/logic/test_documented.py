"""What docs/proofs.md shows of Proofs of Logic, done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_graph import NamespacedGraph, open_store

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_commands_from_the_assertion_to_its_proof_work(tmp_path: Path) -> None:
    page = (ROOT / "docs/proofs.md").read_text(encoding="utf-8")
    section = page.partition("\n## Proof of Logic\n")[2].partition("\n## ")[0]
    (query,) = re.findall(r"^```sparql\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (block,) = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {name: str(tmp_path / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    places["CORTEX_SKILL_SANDBOX__PROOF_TIMEOUT_MS"] = "60000"
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(
        command, cwd=tmp_path, env={**kept, "PATH": path, **places}, capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert_the_query_tells_who_depends_on_a_premise(query, tmp_path / "kyc-store")
    shown = done.stdout.partition("VERIFIED (pol)\n")[2]
    parts = re.findall(r"^  verified (\w+)$", shown, re.MULTILINE)
    assert parts == ["signature", "statement", "premises", "logic", "about"]
    assert re.findall(r"^\| `(\w+)` \| .* \| .* \|$", section, re.MULTILINE) == parts


def assert_the_query_tells_who_depends_on_a_premise(query: str, path: Path) -> None:
    store = open_store(str(path))
    try:
        graph = NamespacedGraph(store, "mayros")
        ((proof, *others), _) = graph.proofs.page(10)
        (premise,) = proof.premises
        for triple_id, expected in ((premise, proof.id), (proof.proves[0], None)):
            answer = b"".join(graph.query(query.replace("HASH", triple_id)).chunks).decode()
            assert re.findall(r"/proof/([0-9a-f]{64})", answer) == ([expected] if expected else [])
        assert others == []
    finally:
        store.close()
