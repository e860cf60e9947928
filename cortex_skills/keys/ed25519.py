"""Signing and verifying with Ed25519 (RFC 8032, §5.1), using libsodium.

Rules kept here:
- the seed stays inside a `Key`: no text, repr, comparison or copy of a key contains it. Only the scalar leaves a key,
  for proofs of knowledge of the key (`proofs.zk`);
- `verify` is strict: it returns False for a point of small order, a point outside the prime-order group, an encoding
  that is not canonical, a scalar that is not reduced, and a wrong length. All strict verifiers agree on the result.
"""

from __future__ import annotations

from typing import Any, NoReturn

from nacl.bindings import (
    crypto_sign,
    crypto_sign_ed25519_sk_to_curve25519,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)
from nacl.exceptions import BadSignatureError

from cortex_skills.keys.did import did_of, public_of
from cortex_skills.keys.points import is_public

SEED_BYTES = 32
SIGNATURE_BYTES = 64


class Key:
    """A key that can sign.

    Args:
        name: the name of the key in its folder.
        seed: the secret, 32 bytes (RFC 8032, §5.1.5).

    Attributes:
        public: the public key, 32 bytes.
        did: the public key as a `did:key`.

    Raises:
        ValueError: the seed has another length.
    """

    __slots__ = ("_secret", "did", "name", "public")

    def __init__(self, name: str, seed: bytes) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self.name = name
        self.public, self._secret = crypto_sign_seed_keypair(seed)
        self.did = did_of(self.public)

    def sign(self, message: bytes) -> bytes:
        """The signature of a message: 64 bytes."""
        return crypto_sign(message, self._secret)[:SIGNATURE_BYTES]

    def scalar(self) -> int:
        """The secret scalar (RFC 8032, §5.1.5), the witness of a proof of knowledge of the key. Keep it secret."""
        return int.from_bytes(crypto_sign_ed25519_sk_to_curve25519(self._secret), "little")

    def __repr__(self) -> str:
        return f"Key({self.name!r}, {self.did})"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError("a key cannot be copied or pickled: open it where it is used")


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of a message was made with the key of a public key.

    Args:
        public: the public key, 32 bytes.
        message: the signed bytes.
        signature: 64 bytes; False for any other length.
    """
    if len(signature) != SIGNATURE_BYTES or not is_public(public):
        return False
    try:
        crypto_sign_open(signature + message, public)
    except BadSignatureError:
        return False
    return True


def is_signed(did: str, message: bytes, signature: bytes) -> bool:
    """Whether a signature of a message was made with the key of a `did:key`; False for a text that is none."""
    try:
        return verify(public_of(did), message, signature)
    except ValueError:
        return False
