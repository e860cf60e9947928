"""Pedersen commitments: `C = v·H + r·B` hides `v` perfectly, and cannot be opened to another value.

Rules kept here:
- each commitment has a new random blinding, which is never zero;
- no text, repr, comparison, copy or pickle of an opening contains its secrets.

The source: T. P. Pedersen, *Non-Interactive and Information-Theoretic Secure Verifiable Secret Sharing*, 1991.
"""

from __future__ import annotations

from typing import Any, NoReturn

from cortex_skills.features.proofs.zk.generators import value_generator
from cortex_skills.features.proofs.zk.group import (
    BYTES,
    L,
    NotCanonicalError,
    add,
    from_text,
    read_point,
    times,
    times_base,
    to_text,
)
from cortex_skills.features.proofs.zk.nonces import random_scalar
from cortex_skills.features.proofs.zk.values import Value, checked_value, value_scalar

_PREFIX = "pedersen:"


class Opening:
    """The opening of a commitment: the value and the blinding.

    Args:
        value: the committed value.
        blinding: a scalar from 1 to `L - 1`; by default a random one.

    Attributes:
        scalar: the value as a scalar.
        point: the commitment, 32 bytes.

    Raises:
        NotCanonicalError: the value or the blinding is out of range.
    """

    __slots__ = ("blinding", "point", "scalar", "value")

    def __init__(self, value: Value, blinding: int | None = None) -> None:
        self.value = checked_value(value)
        self.scalar = value_scalar(self.value)
        self.blinding = random_scalar() if blinding is None else blinding
        if not 0 < self.blinding < L:
            raise NotCanonicalError("a blinding is not a scalar from 1 to L - 1")
        blinded = times_base(self.blinding)
        both = add(times(self.scalar or 1, value_generator()), blinded)  # the same work for zero as for other values
        self.point = both if self.scalar else blinded
        read_point(self.point)

    @property
    def commitment(self) -> str:
        """The commitment as text."""
        return commitment_text(self.point)

    def __repr__(self) -> str:
        return f"Opening({self.commitment})"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError("an opening cannot be copied or pickled: store it in an OpeningStore")


def commitment_text(point: bytes) -> str:
    """A commitment in a graph: `pedersen:` and the point in base64url."""
    return _PREFIX + to_text(point)


def read_commitment(text: object) -> bytes:
    """Read the point of a commitment's text."""
    if not isinstance(text, str) or not text.startswith(_PREFIX):
        raise NotCanonicalError(f"a commitment is not a text that begins with {_PREFIX}")
    return read_point(from_text(text.removeprefix(_PREFIX), BYTES))
