"""The challenge of a proof (Fiat–Shamir): a hash of everything that was fixed before it.

Rules kept here:
- strong Fiat–Shamir (Bernhard, Pereira, Warinschi, *How not to prove yourself*, 2012): the hash covers the suite, the
  generators, the statement, the claim with every commitment, and every first message, so a proof of one claim is not a
  proof of another;
- each item is a frame: its length as 4 bytes, big-endian, then its bytes. So different lists of items are different
  bytes;
- the challenge is SHA-512 of all frames, as a little-endian number modulo the order of the group.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import sha512

from cortex_skills.features.proofs.zk.generators import SUITE, B, value_generator
from cortex_skills.features.proofs.zk.group import BYTES, L

DOMAIN = b"cortex-skills/zk"
VERSION = b"1"

_POINT = BYTES.to_bytes(4, "big")  # the frame of a point


def frame(item: bytes) -> bytes:
    """An item with its length as prefix."""
    return len(item).to_bytes(4, "big") + item


def frames(items: Iterable[bytes]) -> bytes:
    """Concatenated items, each with its length as prefix."""
    return b"".join([len(item).to_bytes(4, "big") + item for item in items])


class Transcript:
    """The statement and the claim of a proof, as bytes.

    Args:
        statement: the frames of the statement.
        claim: the items of the claim.

    Attributes:
        context: the prefix of every hashed challenge.
    """

    __slots__ = ("context",)

    def __init__(self, statement: bytes, claim: Iterable[bytes]) -> None:
        self.context = prefix() + statement + frames(claim)

    def challenge(self, messages: Iterable[bytes]) -> int:
        """The challenge for the first messages of a proof: one or more points."""
        framed = self.context + _POINT + _POINT.join(messages)
        return int.from_bytes(sha512(framed).digest(), "little") % L


@cache
def prefix() -> bytes:
    """The first frames of every transcript: domain, version, suite, generators."""
    return frames((DOMAIN, VERSION, SUITE.encode(), B, value_generator()))
