"""Secret random scalars of one proof, hedged against weak or repeated randomness.

Rules kept here:
- a nonce is a hash of fresh randomness, the witness, the context of the proof, and a counter. Without the randomness it
  is deterministic as in RFC 6979 and RFC 8032: another proof has other nonces. With it, an attacker cannot make the
  prover repeat a nonce;
- a nonce is 512 bits reduced modulo the order, so its bias is below 2^-250.
"""

from __future__ import annotations

import os
from hashlib import sha512

from cortex_skills.features.proofs.zk.group import BYTES, L

_DOMAIN = b"cortex-skills/zk/edwards25519-sha512/nonce"


class Nonces:
    """The sequence of nonces of one proof.

    Args:
        context: the transcript so far.
        witness: the secret scalars, each less than the order of the group.
        entropy: 32 random bytes; by default fresh ones.
    """

    __slots__ = ("_count", "_seed")

    def __init__(self, context: bytes, *witness: int, entropy: bytes | None = None) -> None:
        fresh = os.urandom(BYTES) if entropy is None else entropy
        secret = b"".join([scalar.to_bytes(BYTES, "little") for scalar in witness])
        self._seed = sha512(_DOMAIN + fresh + secret + context).digest()
        self._count = 0

    def next(self) -> int:
        """The next nonce."""
        self._count += 1
        return int.from_bytes(sha512(self._seed + self._count.to_bytes(4, "big")).digest(), "little") % L

    def __repr__(self) -> str:
        return f"Nonces({self._count} drawn)"


def random_scalar() -> int:
    """A nonzero scalar from the system's randomness."""
    return int.from_bytes(os.urandom(64), "little") % (L - 1) + 1
