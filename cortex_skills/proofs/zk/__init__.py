"""Zero knowledge: proofs that somebody knows a value of which something holds, without the value."""

from cortex_skills.proofs.zk.claims import (
    Claim,
    Commitment,
    EqualityClaim,
    KeyClaim,
    MembershipClaim,
    OpeningClaim,
    RangeClaim,
)
from cortex_skills.proofs.zk.group import NotCanonicalError
from cortex_skills.proofs.zk.key_secret import KeySecret
from cortex_skills.proofs.zk.patience import patience
from cortex_skills.proofs.zk.pedersen import Opening, commitment_text, read_commitment
from cortex_skills.proofs.zk.proof import ZkProof, is_proof, prove, read_proof
from cortex_skills.proofs.zk.statement import Statement

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
    "Statement",
    "ZkProof",
    "commitment_text",
    "is_proof",
    "patience",
    "prove",
    "read_commitment",
    "read_proof",
]
