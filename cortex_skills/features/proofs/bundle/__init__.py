"""Bundles: one file with everything that a verifier elsewhere needs to check one assertion."""

from cortex_skills.features.proofs.bundle.build import make_bundle
from cortex_skills.features.proofs.bundle.bundle import Bundle, is_bundle, read_bundle
from cortex_skills.features.proofs.bundle.chain import Trusted, check_bundle
from cortex_skills.features.proofs.bundle.links import Link
from cortex_skills.features.proofs.bundle.requirements import Requirement, read_requirement

__all__ = [
    "Bundle",
    "Link",
    "Requirement",
    "Trusted",
    "check_bundle",
    "is_bundle",
    "make_bundle",
    "read_bundle",
    "read_requirement",
]
