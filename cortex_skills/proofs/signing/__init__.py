"""Signed documents: verifiable credentials with `eddsa-rdfc-2022` Data Integrity proofs."""

from cortex_skills.proofs.signing.checking import check_credential, issuer_of
from cortex_skills.proofs.signing.credentials import KIND, Claim, issue
from cortex_skills.proofs.signing.documents import read_document
from cortex_skills.proofs.signing.errors import MalformedError, UnsupportedError

__all__ = [
    "KIND",
    "Claim",
    "MalformedError",
    "UnsupportedError",
    "check_credential",
    "issue",
    "issuer_of",
    "read_document",
]
