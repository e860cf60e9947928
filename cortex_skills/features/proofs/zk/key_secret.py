"""The secret scalar of an Ed25519 public key, as the witness of a proof.

Rules kept here:
- the scalar is the one of RFC 8032, §5.1.5, from the SHA-512 of the seed, reduced modulo the group's order;
- a secret has no text form, and cannot be copied or pickled;
- one key may be used for signatures and proofs: the hashes of their challenges have different prefixes.
"""

from __future__ import annotations

from typing import Any, NoReturn

from cortex_skills.features.proofs.zk.group import L, NotCanonicalError, times_base
from cortex_skills.keys import Key


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
            raise NotCanonicalError("a secret key is not a scalar from 1 to L - 1")
        self.scalar = scalar
        self.public = times_base(scalar)

    @classmethod
    def of(cls, key: Key) -> KeySecret:
        """The secret of a key."""
        return cls(key.scalar() % L)

    def __repr__(self) -> str:
        return f"KeySecret(of {self.public.hex()})"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError("a secret key cannot be copied or pickled: open it where it is used")
