"""Signed documents: verifiable credentials with `eddsa-rdfc-2022` Data Integrity proofs.

All functions raise `MalformedError` for documents that do not conform to their standard, and `UnsupportedError` for
documents with features that are not supported here.
"""

from cortex_skills.features.proofs.signing.credential_checks import check_credential, issuer_of
from cortex_skills.features.proofs.signing.credentials import KIND, TripleClaim, issue
from cortex_skills.features.proofs.signing.documents import MalformedError, UnsupportedError, read_document

__all__ = [
    "KIND",
    "MalformedError",
    "TripleClaim",
    "UnsupportedError",
    "check_credential",
    "issue",
    "issuer_of",
    "read_document",
]
