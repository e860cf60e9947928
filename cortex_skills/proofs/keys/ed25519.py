"""Signing and verifying with Ed25519 (RFC 8032, §5.1), by libsodium.

Rules kept here:
- the seed stays inside a `Key`: no text, repr, comparison or copy of a key shows it; its scalar comes out for proofs of
  knowledge of the key alone (`zk`);
- `verify` is strict: a point of small order, one outside the prime-order group, an encoding that is not canonical, a
  scalar that is not reduced and a wrong length all say no, so that every strict verifier comes to the same answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn

from nacl.bindings import (
    crypto_core_ed25519_is_valid_point,
    crypto_sign,
    crypto_sign_ed25519_sk_to_curve25519,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)
from nacl.exceptions import BadSignatureError

from cortex_skills.proofs.keys.did import did_of

SEED_BYTES = 32
PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64


class Key:
    """A key that can sign.

    Args:
        name: what its owner calls it.
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
        """The secret scalar (RFC 8032, §5.1.5), with which the holder proves to know the key; hand it to nobody."""
        return int.from_bytes(crypto_sign_ed25519_sk_to_curve25519(self._secret), "little")

    def __repr__(self) -> str:
        return f"Key({self.name!r}, {self.did})"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError("a key is neither copied nor pickled: open it where it is used")


@lru_cache(maxsize=1024)
def is_public(public: bytes) -> bool:
    """Whether bytes are a public key: a point of the prime-order group, canonically encoded, and not the identity."""
    return len(public) == PUBLIC_BYTES and crypto_core_ed25519_is_valid_point(public)


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of a message is by the holder of a public key.

    Args:
        public: the public key, 32 bytes.
        message: what was signed.
        signature: 64 bytes; any other length is False.

    """
    if len(signature) != SIGNATURE_BYTES or not is_public(public):
        return False
    try:
        crypto_sign_open(signature + message, public)
    except BadSignatureError:
        return False
    return True
