"""Zero-knowledge proofs about a committed value or a secret key, which do not reveal the value or the key.

All functions raise `NotCanonicalError` for data that is malformed, not canonical, or out of range.
"""

from cortex_skills.features.proofs.zk.claims import (
    Claim,
    Commitment,
    EqualityClaim,
    KeyClaim,
    MembershipClaim,
    OpeningClaim,
    RangeClaim,
)
from cortex_skills.features.proofs.zk.deadline import deadline_check
from cortex_skills.features.proofs.zk.group import NotCanonicalError
from cortex_skills.features.proofs.zk.key_secret import KeySecret
from cortex_skills.features.proofs.zk.pedersen import Opening, commitment_text, read_commitment
from cortex_skills.features.proofs.zk.proof import ZkProof, is_proof, prove, read_proof
from cortex_skills.features.proofs.zk.statement import ZkStatement

__all__ = [
    "Claim",
    "Commitment",
    "EqualityClaim",
    "KeyClaim",
    "KeySecret",
    "MembershipClaim",
    "NotCanonicalError",
    "Opening",
    "OpeningClaim",
    "RangeClaim",
    "ZkProof",
    "ZkStatement",
    "commitment_text",
    "deadline_check",
    "is_proof",
    "prove",
    "read_commitment",
    "read_proof",
]
