"""Ed25519 keys: where they are kept, what they are called, and whether a signature of one holds."""

from cortex_skills.proofs.keys.did import did_of, multikey_of, public_of, read_multikey
from cortex_skills.proofs.keys.ed25519 import Key, is_public, verify
from cortex_skills.proofs.keys.folder import KeyFolder, KeyInfo, default_folder

__all__ = [
    "Key",
    "KeyFolder",
    "KeyInfo",
    "default_folder",
    "did_of",
    "is_public",
    "multikey_of",
    "public_of",
    "read_multikey",
    "verify",
]
