"""The generators of the suite: libsodium's base point `B`, and `H`, whose logarithm to `B` is unknown.

Rules kept here:
- `H` is derived from a hash by provers and verifiers at the first use, so no constant has to be trusted;
- the derivation: for n = 0, 1, … take the first 32 bytes of SHA-512(`DERIVATION` ‖ n as one byte). The first that
  encode a point of the curve (RFC 8032, §5.1.3), multiplied by the cofactor 8, is `H`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import sha512

from cortex_skills.features.proofs.zk.group import BASE, BYTES, NotCanonicalError, add, read_point, times

SUITE = "edwards25519-sha512"
DERIVATION = b"cortex-skills/zk/edwards25519-sha512/generator/H"
B = BASE


@cache
def value_generator() -> bytes:
    """`H`, the generator that carries the values of commitments."""
    for counter in range(256):
        candidate = sha512(DERIVATION + bytes([counter])).digest()[:BYTES]
        try:
            point = add(candidate, candidate)  # raises unless the candidate is on the curve
        except NotCanonicalError:
            continue
        for _ in range(2):
            point = add(point, point)
        return read_point(point)
    raise AssertionError("no hash of 256 encodes a point")  # chance 2^-256


@cache
def _power(exponent: int) -> bytes:
    if not exponent:
        return value_generator()
    half = _power(exponent - 1)
    return add(half, half)


@lru_cache(maxsize=256)
def multiple_of_h(weight: int) -> bytes:
    """`weight · H` for a public weight from 1 to 2^64; cached."""
    if weight & (weight - 1) == 0:
        return _power(weight.bit_length() - 1)
    return times(weight, value_generator())
