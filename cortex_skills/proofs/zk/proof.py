"""A zero-knowledge proof as a whole: made, written, read and verified.

    proof = prove(claim, statement, [opening])
    proof.to_json()                          # whoever has this can verify it, with no data of the prover's
    read_proof(document).holds()

Rules kept here:
- a proof is made only of what is true: a witness that does not fit the claim is refused, and the message tells nothing
  of it;
- the type that a proof declares is the scheme that it is checked with, and is in the transcript;
- what is read is exact: no other keys, canonical texts, the very length that the claim needs. What is not read is
  refuted, never guessed at;
- that a proof holds says that the mathematics do. Whose the commitment is, and when the proof ends, is for `verifying`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.proofs.zk.claims import (
    Claim,
    EqualityClaim,
    KeyClaim,
    MembershipClaim,
    OpeningClaim,
    RangeClaim,
    read_claim,
)
from cortex_skills.proofs.zk.generators import SUITE
from cortex_skills.proofs.zk.group import NotCanonicalError, from_text, to_text
from cortex_skills.proofs.zk.interval import prove_range, verify_range
from cortex_skills.proofs.zk.key_secret import KeySecret
from cortex_skills.proofs.zk.membership import prove_membership, verify_membership
from cortex_skills.proofs.zk.nonces import Nonces
from cortex_skills.proofs.zk.patience import Check, unlimited
from cortex_skills.proofs.zk.pedersen import Opening
from cortex_skills.proofs.zk.schnorr import (
    prove_equality,
    prove_key,
    prove_opening,
    verify_equality,
    verify_key,
    verify_opening,
)
from cortex_skills.proofs.zk.statement import Statement, exact_keys, read_statement
from cortex_skills.proofs.zk.transcript import Transcript

TYPE = "CortexZeroKnowledgeProof"
VERSION = 1

_KEYS = ("type", "version", "suite", "proofType", "statement", "claim", "proofValue")


@dataclass(frozen=True, slots=True)
class ZkProof:
    """A proof.

    Attributes:
        statement: what it speaks of.
        claim: what it claims.
        value: the proof itself, `claim.size` bytes.

    """

    statement: Statement
    claim: Claim
    value: bytes

    def holds(self, check: Check = unlimited) -> bool:
        """Whether the mathematics hold.

        Args:
            check: called between the steps; ends it by raising.

        """
        claim, value = self.claim, self.value
        if len(value) != claim.size:
            return False
        transcript = Transcript(self.statement.frames, claim.items())
        try:
            if isinstance(claim, KeyClaim):
                return verify_key(claim, value, transcript)
            if isinstance(claim, OpeningClaim):
                return verify_opening(claim, value, transcript)
            if isinstance(claim, EqualityClaim):
                return verify_equality(claim, value, transcript)
            if isinstance(claim, MembershipClaim):
                return verify_membership(claim, value, transcript, check)
            return verify_range(claim, value, transcript, check)
        except NotCanonicalError:
            return False

    def to_json(self) -> dict[str, Any]:
        """The proof as it is stored and handed on."""
        return {
            "type": TYPE,
            "version": VERSION,
            "suite": SUITE,
            "proofType": self.claim.proof_type,
            "statement": self.statement.to_json(),
            "claim": self.claim.to_json(),
            "proofValue": to_text(self.value),
        }


def read_proof(document: object) -> ZkProof:
    """A proof that came from outside, when it is written as one; whether it holds is another question.

    Raises:
        NotCanonicalError: it is none; the message says why.

    """
    read = exact_keys(document, _KEYS, "the proof")
    for key, expected in (("type", TYPE), ("version", VERSION), ("suite", SUITE)):
        if type(read[key]) is not type(expected) or read[key] != expected:
            raise NotCanonicalError(f"the {key} of the proof is not {expected}")
    claim = read_claim(read["proofType"], read["claim"])
    return ZkProof(read_statement(read["statement"]), claim, from_text(read["proofValue"], claim.size))


def prove(
    claim: Claim,
    statement: Statement,
    witness: Sequence[Opening] | KeySecret,
    *,
    check: Check = unlimited,
    entropy: bytes | None = None,
) -> ZkProof:
    """Prove a claim.

    Args:
        claim: what is proved.
        statement: what it speaks of.
        witness: the openings of the claim's commitments, in their order; for a public key its secret.
        check: called between the steps; ends it by raising.
        entropy: 32 random bytes in place of fresh ones; for test vectors alone.

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
            raise _refused("the commitments do not hold the same value")
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
    return CortexError(
        "proof_failed", f"there is nothing to prove: {what}", hint="claim what is true of the commitment"
    )


def is_proof(document: object) -> bool:
    """Whether a document says that it is a proof of this kind."""
    return isinstance(document, Mapping) and document.get("type") == TYPE
