"""Pedersen commitments: `C = v·H + r·B` hides `v` perfectly, and nobody can open it to another value.

Rules kept here:
- a blinding is drawn anew for each commitment, and is never zero;
- an opening shows nothing of itself: no text, repr, comparison, copy or pickle of one holds its secrets.

The source: T. P. Pedersen, *Non-Interactive and Information-Theoretic Secure Verifiable Secret Sharing*, 1991.
"""

from __future__ import annotations

from typing import Any, NoReturn

from cortex_skills.proofs.zk.generators import value_generator
from cortex_skills.proofs.zk.group import (
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
from cortex_skills.proofs.zk.nonces import random_scalar
from cortex_skills.proofs.zk.values import Value, checked_value, value_scalar

_PREFIX = "pedersen:"


class Opening:
    """What opens a commitment: the value, and the blinding.

    Args:
        value: what is committed to.
        blinding: a scalar from 1 to `L - 1`; drawn when left out.

    Attributes:
        scalar: the value as the commitment holds it.
        point: the commitment, 32 bytes.

    Raises:
        NotCanonicalError: the value is none, or the blinding is out of its range.

    """

    __slots__ = ("blinding", "point", "scalar", "value")

    def __init__(self, value: Value, blinding: int | None = None) -> None:
        self.value = checked_value(value)
        self.scalar = value_scalar(self.value)
        self.blinding = random_scalar() if blinding is None else blinding
        if not 0 < self.blinding < L:
            raise NotCanonicalError("a blinding is not a scalar beside zero")
        blinded = times_base(self.blinding)
        both = add(times(self.scalar or 1, value_generator()), blinded)  # as much work for zero as for any value
        self.point = both if self.scalar else blinded
        read_point(self.point)

    @property
    def commitment(self) -> str:
        """The commitment as text, as it stands in a graph."""
        return commitment_text(self.point)

    def __repr__(self) -> str:
        return f"Opening({self.commitment})"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError("an opening is neither copied nor pickled: seal it")


def commitment_text(point: bytes) -> str:
    """A commitment as it stands in a graph: `pedersen:` and the point in base64url."""
    return _PREFIX + to_text(point)


def read_commitment(text: object) -> bytes:
    """The point of a commitment's text.

    Raises:
        NotCanonicalError: it is none.

    """
    if not isinstance(text, str) or not text.startswith(_PREFIX):
        raise NotCanonicalError(f"a commitment is not a text that begins with {_PREFIX}")
    return read_point(from_text(text.removeprefix(_PREFIX), BYTES))
