"""Making, writing, reading and verifying a zero-knowledge proof.

    proof = prove(claim, statement, [opening])
    proof.to_json()                          # can be verified without data of the prover
    read_proof(document).holds()

Rules kept here:
- only true claims are proved: a witness that does not fit the claim is refused, and the message does not contain it;
- the declared type of a proof selects the scheme that verifies it, and is in the transcript;
- documents are read strictly: no other keys, canonical texts, exactly the length that the claim requires;
- `holds` checks the mathematics only. Anchor and expiry are checked in `verify`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.zk.claims import (
    Claim,
    EqualityClaim,
    KeyClaim,
    MembershipClaim,
    OpeningClaim,
    RangeClaim,
    read_claim,
)
from cortex_skills.features.proofs.zk.deadline import DeadlineCheck, unlimited
from cortex_skills.features.proofs.zk.generators import SUITE
from cortex_skills.features.proofs.zk.group import NotCanonicalError, from_text, to_text
from cortex_skills.features.proofs.zk.key_secret import KeySecret
from cortex_skills.features.proofs.zk.membership import prove_membership, verify_membership
from cortex_skills.features.proofs.zk.nonces import Nonces
from cortex_skills.features.proofs.zk.pedersen import Opening
from cortex_skills.features.proofs.zk.range import prove_range, verify_range
from cortex_skills.features.proofs.zk.schnorr import (
    prove_equality,
    prove_key,
    prove_opening,
    verify_equality,
    verify_key,
    verify_opening,
)
from cortex_skills.features.proofs.zk.statement import ZkStatement, exact_keys, read_statement
from cortex_skills.features.proofs.zk.transcript import Transcript

TYPE = "CortexZeroKnowledgeProof"
VERSION = 1

_KEYS = ("type", "version", "suite", "proofType", "statement", "claim", "proofValue")


@dataclass(frozen=True, slots=True)
class ZkProof:
    """A proof.

    Attributes:
        statement: the statement that it is bound to.
        claim: what it proves.
        value: `claim.size` bytes.
    """

    statement: ZkStatement
    claim: Claim
    value: bytes

    def holds(self, check: DeadlineCheck = unlimited) -> bool:
        """Whether the proof is mathematically valid."""
        claim, value = self.claim, self.value
        if len(value) != claim.size:
            return False
        try:
            return verify_claim(claim, value, Transcript(self.statement.frames, claim.items()), check)
        except NotCanonicalError:
            return False

    def to_json(self) -> dict[str, Any]:
        """The proof as it is stored and sent."""
        return {
            "type": TYPE,
            "version": VERSION,
            "suite": SUITE,
            "proofType": self.claim.proof_type,
            "statement": self.statement.to_json(),
            "claim": self.claim.to_json(),
            "proofValue": to_text(self.value),
        }


def verify_claim(claim: Claim, value: bytes, transcript: Transcript, check: DeadlineCheck = unlimited) -> bool:
    """Verify the bytes of a proof of a claim.

    Raises:
        NotCanonicalError: a point or a scalar is malformed.
    """
    if isinstance(claim, KeyClaim):
        return verify_key(claim, value, transcript)
    if isinstance(claim, OpeningClaim):
        return verify_opening(claim, value, transcript)
    if isinstance(claim, EqualityClaim):
        return verify_equality(claim, value, transcript)
    if isinstance(claim, MembershipClaim):
        return verify_membership(claim, value, transcript, check)
    return verify_range(claim, value, transcript, check)


def read_proof(document: object) -> ZkProof:
    """Read a proof, without verifying it."""
    read = exact_keys(document, _KEYS, "the proof")
    for key, expected in (("type", TYPE), ("version", VERSION), ("suite", SUITE)):
        if type(read[key]) is not type(expected) or read[key] != expected:
            raise NotCanonicalError(f"the {key} of the proof is not {expected}")
    claim = read_claim(read["proofType"], read["claim"])
    return ZkProof(read_statement(read["statement"]), claim, from_text(read["proofValue"], claim.size))


def prove(
    claim: Claim,
    statement: ZkStatement,
    witness: Sequence[Opening] | KeySecret,
    *,
    check: DeadlineCheck = unlimited,
    entropy: bytes | None = None,
) -> ZkProof:
    """Prove a claim.

    Args:
        claim: what is proved.
        statement: the statement that the proof is bound to.
        witness: the openings of the claim's commitments, in their order; for a public key its secret.
        check: called between the steps; may raise.
        entropy: 32 bytes in place of random ones; for test vectors only.

    Raises:
        CortexError: `proof_failed`: the witness does not fit the claim.
    """
    transcript = Transcript(statement.frames, claim.items())
    if isinstance(claim, KeyClaim):
        if not isinstance(witness, KeySecret) or witness.public != claim.public:
            raise _refused("this is not the secret of the public key")
        nonces = Nonces(transcript.context, witness.scalar, entropy=entropy)
        return ZkProof(statement, claim, prove_key(witness, transcript, nonces))
    if isinstance(witness, KeySecret) or [opening.point for opening in witness] != [c.point for c in claim.commitments]:
        raise _refused("these are not the openings of the commitments")
    secrets = [part for opening in witness for part in (opening.scalar, opening.blinding)]
    nonces = Nonces(transcript.context, *secrets, entropy=entropy)
    opening = witness[0]
    if isinstance(claim, OpeningClaim):
        return ZkProof(statement, claim, prove_opening(opening, transcript, nonces))
    if isinstance(claim, EqualityClaim):
        if opening.scalar != witness[1].scalar:
            raise _refused("the commitments are not to the same value")
        return ZkProof(statement, claim, prove_equality(opening, witness[1], transcript, nonces))
    if isinstance(claim, MembershipClaim):
        if opening.value not in claim.members:
            raise _refused("the committed value is not in the set")
        return ZkProof(statement, claim, prove_membership(claim, opening, transcript, nonces, check))
    if not _lies_in(claim, opening):
        raise _refused("the committed value does not lie in the range")
    return ZkProof(statement, claim, prove_range(claim, opening, transcript, nonces, check))


def _lies_in(claim: RangeClaim, opening: Opening) -> bool:
    return isinstance(opening.value, int) and claim.minimum <= opening.value <= claim.maximum


def _refused(what: str) -> CortexError:
    return CortexError("proof_failed", f"the claim cannot be proved: {what}", hint="request a proof of a true claim")


def is_proof(document: object) -> bool:
    """Whether a document declares that it is a proof of this kind."""
    return isinstance(document, Mapping) and document.get("type") == TYPE
