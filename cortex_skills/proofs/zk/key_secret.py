"""The scalar behind an Ed25519 public key, as a witness.

Rules kept here:
- the scalar is the one of RFC 8032, §5.1.5, out of the SHA-512 of the seed: less the multiples of the group's order;
- a secret shows nothing of itself, and is neither copied nor pickled;
- one key may sign and prove: a challenge of a signature and one of a proof are hashes that begin differently, so
  neither is the other.
"""

from __future__ import annotations

from typing import Any, NoReturn

from cortex_skills.proofs.keys import Key
from cortex_skills.proofs.zk.group import L, NotCanonicalError, times_base


class KeySecret:
    """A secret key.

    Args:
        scalar: from 1 to `L - 1`.

    Attributes:
        public: the public key, 32 bytes.

    Raises:
        NotCanonicalError: the scalar is out of its range.

    """

    __slots__ = ("public", "scalar")

    def __init__(self, scalar: int) -> None:
        if not 0 < scalar < L:
            raise NotCanonicalError("a secret key is not a scalar beside zero")
        self.scalar = scalar
        self.public = times_base(scalar)

    @classmethod
    def of(cls, key: Key) -> KeySecret:
        """The secret of a key that is kept in a folder."""
        return cls(key.scalar() % L)

    def __repr__(self) -> str:
        return f"KeySecret(of {self.public.hex()})"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError("a secret key is neither copied nor pickled: open it where it is used")
