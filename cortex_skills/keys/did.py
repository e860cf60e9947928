"""Public keys as `did:key` identifiers and as Multikey text.

Rules kept here:
- only Ed25519 keys are accepted; any other type of key is an error;
- only the canonical text of a valid public key is accepted, so that one key has one identifier.

The standards: the did:key method, and Controlled Identifiers 1.0, §2.2.2 (Multikey, prefix 0xed01).

>>> did_of(bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw'
"""

from __future__ import annotations

from hashlib import sha256

from cortex_skills.keys import multibase
from cortex_skills.keys.points import PUBLIC_BYTES, is_public

_PREFIX = "did:key:"
_ED25519 = bytes([0xED, 0x01])


def multikey_of(public: bytes) -> str:
    """A public key as Multikey text, `z6Mk…`."""
    return multibase.encode(_ED25519 + public)


def read_multikey(text: str) -> bytes:
    """The 32 bytes of the public key in a Multikey text.

    Raises:
        ValueError: the text is not a valid Ed25519 public key.
    """
    data = multibase.decode(text, len(_ED25519) + PUBLIC_BYTES)
    if not data.startswith(_ED25519):
        raise ValueError("it is not an Ed25519 key: such a key is written z6Mk…")
    public = data[len(_ED25519) :]
    if not is_public(public):
        raise ValueError("it is not a valid Ed25519 key: it has no secret key")
    return public


def did_of(public: bytes) -> str:
    """A public key as a `did:key`."""
    return _PREFIX + multikey_of(public)


def key_id(public: bytes) -> str:
    """The id of a public key, for display: `ed25519:` and the first eight bytes of its SHA-256."""
    return f"ed25519:{sha256(public).digest()[:8].hex()}"


def public_of(did: str) -> bytes:
    """The 32 bytes of the public key of a `did:key`.

    Raises:
        ValueError: the text is not the `did:key` of a valid Ed25519 key.
    """
    if not did.startswith(_PREFIX):
        raise ValueError("it is not a did:key")
    return read_multikey(did.removeprefix(_PREFIX))
