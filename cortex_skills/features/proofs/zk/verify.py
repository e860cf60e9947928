"""Checking a zero-knowledge proof, part by part.

Rules kept here:
- proof, expiry, nonce, statement and anchors are separate checks, and each states what it establishes and what not;
- the verdict is `verified` only when every part is, so a proof about an unanchored commitment is not;
- a document that is not a proof is refuted, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.features.proofs.zk.anchor import anchor
from cortex_skills.features.proofs.zk.claims import Commitment
from cortex_skills.features.proofs.zk.deadline import DeadlineCheck, unlimited
from cortex_skills.features.proofs.zk.group import NotCanonicalError
from cortex_skills.features.proofs.zk.proof import ZkProof, read_proof
from cortex_skills.safe_io.display import shown_name

_REPLAYED = "that it was made for this occasion: without a nonce it can be shown again until it expires"
_NOT_ESTABLISHED = {
    "schnorr": "what the secret is, or that its holder shows the proof",
    "equality": "what the value is, or that it is true of a subject",
    "membership": "which member it is, or that it is true of a subject",
    "range": "which number it is, or that it is true of a subject",
}


@dataclass(frozen=True, slots=True)
class Expected:
    """What a verifier expects of a proof.

    Attributes:
        now: the current time, with its zone.
        trusted: the issuers whose commitments count, as `did:key`.
        nonce: the nonce that the verifier chose; None for any.
        triple_hash: the statement that the proof must be about; None for any.
        stored_for: the statements that the proof is stored with; None when it is not stored.
    """

    now: datetime
    trusted: Collection[str] = ()
    nonce: str | None = None
    triple_hash: str | None = None
    stored_for: Collection[str] | None = None


def check_document(
    document: object,
    expected: Expected,
    credentials_of: Callable[[Commitment], Iterable[dict[str, Any]]] = lambda _: (),
    *,
    check: DeadlineCheck = unlimited,
) -> tuple[list[Check], ZkProof | None]:
    """Check a document.

    Args:
        document: JSON.
        expected: what the verifier expects.
        credentials_of: the known credentials of a commitment.
        check: called between the steps; may raise.

    Returns:
        The checks, and the proof; None when the document is not a proof.
    """
    try:
        proof = read_proof(document)
    except NotCanonicalError as error:
        part = Check.of("proof", False, "the document is a zero-knowledge proof", "anything", str(error))
        return [part], None
    checks = [_mathematics(proof, check), _expiry(proof, expected.now), _statement(proof, expected)]
    if expected.nonce is not None:
        checks.append(_nonce(proof, expected.nonce))
    if checks[0].verdict is Verdict.VERIFIED:  # an anchor establishes nothing without a valid proof
        for commitment in proof.claim.commitments:
            check()
            checks.append(anchor(commitment, credentials_of(commitment), expected.trusted, expected.now))
    return checks, proof


def _mathematics(proof: ZkProof, check: DeadlineCheck) -> Check:
    claim = proof.claim
    does_not = f"{_NOT_ESTABLISHED[claim.proof_type]}; nor {_REPLAYED}"
    why = "the proof is not valid: it was changed, or made for another statement or claim"
    return Check.of("proof", proof.holds(check), claim.meaning(), does_not, why)


def _expiry(proof: ZkProof, now: datetime) -> Check:
    expires = proof.statement.expires
    is_valid = not proof.statement.has_expired(now)
    establishes = f"the proof is valid until {expires}"
    return Check.of("expiry", is_valid, establishes, "that it was made recently", f"it expired at {expires}")


def _statement(proof: ZkProof, expected: Expected) -> Check:
    statement = proof.statement
    reasons = []
    if expected.triple_hash is not None and expected.triple_hash != statement.triple_hash:
        reasons.append(f"it is about the statement {statement.triple_hash}, not the expected one")
    if expected.stored_for is not None and statement.triple_hash not in expected.stored_for:
        reasons.append("it is stored with another statement than the one that it is about")
    skill = f"{shown_name(statement.skill)} {shown_name(statement.skill_version)}"
    about = f"the statement {statement.triple_hash} in {shown_name(statement.namespace)}"
    does_not = "that the statement is true, in the graph, or follows from what is proved"
    return Check.of(
        "statement", not reasons, f"the proof was made for {about}, on behalf of {skill}", does_not, *reasons
    )


def _nonce(proof: ZkProof, nonce: str) -> Check:
    establishes = "the proof was made after this nonce was chosen, for the verifier who chose it"
    does_not = "that no other verifier has seen it since"
    why = "it was made with another nonce, or without one"
    return Check.of("nonce", proof.statement.nonce == nonce, establishes, does_not, why)
