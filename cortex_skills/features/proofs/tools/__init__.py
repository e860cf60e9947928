"""The tools of the feature `proofs`."""

from cortex_skills.features.proofs.tools.skill_request_zk_proof import SKILL_REQUEST_ZK_PROOF
from cortex_skills.features.proofs.tools.skill_verify_zk_proof import SKILL_VERIFY_ZK_PROOF

TOOLS = (
    SKILL_REQUEST_ZK_PROOF,
    SKILL_VERIFY_ZK_PROOF,
)
