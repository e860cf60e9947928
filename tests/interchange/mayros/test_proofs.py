"""The calls of proofs of the client of Mayros: `submitProof` in each form that it is called with."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

import pytest

from cortex_skills.features.proofs.dialects import mayros
from tests.interchange.mayros.conftest import CortexClient, CortexError
from tests.server.proof_cases import Elsewhere

SCHEMES = ("schnorr", "equality", "membership", "range")
OF_ALICE = {"subject": "alice", "predicate": "isVerified"}
METADATA = {"submitter": "auditor", "tags": ["capability"], "extra": {"namespace": "mayros"}}
POINTS = {"commitment": [1] * 32, "challenge": [2] * 32, "response": [3] * 32}


@pytest.fixture
def elsewhere(cortex: CortexClient, name: str, elsewhere_folder) -> Elsewhere:
    """Makes proofs of a statement that the server has."""
    cortex.create_triple("alice", "isVerified", True)
    return Elsewhere(name, elsewhere_folder)


def assert_failed(answer: dict[str, Any], code: str) -> None:
    assert (answer["status"], answer["verified"], answer["code"]) == ("failed", False, code)
    assert "id" not in answer
    assert datetime.fromisoformat(answer["created_at"]).tzinfo is not None
    assert len(answer["reason"].split()) > 10


@pytest.mark.parametrize("scheme", SCHEMES)
def test_refused_a_request_for_a_proof_that_nobody_made(cortex: CortexClient, scheme: str) -> None:
    cortex.create_triple("alice", "isVerified", True)
    answer = cortex.submit_proof(proof_type=scheme, **OF_ALICE, proof_data={"type": scheme}, metadata={"a": "b"})
    assert_failed(answer, "proof_not_found")
    assert (answer["proof_type"], answer["subject"], answer["predicate"]) == (scheme, "alice", "isVerified")
    assert cortex.request("GET", "/api/v1/proofs") == {"count": 0, "proofs": [], "nextCursor": None}


@pytest.mark.parametrize("kind", mayros.UNKNOWN_TYPES)
def test_refused_a_proof_of_a_type_that_is_not_verified_here(cortex: CortexClient, kind: str) -> None:
    data = {"type": "Knowledge", "statement": "alice is verified", **OF_ALICE, "object": "yes", **POINTS}
    assert_failed(cortex.submit_proof(proof_type=kind, proof_data=data, metadata=METADATA), "proof_failed")
    assert cortex.request("GET", "/api/v1/proofs")["count"] == 0


@pytest.mark.parametrize("data", [POINTS, {"x": 1}, {}])
def test_refused_data_without_a_type_is_no_proof(cortex: CortexClient, data: dict[str, Any]) -> None:
    assert_failed(cortex.submit_proof(proof_type="schnorr", proof_data=data, **OF_ALICE), "proof_failed")


def test_refused_metadata_alone_is_no_proof(cortex: CortexClient) -> None:
    assert_failed(cortex.submit_proof(proof_type="membership", metadata=METADATA), "proof_not_found")


@pytest.mark.parametrize("scheme", ["schnorr", "pol"])
def test_a_request_is_answered_with_the_proof_that_there_is(
    cortex: CortexClient, elsewhere: Elsewhere, scheme: str
) -> None:
    made = cortex.submit_proof(proof_type=scheme, proof_data=elsewhere.proof(scheme), metadata=METADATA)
    found = cortex.submit_proof(proof_type=scheme, **OF_ALICE, proof_data={"type": scheme})
    assert (found["id"], found["created"], found["status"]) == (made["id"], False, made["status"])
    assert (found["subject"], found["predicate"]) == (made["subject"], made["predicate"])
    other = {"subject": "alice", "predicate": "isAdult"}
    assert_failed(cortex.submit_proof(proof_type=scheme, **other, proof_data={"type": scheme}), "proof_not_found")


def test_a_proof_is_submitted_read_verified_listed_and_deleted(cortex: CortexClient, elsewhere: Elsewhere) -> None:
    made = cortex.submit_proof(proof_type="schnorr", proof_data=elsewhere.zk("schnorr"), metadata=METADATA)
    assert (made["status"], made["verified"], made["created"]) == ("verified", True, True)
    assert cortex.of_proof(made["id"])["id"] == made["id"]
    assert cortex.of_proof(made["id"], "/verify")["valid"] is True
    listed = cortex.request("GET", "/api/v1/proofs", proof_type="schnorr", verified="true", limit=5)
    assert [each["id"] for each in listed["proofs"]] == [made["id"]]
    batch = cortex.request("POST", "/api/v1/proofs/verify/batch", {"proof_ids": [made["id"]]})
    assert batch["results"] == [{"id": made["id"], "verified": True}]
    stats = cortex.request("GET", "/api/v1/proofs/stats")
    assert (stats["total_proofs"], stats["proofs_by_type"]) == (1, {"schnorr": 1})
    assert cortex.of_proof(made["id"], method="DELETE") == {"proof_id": made["id"], "deleted": True}
    with pytest.raises(CortexError) as refused:
        cortex.of_proof(made["id"])
    assert (refused.value.status, refused.value.code) == (404, "proof_not_found")


def test_a_changed_proof_is_refused_and_not_stored(cortex: CortexClient, elsewhere: Elsewhere) -> None:
    proof = elsewhere.zk("schnorr")
    changed = proof | {"statement": {**proof["statement"], "skill": "other"}}
    with pytest.raises(CortexError) as refused:
        cortex.submit_proof(proof_type="schnorr", proof_data=changed)
    assert refused.value.code in ("proof_failed", "invalid_arguments")
    assert cortex.request("GET", "/api/v1/proofs")["count"] == 0


# --- validate and verify

STATEMENT = {**OF_ALICE, "object": True}
OTHER = {"subject": "bob", "predicate": "isVerified", "object": {"node": "alice"}}


def test_the_hash_of_a_validation_is_reproduced_from_its_answer(cortex: CortexClient) -> None:
    for statements in ([STATEMENT], [STATEMENT, OTHER]):
        answer = cortex.validate(*statements)
        ids = [result["triple"]["id"] for result in answer["results"]]
        assert answer["valid"] is True
        assert answer["proof_hash"] == hashlib.sha256("\n".join(ids).encode()).hexdigest()
    assert cortex.validate(OTHER, STATEMENT)["proof_hash"] != answer["proof_hash"]


def test_a_hash_is_verified_with_its_statements(cortex: CortexClient) -> None:
    wanted = cortex.validate(STATEMENT, OTHER)["proof_hash"]
    found = cortex.verify(wanted, STATEMENT, OTHER)
    assert (found["valid"], found["details"]["proof_hash"]) == (True, wanted)
    assert (found["details"]["steps_verified"], found["details"]["statements_covered"]) == (2, 2)
    assert datetime.fromisoformat(found["details"]["verified_at"]).tzinfo is not None


@pytest.mark.parametrize("statements", [[OTHER], [OTHER, STATEMENT], [{**STATEMENT, "object": "true"}]])
def test_a_hash_of_other_statements_is_not_valid(cortex: CortexClient, statements: list[dict[str, Any]]) -> None:
    found = cortex.verify(cortex.validate(STATEMENT, OTHER)["proof_hash"], *statements)
    assert (found["valid"], found["verdict"]) == (False, "refuted")
    assert (found["details"]["steps_verified"], found["details"]["statements_covered"]) == (0, 0)


def test_the_id_of_a_proof_is_verified_as_a_hash(cortex: CortexClient, elsewhere: Elsewhere) -> None:
    made = cortex.submit_proof(proof_type="pol", proof_data=elsewhere.pol())
    for statements in ([], [STATEMENT]):
        found = cortex.verify(made["id"], *statements)
        assert (found["valid"], found["verdict"]) == (True, "well-formed")
        assert (found["details"]["steps_verified"] > 0, found["details"]["statements_covered"]) == (True, 1)
    assert cortex.verify(made["id"], OTHER)["valid"] is False
    assert cortex.validate(STATEMENT)["proof_hash"] == made["id"]


@pytest.mark.parametrize("wanted", ["0" * 64, "abc", "x y", "é"])
def test_a_hash_alone_is_not_found(cortex: CortexClient, wanted: str) -> None:
    with pytest.raises(CortexError) as refused:
        cortex.verify(wanted)
    assert (refused.value.status, refused.value.code) == (404, "proof_not_found")


# The members of `SubmitProofRequest` and `ProofResponse` of the client.
REQUEST = {"proof_type", "proof_data", "subject", "predicate", "metadata"}
RESPONSE = {"id", "proof_type", "created_at", "verified", "verified_at", "subject", "predicate", "status", "metadata"}


def test_every_member_of_the_client_is_mapped_or_named_as_not_kept(cortex: CortexClient, elsewhere: Elsewhere) -> None:
    assert mayros.REQUEST.keys() == REQUEST
    not_kept = {name for name, kept in mayros.REQUEST.items() if kept is None}
    assert not_kept == {"metadata"}
    made = cortex.submit_proof(proof_type="pol", proof_data=elsewhere.pol(), metadata=METADATA)
    failed = cortex.submit_proof(proof_type="range", metadata=METADATA)
    assert made.keys() >= RESPONSE - not_kept | {"size_bytes"}
    assert failed.keys() >= RESPONSE - not_kept - {"id"} | {"size_bytes"}
