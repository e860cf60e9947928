"""What holds of a zero-knowledge proof that somebody shows, part by part.

Rules kept here:
- the mathematics, the expiry, the nonce, the statement and the anchors are checks of their own, and each says what it
  establishes and what it does not;
- the whole is `verified` only when every part is: a proof about a commitment that nobody vouches for is not;
- a document that is no proof is refuted, with the reason; nothing of it is guessed at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cortex_skills.escaping import shown_name
from cortex_skills.proofs.verdict import Check, Verdict
from cortex_skills.proofs.zk.anchor import anchor
from cortex_skills.proofs.zk.claims import Claim, Commitment
from cortex_skills.proofs.zk.group import NotCanonicalError
from cortex_skills.proofs.zk.patience import Check as Patience
from cortex_skills.proofs.zk.patience import unlimited
from cortex_skills.proofs.zk.proof import ZkProof, read_proof

_ALONE = (
    "that it was made for this occasion: whoever has it can show it again until it expires, unless a nonce is asked"
)
_NOT_ESTABLISHED = {
    "schnorr": "what the secret is, or that its holder is the one who shows the proof",
    "equality": "what the value is, or that it is true of anybody",
    "membership": "which member it is, or that it is true of anybody",
    "range": "which number it is, or that it is true of anybody",
}


@dataclass(frozen=True, slots=True)
class Expected:
    """What a verifier asks of a proof beside its mathematics.

    Attributes:
        now: the time to go by, with its zone.
        trusted: the issuers whose commitments count, as `did:key`.
        nonce: what the verifier asked to be bound in; None when it asked for nothing.
        triple_hash: the statement that it is to be about; None for whichever it names.
        stored_for: the statements that a store keeps it with; None when it is in none.

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
    check: Patience = unlimited,
) -> tuple[list[Check], ZkProof | None]:
    """What holds of a document that is shown as a proof.

    Args:
        document: JSON.
        expected: what the verifier asks of it.
        credentials_of: what is shown or known for a commitment.
        check: called between the steps; ends it by raising.

    Returns:
        The checks, and the proof when it is one.

    """
    try:
        proof = read_proof(document)
    except NotCanonicalError as error:
        part = Check("proof", Verdict.REFUTED, "the document is a zero-knowledge proof", "anything", (str(error),))
        return [part], None
    checks = [_mathematics(proof, check), _expiry(proof, expected.now), _statement(proof, expected)]
    if expected.nonce is not None:
        checks.append(_nonce(proof, expected.nonce))
    if checks[0].verdict is Verdict.VERIFIED:  # whose the commitment is means nothing without the proof
        for commitment in proof.claim.commitments:
            check()
            checks.append(anchor(commitment, credentials_of(commitment), expected.trusted, expected.now))
    return checks, proof


def _mathematics(proof: ZkProof, check: Patience) -> Check:
    claim: Claim = proof.claim
    holds = proof.holds(check)
    reasons = () if holds else ("the proof does not hold: it was changed, or made for something else",)
    not_so = f"{_NOT_ESTABLISHED[claim.proof_type]}; nor {_ALONE}"
    return Check("proof", Verdict.VERIFIED if holds else Verdict.REFUTED, claim.meaning(), not_so, reasons)


def _expiry(proof: ZkProof, now: datetime) -> Check:
    expired = proof.statement.has_expired(now)
    return Check(
        "expiry",
        Verdict.REFUTED if expired else Verdict.VERIFIED,
        f"the proof is meant to count until {proof.statement.expires}",
        "that it was made lately",
        (f"it expired at {proof.statement.expires}",) if expired else (),
    )


def _statement(proof: ZkProof, expected: Expected) -> Check:
    statement = proof.statement
    reasons = []
    if expected.triple_hash is not None and expected.triple_hash != statement.triple_hash:
        reasons.append(f"it is about the statement {statement.triple_hash}, not the one that was asked about")
    if expected.stored_for is not None and statement.triple_hash not in expected.stored_for:
        reasons.append("it is kept with another statement than the one that it is about")
    skill = f"{shown_name(statement.skill)} {shown_name(statement.skill_version)}"
    about = f"the statement {statement.triple_hash} in {shown_name(statement.namespace)}"
    return Check(
        "statement",
        Verdict.REFUTED if reasons else Verdict.VERIFIED,
        f"the proof was made for {about}, on behalf of {skill}",
        "that the statement is true, in the graph, or follows from what is proved",
        tuple(reasons),
    )


def _nonce(proof: ZkProof, nonce: str) -> Check:
    same = proof.statement.nonce == nonce
    return Check(
        "nonce",
        Verdict.VERIFIED if same else Verdict.REFUTED,
        "the proof was made after this nonce was chosen, for whoever chose it",
        "that nobody else was shown it since",
        () if same else ("it was made with another nonce, or with none",),
    )
