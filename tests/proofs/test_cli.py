"""`proof show`, `proof verify` and `proof sign` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_skills.config.settings import Config
from cortex_skills.doors.cli.app import program
from cortex_skills.features.proofs.logic.prover import Prover


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_PROOFS__KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("CORTEX_STORE", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()


@pytest.fixture
def triple_hash(tmp_path: Path) -> str:
    """A statement in the store."""
    store = open_store(str(tmp_path / "store"))
    try:
        provenance = Provenance(skill="kyc", skill_version="1.0.0", agent="a1")
        triple = {"subject": "alice", "predicate": "isVerified", "object": True}
        made: str = NamespacedGraph(store, "mayros").create_triple(triple, provenance)["id"]
        return made
    finally:
        store.close()


def run(*words: str, stdin: str | None = None) -> tuple[int, Any, str]:
    """The exit code, the document on standard output, and what was written on standard error."""
    result = CliRunner().invoke(program, [*words, "--json"], input=stdin)
    return result.exit_code, json.loads(result.stdout) if result.stdout else None, result.stderr


def test_an_assertion_is_signed_shown_and_verified_by_file_alone(
    triple_hash: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, signed, _ = run("proof", "sign", triple_hash)
    assert code == 0
    assert run("key", "export", "local")[1]["did"] == signed["issuer"]
    shown = CliRunner().invoke(program, ["proof", "show", signed["id"]]).stdout
    credential = json.loads(shown)
    assert credential["issuer"] == signed["issuer"]
    assert credential["credentialSubject"]["id"] == "urn:cortex:mayros:alice"
    (tmp_path / "credential.json").write_text(json.dumps(credential, indent=2))
    monkeypatch.setenv("CORTEX_STORE", str(tmp_path / "no store"))
    code, document, _ = run("proof", "verify", str(tmp_path / "credential.json"))
    assert (code, document["verdict"], document["kind"]) == (0, "verified", "credential")
    assert [check["part"] for check in document["checks"]] == ["signature", "validity"]
    assert run("proof", "verify", "-", stdin=shown)[0] == 0
    assert not (tmp_path / "no store").exists()


def test_a_stored_proof_is_checked_against_its_statement(triple_hash: str) -> None:
    proof_id = run("proof", "sign", triple_hash)[1]["id"]
    code, document, _ = run("proof", "verify", proof_id)
    assert (code, document["verdict"]) == (0, "verified")
    assert [check["part"] for check in document["checks"]] == ["signature", "validity", "statement"]
    shown = run("proof", "show", proof_id)[1]
    assert (shown["kind"], shown["proves"], shown["id"]) == ("credential", [triple_hash], proof_id)


def test_a_named_key_signs(triple_hash: str) -> None:
    did = run("key", "create", "office")[1]["did"]
    assert run("proof", "sign", triple_hash, "--key", "office")[1]["issuer"] == did
    code, _, error = run("proof", "sign", triple_hash, "--key", "nobody")
    assert code == 1
    assert "there is no key named nobody" in error


def test_a_changed_proof_is_not_verified_with_a_reason(triple_hash: str, tmp_path: Path) -> None:
    proof_id = run("proof", "sign", triple_hash)[1]["id"]
    credential = run("proof", "show", proof_id)[1]["proof"]
    credential["credentialSubject"]["id"] = "urn:cortex:mayros:eve"
    file = tmp_path / "credential.json"
    file.write_text(json.dumps(credential))
    code, document, error = run("proof", "verify", str(file))
    assert (code, document["verdict"]) == (1, "refuted")
    assert "proof_failed" in error
    text = CliRunner().invoke(program, ["proof", "verify", str(file)])
    assert text.exit_code == 1
    assert text.stdout.startswith(
        "REFUTED (credential)\n  refuted signature\n      because: the signature is not valid"
    )


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "invalid_arguments"),
        ("[]", "invalid_arguments"),
        ("x" * 2_000_000, "invalid_arguments"),
        ('{"type": "Astrology"}', "invalid_arguments"),
        ("[" * 200_000, "invalid_arguments"),
        ('{"@context": "https://example.org/evil"}', "proof_failed"),
        ('{"type": "ProofOfLogic"}', "proof_failed"),
    ],
    ids=["nothing", "a list", "too much", "another kind", "deep", "another context", "half a proof"],
)
def test_a_document_that_is_not_a_proof_is_refused(content: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    file.write_text(content)
    ended, _, error = run("proof", "verify", str(file))
    assert ended == 1
    assert json.loads(error.splitlines()[-1])["code"] == code


@pytest.mark.parametrize("command", ["show", "verify"])
@pytest.mark.parametrize("proof_id", ["0" * 64, "nothing", "../no-such-file"])
def test_a_missing_proof_is_not_found(command: str, proof_id: str, triple_hash: str) -> None:
    code, document, error = run("proof", command, proof_id)
    assert (code, document) == (1, None)
    assert "proof_not_found" in error


@pytest.mark.parametrize("given", ["0" * 64, "nothing"])
def test_a_missing_statement_is_not_signed(given: str, triple_hash: str) -> None:
    code, document, error = run("proof", "sign", given)
    assert (code, document) == (1, None)
    assert "invalid_arguments" in error


@pytest.fixture
def logic(tmp_path: Path) -> str:
    """The id of a Proof of Logic in the store."""
    store = open_store(str(tmp_path / "store"))
    try:
        prover = Prover(Config.load(), NamespacedGraph(store, "mayros"))
        triple = {"subject": "alice", "predicate": "isVerified", "object": True}
        proof_id = prover.assert_proved(triple, Provenance(skill="kyc", skill_version="1.0.0"), None).proof
    finally:
        store.close()
    return proof_id


def test_a_proof_of_logic_is_replayed_against_its_graph(logic: str, tmp_path: Path) -> None:
    code, document, _ = run("proof", "verify", logic, "--replay")
    assert (code, document["kind"], document["verdict"]) == (1, "pol", "well-formed")
    file = tmp_path / "proof.json"
    file.write_text(CliRunner().invoke(program, ["proof", "show", logic]).stdout)
    assert run("proof", "verify", str(file))[1]["verdict"] == "well-formed"
    code, document, _ = run("proof", "verify", str(file), "--no-replay")
    assert (code, document["verdict"]) == (1, "not checked")
    assert run("proof", "verify", str(file), "--namespace", "other")[1]["verdict"] == "not checked"


def test_a_proof_of_a_removed_statement_is_refuted(logic: str, tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    file.write_text(CliRunner().invoke(program, ["proof", "show", logic]).stdout)
    store = open_store(str(tmp_path / "store"))
    try:
        graph = NamespacedGraph(store, "mayros")
        assert graph.delete_triple(graph.list_triples()["triples"][0]["id"])
    finally:
        store.close()
    code, document, _ = run("proof", "verify", str(file))
    assert (code, document["verdict"]) == (1, "refuted")
