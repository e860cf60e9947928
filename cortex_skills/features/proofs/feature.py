"""The feature `proofs`. Proofs of statements."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="proofs",
    rank=30,
    operations=(
        "cortex_skills.features.proofs.proof_operations",
        "cortex_skills.features.proofs.evaluating",
        "cortex_skills.features.proofs.zk_verification",
        "cortex_skills.features.proofs.opening_operations",
    ),
    attach=("cortex_skills.features.proofs.proving:read_namespace_rules",),
    tools=("cortex_skills.features.proofs.tools",),
    rest=("cortex_skills.features.proofs.rest.proofs", "cortex_skills.features.proofs.rest.verification"),
    commands={
        "Prove statements": {
            "proof": "cortex_skills.features.proofs.cli.proof:proof",
        },
    },
    members=("cortex_skills.features.proofs.proof_members:ProofMembers",),
    settings={
        "proofs": "cortex_skills.features.proofs.proof_settings:ProofSettings",
    },
    default_tools=(
        "skill_request_zk_proof",
        "skill_verify_zk_proof",
    ),
)
