"""Secret scalars of one proof: hedged, so that no weak or repeated source of randomness gives a secret away.

Rules kept here:
- a nonce is a hash of fresh randomness, of the witness, of what the proof is about, and of how many came before it.
  Without the randomness it is as in RFC 6979 and RFC 8032: another proof has other nonces. With it, nobody can make the
  prover use a nonce again;
- 512 bits are reduced, so that no scalar is likelier than another by more than 2^-250.
"""

from __future__ import annotations

import os
from hashlib import sha512

from cortex_skills.proofs.zk.group import BYTES, L

_DOMAIN = b"cortex-skills/zk/edwards25519-sha512/nonce"


class Nonces:
    """The nonces of one proof, one after the other.

    Args:
        context: what the proof is about: the transcript so far.
        witness: the secret scalars, each less than the order of the group.
        entropy: 32 fresh random bytes; drawn when left out.

    """

    __slots__ = ("_count", "_seed")

    def __init__(self, context: bytes, *witness: int, entropy: bytes | None = None) -> None:
        fresh = os.urandom(BYTES) if entropy is None else entropy
        secret = b"".join([scalar.to_bytes(BYTES, "little") for scalar in witness])
        self._seed = sha512(_DOMAIN + fresh + secret + context).digest()
        self._count = 0

    def next(self) -> int:
        """One more scalar."""
        self._count += 1
        return int.from_bytes(sha512(self._seed + self._count.to_bytes(4, "big")).digest(), "little") % L

    def __repr__(self) -> str:
        return f"Nonces({self._count} drawn)"


def random_scalar() -> int:
    """A scalar that is not zero, from the system's randomness."""
    return int.from_bytes(os.urandom(64), "little") % (L - 1) + 1
