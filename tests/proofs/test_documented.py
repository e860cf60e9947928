"""The commands of docs/proofs.md work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cortex_graph import NamespacedGraph, open_store
from tests.proofs.documented import run_commands, section

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_the_commands_from_the_assertion_to_its_proof_work(tmp_path: Path) -> None:
    output = run_commands("Proof of Logic", tmp_path)
    text = section("Proof of Logic")
    (query,) = re.findall(r"^```sparql\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert_the_query_finds_the_proofs_that_depend_on_a_premise(query, tmp_path / "kyc-store")
    parts = re.findall(r"^  verified (\w+)$", output.partition("VERIFIED (pol)\n")[2], re.MULTILINE)
    assert parts == ["signature", "statement", "premises", "logic", "about"]
    assert re.findall(r"^\| `(\w+)` \| .* \| .* \|$", text, re.MULTILINE) == parts


def assert_the_query_finds_the_proofs_that_depend_on_a_premise(query: str, path: Path) -> None:
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


@pytest.mark.extended
def test_the_commands_from_the_key_to_the_verifier_work(tmp_path: Path) -> None:
    output = run_commands("Signatures", tmp_path, CORTEX_VERIFICATION__REQUIRE_SIGNATURE="false")
    did, _, verdict = output.splitlines()[:3]
    assert verdict == "VERIFIED (credential)"
    credential = json.loads((tmp_path / "boris.json").read_text())
    assert credential["issuer"] == did
    assert credential["credentialSubject"]["id"] == "urn:cortex:mayros:customer:boris"


@pytest.mark.extended
def test_the_commands_from_the_issuer_to_the_verifier_work(tmp_path: Path) -> None:
    output = run_commands("Zero knowledge", tmp_path)
    assert output.splitlines()[-1].startswith("      does not mean: ")
    assert "VERIFIED (zk)" in output
    assert "the committed number lies between 1900 and 2008, both included" in output
    for file in (tmp_path / "proof.json", tmp_path / "credential.json"):
        assert "1990" not in file.read_text()
    assert not (tmp_path / "for-alice.json").exists()
