"""The challenge of a proof (Fiat–Shamir): a hash of everything that was fixed before it.

Rules kept here:
- strong Fiat–Shamir (Bernhard, Pereira, Warinschi, *How not to prove yourself*, 2012): the suite, the generators, the
  statement, the claim with every commitment, and every first message go in, so that a proof of one thing is none of
  another;
- each item is a frame: its length as 4 bytes, big-endian, then its bytes. So no two lists of items are the same bytes;
- the challenge is SHA-512 of all frames, as a little-endian number modulo the order of the group.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import sha512

from cortex_skills.proofs.zk.generators import SUITE, B, value_generator
from cortex_skills.proofs.zk.group import BYTES, L

DOMAIN = b"cortex-skills/zk"
VERSION = b"1"

_POINT = BYTES.to_bytes(4, "big")  # the frame of a point


def frame(item: bytes) -> bytes:
    """An item with its length before it."""
    return len(item).to_bytes(4, "big") + item


def frames(items: Iterable[bytes]) -> bytes:
    """Items one after the other, each with its length before it."""
    return b"".join([len(item).to_bytes(4, "big") + item for item in items])


class Transcript:
    """What a proof speaks of, as bytes.

    Args:
        statement: its frames.
        claim: its items, in their order.

    Attributes:
        context: the bytes that every challenge begins with.

    """

    __slots__ = ("context",)

    def __init__(self, statement: bytes, claim: Iterable[bytes]) -> None:
        self.context = prefix() + statement + frames(claim)

    def challenge(self, messages: Iterable[bytes]) -> int:
        """The challenge that answers the first messages of a proof, which are points; there is at least one."""
        framed = self.context + _POINT + _POINT.join(messages)
        return int.from_bytes(sha512(framed).digest(), "little") % L


@cache
def prefix() -> bytes:
    """The frames that every transcript begins with: domain, version, suite, generators."""
    return frames((DOMAIN, VERSION, SUITE.encode(), B, value_generator()))
