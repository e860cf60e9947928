"""Which 32 bytes are an Ed25519 public key (RFC 8032, §5.1)."""

from __future__ import annotations

from functools import lru_cache

from nacl.bindings import crypto_core_ed25519_is_valid_point

PUBLIC_BYTES = 32


@lru_cache(maxsize=1024)
def is_public(public: bytes) -> bool:
    """Whether bytes are a public key: a point of the prime-order group, canonically encoded, and not the identity."""
    return len(public) == PUBLIC_BYTES and crypto_core_ed25519_is_valid_point(public)
