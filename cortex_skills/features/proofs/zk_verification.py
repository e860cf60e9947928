"""`proofs.verify_zk`: verify a zero-knowledge proof, stored or given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex_skills.features.proofs.verdict import Check
from cortex_skills.operations.operation import OperationCall, operation

if TYPE_CHECKING:
    from cortex_skills.features.proofs.zk.proof import ZkProof


@dataclass(frozen=True, slots=True)
class ZkProofToVerify:
    """`asked` has a `proofId` or a `proof`, and what it must be bound to: `credentials`, `nonce`, `tripleHash`."""

    asked: dict[str, Any]


@dataclass(frozen=True, slots=True)
class VerifiedZkProof:
    """The checks, and the proof; None when the document is not a proof."""

    checks: tuple[Check, ...]
    proof: ZkProof | None


@operation("proofs.verify_zk", effect="reads", permission="read")
def verify_zk(call: OperationCall, given: ZkProofToVerify) -> VerifiedZkProof:
    """Verify a zero-knowledge proof by its id, or from the proof itself."""
    from cortex_skills.features.proofs.zk.request import utc_now
    from cortex_skills.features.proofs.zk.service import verify

    checks, proof = verify(given.asked, call.host.graph, call.host.config, now=utc_now(), cancel=call.cancel)
    return VerifiedZkProof(tuple(checks), proof)
