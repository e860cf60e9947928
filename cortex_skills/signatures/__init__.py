"""Signatures of skills: who published one, and that it is what they published."""

from cortex_skills.signatures.signing import DEVELOPER, sign_for_oneself, sign_for_others
from cortex_skills.signatures.trust import Publisher, Trust
from cortex_skills.signatures.trust_file import TrustFile
from cortex_skills.signatures.verifier import Verifier

__all__ = ["DEVELOPER", "Publisher", "Trust", "TrustFile", "Verifier", "sign_for_oneself", "sign_for_others"]
