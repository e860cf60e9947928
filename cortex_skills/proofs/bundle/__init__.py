"""Bundles: everything that somebody elsewhere needs to check one assertion, in one file."""

from cortex_skills.proofs.bundle.checking import Trusted, check_bundle
from cortex_skills.proofs.bundle.document import Bundle, is_bundle, read_bundle
from cortex_skills.proofs.bundle.links import Link
from cortex_skills.proofs.bundle.making import make_bundle
from cortex_skills.proofs.bundle.requirements import Requirement, read_requirement

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
