"""What a zero-knowledge proof claims: the public side of each of its types.

Rules kept here:
- a commitment is named with the triple that it stands in: of what, and of which property of it. So a proof about
  somebody's shoe size is none about their age;
- what a claim says outright is refused: a set of one, a range of one number, a commitment that equals itself;
- a claim is read exactly, and says how many bytes its proof has;
- what goes into JSON means the same everywhere: no number beyond 2^53 - 1, bounds as decimal digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from cortex_skills.proofs.keys import did_of, public_of
from cortex_skills.proofs.zk.group import BYTES, NotCanonicalError
from cortex_skills.proofs.zk.pedersen import commitment_text, read_commitment
from cortex_skills.proofs.zk.statement import exact_keys
from cortex_skills.proofs.zk.values import Value, checked_value, text_bytes, value_bytes

MAX_MEMBERS = 64
MAX_BITS = 64

_MAX_IRI = 4096
_MAX_JSON = 2**53 - 1
_DIGITS = re.compile(r"0|-?[1-9][0-9]{0,19}")
_MAX_DID = 128


@dataclass(frozen=True, slots=True)
class Commitment:
    """A commitment, and the triple that it stands in.

    Attributes:
        subject, predicate: IRIs, of what it is a value, and of which property.
        point: the commitment itself, 32 bytes.

    """

    subject: str
    predicate: str
    point: bytes

    @property
    def text(self) -> str:
        """The object of the triple."""
        return commitment_text(self.point)

    def items(self) -> tuple[bytes, ...]:
        """The commitment as the transcript has it."""
        return self.subject.encode(), self.predicate.encode(), self.point

    def to_json(self) -> dict[str, Any]:
        """The commitment as a proof carries it: a triple."""
        return {"subject": self.subject, "predicate": self.predicate, "commitment": self.text}


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """`schnorr`: the prover knows the secret behind a public key."""

    public: bytes
    proof_type: ClassVar[str] = "schnorr"
    size: ClassVar[int] = 2 * BYTES
    commitments: ClassVar[tuple[Commitment, ...]] = ()

    def items(self) -> tuple[bytes, ...]:
        """The claim as the transcript has it."""
        return b"schnorr", b"publicKey", self.public

    def to_json(self) -> dict[str, Any]:
        """The claim as a proof carries it."""
        return {"publicKey": _did_of(self.public)}

    def meaning(self) -> str:
        """What holds if the proof does."""
        return f"the prover knows the secret key of {_did_of(self.public)}"


@dataclass(frozen=True, slots=True)
class OpeningClaim:
    """`schnorr`: the prover knows what opens a commitment."""

    commitment: Commitment
    proof_type: ClassVar[str] = "schnorr"
    size: ClassVar[int] = 3 * BYTES

    @property
    def commitments(self) -> tuple[Commitment, ...]:
        """The commitments that it is about."""
        return (self.commitment,)

    def items(self) -> tuple[bytes, ...]:
        """The claim as the transcript has it."""
        return b"schnorr", b"commitment", *self.commitment.items()

    def to_json(self) -> dict[str, Any]:
        """The claim as a proof carries it."""
        return {"commitment": self.commitment.to_json()}

    def meaning(self) -> str:
        """What holds if the proof does."""
        return "the prover knows the value and the blinding of the commitment"


@dataclass(frozen=True, slots=True)
class EqualityClaim:
    """`equality`: two commitments hold the same value."""

    first: Commitment
    second: Commitment
    proof_type: ClassVar[str] = "equality"
    size: ClassVar[int] = 4 * BYTES

    def __post_init__(self) -> None:
        if self.first.point == self.second.point:
            raise NotCanonicalError("a commitment is compared with itself")

    @property
    def commitments(self) -> tuple[Commitment, ...]:
        """The commitments that it is about."""
        return self.first, self.second

    def items(self) -> tuple[bytes, ...]:
        """The claim as the transcript has it."""
        return b"equality", *self.first.items(), *self.second.items()

    def to_json(self) -> dict[str, Any]:
        """The claim as a proof carries it."""
        return {"commitments": [self.first.to_json(), self.second.to_json()]}

    def meaning(self) -> str:
        """What holds if the proof does."""
        return "the prover can open both commitments, and they hold the same value"


@dataclass(frozen=True, slots=True)
class MembershipClaim:
    """`membership`: the value of a commitment is one of a set."""

    commitment: Commitment
    members: tuple[Value, ...]
    proof_type: ClassVar[str] = "membership"
    size: int = field(init=False)

    def __post_init__(self) -> None:
        if not 2 <= len(self.members) <= MAX_MEMBERS:
            raise NotCanonicalError(f"a set has 2 to {MAX_MEMBERS} members: one alone would tell the value")
        for member in self.members:
            if isinstance(checked_value(member), int) and abs(int(member)) > _MAX_JSON:
                raise NotCanonicalError("a number of a set is beyond 2^53 - 1, which JSON does not carry everywhere")
        if len(set(self.members)) != len(self.members):
            raise NotCanonicalError("a set has a member twice")
        object.__setattr__(self, "size", 3 * BYTES * len(self.members))

    @property
    def commitments(self) -> tuple[Commitment, ...]:
        """The commitments that it is about."""
        return (self.commitment,)

    def items(self) -> tuple[bytes, ...]:
        """The claim as the transcript has it."""
        count = len(self.members).to_bytes(4, "big")
        return b"membership", *self.commitment.items(), count, *map(value_bytes, self.members)

    def to_json(self) -> dict[str, Any]:
        """The claim as a proof carries it."""
        return {"commitment": self.commitment.to_json(), "members": list(self.members)}

    def meaning(self) -> str:
        """What holds if the proof does."""
        return f"the committed value is one of the {len(self.members)} members of the set"


@dataclass(frozen=True, slots=True)
class RangeClaim:
    """`range`: the number in a commitment lies between two bounds, both included."""

    commitment: Commitment
    minimum: int
    maximum: int
    proof_type: ClassVar[str] = "range"
    size: int = field(init=False)
    weights: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for bound in (self.minimum, self.maximum):
            if isinstance(checked_value(bound), str):
                raise NotCanonicalError("a bound of a range is not a whole number")
        if self.minimum >= self.maximum:
            raise NotCanonicalError("the minimum of a range is not below its maximum: one number alone would be told")
        width = self.maximum - self.minimum
        if width >> MAX_BITS:
            raise NotCanonicalError("a range is wider than 2^64")
        object.__setattr__(self, "weights", weights_of(width))
        object.__setattr__(self, "size", BYTES * (1 + 4 * len(self.weights)))

    @property
    def commitments(self) -> tuple[Commitment, ...]:
        """The commitments that it is about."""
        return (self.commitment,)

    def items(self) -> tuple[bytes, ...]:
        """The claim as the transcript has it."""
        return b"range", *self.commitment.items(), b"%d" % self.minimum, b"%d" % self.maximum

    def to_json(self) -> dict[str, Any]:
        """The claim as a proof carries it."""
        return {"commitment": self.commitment.to_json(), "minimum": str(self.minimum), "maximum": str(self.maximum)}

    def meaning(self) -> str:
        """What holds if the proof does."""
        return f"the committed number lies between {self.minimum} and {self.maximum}, both included"


Claim = KeyClaim | OpeningClaim | EqualityClaim | MembershipClaim | RangeClaim


def weights_of(width: int) -> tuple[int, ...]:
    """The weights whose sums, each taken or left, are the numbers from 0 to `width`, and no other.

    They are 1, 2, 4, … as long as their sum leaves something of `width`, then what is left. The first k - 1 give every
    number to 2^(k-1) - 1; with the last, which is at most 2^(k-1), every number on to `width`; all of them together
    are `width`, so nothing is beyond it (Lipmaa, Asokan, Niemi, *Secure Vickrey Auctions without Threshold Trust*,
    2002, §4; Chaabouni, Lipmaa, shelat, *Additive Combinatorics and Discrete Logarithm Based Range Protocols*, 2010).
    """
    powers = [1 << bit for bit in range(width.bit_length() - 1)]
    return (*powers, width - sum(powers))


def read_claim(proof_type: object, given: object) -> Claim:
    """A claim that came from outside.

    Raises:
        NotCanonicalError: it is none of that type.

    """
    reader = _READERS.get(proof_type) if isinstance(proof_type, str) else None
    if reader is None:
        raise NotCanonicalError(f"the proof's type is not one of {', '.join(_READERS)}")
    return reader(given)


def _schnorr(given: object) -> Claim:
    if isinstance(given, Mapping) and "publicKey" in given:
        did = exact_keys(given, ("publicKey",), "the claim")["publicKey"]
        if not isinstance(did, str) or len(did) > _MAX_DID:
            raise NotCanonicalError("the public key is not a did:key")
        try:
            return KeyClaim(_public_of(did))
        except ValueError as error:
            raise NotCanonicalError(f"the public key is not one: {error}") from None
    return OpeningClaim(_commitment(exact_keys(given, ("commitment",), "the claim")["commitment"]))


def _equality(given: object) -> Claim:
    pair = exact_keys(given, ("commitments",), "the claim")["commitments"]
    if not isinstance(pair, list) or len(pair) != 2:
        raise NotCanonicalError("an equality is not of two commitments")
    return EqualityClaim(*map(_commitment, pair))


def _membership(given: object) -> Claim:
    read = exact_keys(given, ("commitment", "members"), "the claim")
    if not isinstance(read["members"], list):
        raise NotCanonicalError("the members of a set are not a list")
    return MembershipClaim(_commitment(read["commitment"]), tuple(read["members"]))


def _range(given: object) -> Claim:
    read = exact_keys(given, ("commitment", "minimum", "maximum"), "the claim")
    return RangeClaim(_commitment(read["commitment"]), _bound(read["minimum"]), _bound(read["maximum"]))


def _bound(given: object) -> int:
    """A bound as a proof carries it: decimal digits in a text, since not every JSON carries 64 bits as a number."""
    if not isinstance(given, str) or not _DIGITS.fullmatch(given):
        raise NotCanonicalError("a bound of a range is not a whole number in decimal digits")
    return int(given)


def _commitment(given: object) -> Commitment:
    from pyoxigraph import NamedNode

    read = exact_keys(given, ("subject", "predicate", "commitment"), "a commitment")
    for key in ("subject", "predicate"):
        iri = read[key]
        if not isinstance(iri, str) or len(text_bytes(iri)) > _MAX_IRI:
            raise NotCanonicalError(f"the {key} of a commitment is not an IRI")
        try:
            NamedNode(iri)
        except ValueError:
            raise NotCanonicalError(f"the {key} of a commitment is not an IRI") from None
    return Commitment(read["subject"], read["predicate"], read_commitment(read["commitment"]))


# Base 58 takes longer than some proofs do, and a key comes more than once.
_did_of = lru_cache(maxsize=256)(did_of)
_public_of = lru_cache(maxsize=256)(public_of)

_READERS: dict[str, Callable[[object], Claim]] = {
    "schnorr": _schnorr,
    "equality": _equality,
    "membership": _membership,
    "range": _range,
}
