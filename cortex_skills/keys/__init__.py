"""Ed25519 keys: their files, their names, and the verification of their signatures."""

from cortex_skills.keys.did import did_of, key_id, multikey_of, public_of, read_multikey
from cortex_skills.keys.ed25519 import Key, verify
from cortex_skills.keys.folder import KeyFolder, KeyInfo, default_folder
from cortex_skills.keys.points import is_public

__all__ = [
    "Key",
    "KeyFolder",
    "KeyInfo",
    "default_folder",
    "did_of",
    "is_public",
    "key_id",
    "multikey_of",
    "public_of",
    "read_multikey",
    "verify",
]
