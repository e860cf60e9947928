"""Signatures of skills: which publisher signed a skill, and whether its files are the signed ones.

All functions raise a `CortexError` with the code `signature_invalid` for an invalid or untrusted signature.
"""

from cortex_skills.signatures.signing import DEVELOPER, sign_for_oneself, sign_for_others
from cortex_skills.signatures.trust import Publisher, RevokedKey, Trust
from cortex_skills.signatures.trust_file import TrustFile
from cortex_skills.signatures.verifier import Verifier

__all__ = [
    "DEVELOPER",
    "Publisher",
    "RevokedKey",
    "Trust",
    "TrustFile",
    "Verifier",
    "sign_for_oneself",
    "sign_for_others",
]
