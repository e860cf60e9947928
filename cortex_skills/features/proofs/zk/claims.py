"""The claims of zero-knowledge proofs: the public data of each proof type.

Rules kept here:
- a commitment includes its triple: the subject and the property of the value. So a proof about a shoe size is not a
  proof about an age;
- a claim that would reveal the value is refused: a set of one, a range of one number. So is the equality of a
  commitment with itself;
- a claim is read strictly, and determines the size of its proof in bytes;
- every JSON reader interprets a claim in the same way: no number beyond 2^53 - 1, bounds as decimal digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from cortex_skills.features.proofs.zk.group import BYTES, NotCanonicalError
from cortex_skills.features.proofs.zk.pedersen import commitment_text, read_commitment
from cortex_skills.features.proofs.zk.statement import exact_keys
from cortex_skills.features.proofs.zk.values import Value, checked_value, text_bytes, value_bytes
from cortex_skills.keys import did_of, public_of

MAX_MEMBERS = 64
MAX_BITS = 64

_MAX_IRI = 4096
_MAX_JSON = 2**53 - 1
_DIGITS = re.compile(r"0|-?[1-9][0-9]{0,19}")
_MAX_DID = 128


@dataclass(frozen=True, slots=True)
class Commitment:
    """A commitment and its triple.

    Attributes:
        subject, predicate: the IRIs of the resource and of the property whose value is committed to.
        point: the commitment, 32 bytes.
    """

    subject: str
    predicate: str
    point: bytes

    @property
    def text(self) -> str:
        """The object of the triple."""
        return commitment_text(self.point)

    def items(self) -> tuple[bytes, ...]:
        """The commitment in the transcript."""
        return self.subject.encode(), self.predicate.encode(), self.point

    def to_json(self) -> dict[str, Any]:
        """The commitment in a proof: a triple."""
        return {"subject": self.subject, "predicate": self.predicate, "commitment": self.text}


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """`schnorr`: the prover knows the secret behind a public key."""

    public: bytes
    proof_type: ClassVar[str] = "schnorr"
    size: ClassVar[int] = 2 * BYTES
    commitments: ClassVar[tuple[Commitment, ...]] = ()

    def items(self) -> tuple[bytes, ...]:
        """The claim in the transcript."""
        return b"schnorr", b"publicKey", self.public

    def to_json(self) -> dict[str, Any]:
        """The claim in a proof."""
        return {"publicKey": _did_of(self.public)}

    def meaning(self) -> str:
        """What a valid proof establishes."""
        return f"the prover knows the secret key of {_did_of(self.public)}"


@dataclass(frozen=True, slots=True)
class _CommitmentClaim:
    """A claim about one commitment."""

    commitment: Commitment

    @property
    def commitments(self) -> tuple[Commitment, ...]:
        """The commitments of the claim."""
        return (self.commitment,)


@dataclass(frozen=True, slots=True)
class OpeningClaim(_CommitmentClaim):
    """`schnorr`: the prover knows the opening of a commitment."""

    proof_type: ClassVar[str] = "schnorr"
    size: ClassVar[int] = 3 * BYTES

    def items(self) -> tuple[bytes, ...]:
        """The claim in the transcript."""
        return b"schnorr", b"commitment", *self.commitment.items()

    def to_json(self) -> dict[str, Any]:
        """The claim in a proof."""
        return {"commitment": self.commitment.to_json()}

    def meaning(self) -> str:
        """What a valid proof establishes."""
        return "the prover knows the value and the blinding of the commitment"


@dataclass(frozen=True, slots=True)
class EqualityClaim:
    """`equality`: two commitments are to the same value."""

    first: Commitment
    second: Commitment
    proof_type: ClassVar[str] = "equality"
    size: ClassVar[int] = 4 * BYTES

    def __post_init__(self) -> None:
        if self.first.point == self.second.point:
            raise NotCanonicalError("a commitment is compared with itself")

    @property
    def commitments(self) -> tuple[Commitment, ...]:
        """The commitments of the claim."""
        return self.first, self.second

    def items(self) -> tuple[bytes, ...]:
        """The claim in the transcript."""
        return b"equality", *self.first.items(), *self.second.items()

    def to_json(self) -> dict[str, Any]:
        """The claim in a proof."""
        return {"commitments": [self.first.to_json(), self.second.to_json()]}

    def meaning(self) -> str:
        """What a valid proof establishes."""
        return "the prover can open both commitments, and they hold the same value"


@dataclass(frozen=True, slots=True)
class MembershipClaim(_CommitmentClaim):
    """`membership`: the committed value is in a set."""

    members: tuple[Value, ...]
    proof_type: ClassVar[str] = "membership"
    size: int = field(init=False)

    def __post_init__(self) -> None:
        if not 2 <= len(self.members) <= MAX_MEMBERS:
            raise NotCanonicalError(f"a set has 2 to {MAX_MEMBERS} members: one member would reveal the value")
        for member in self.members:
            if isinstance(checked_value(member), int) and abs(int(member)) > _MAX_JSON:
                raise NotCanonicalError("a number of a set is beyond 2^53 - 1, which not every JSON reader represents")
        if len(set(self.members)) != len(self.members):
            raise NotCanonicalError("a set has a repeated member")
        object.__setattr__(self, "size", 3 * BYTES * len(self.members))

    def items(self) -> tuple[bytes, ...]:
        """The claim in the transcript."""
        count = len(self.members).to_bytes(4, "big")
        return b"membership", *self.commitment.items(), count, *map(value_bytes, self.members)

    def to_json(self) -> dict[str, Any]:
        """The claim in a proof."""
        return {"commitment": self.commitment.to_json(), "members": list(self.members)}

    def meaning(self) -> str:
        """What a valid proof establishes."""
        return f"the committed value is one of the {len(self.members)} members of the set"


@dataclass(frozen=True, slots=True)
class RangeClaim(_CommitmentClaim):
    """`range`: the committed number lies between two bounds, both included."""

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
            raise NotCanonicalError(
                "the minimum of a range is not below its maximum: a range of one number would reveal it"
            )
        width = self.maximum - self.minimum
        if width >> MAX_BITS:
            raise NotCanonicalError("a range is wider than 2^64")
        object.__setattr__(self, "weights", weights_of(width))
        object.__setattr__(self, "size", BYTES * (1 + 4 * len(self.weights)))

    def items(self) -> tuple[bytes, ...]:
        """The claim in the transcript."""
        return b"range", *self.commitment.items(), b"%d" % self.minimum, b"%d" % self.maximum

    def to_json(self) -> dict[str, Any]:
        """The claim in a proof."""
        return {"commitment": self.commitment.to_json(), "minimum": str(self.minimum), "maximum": str(self.maximum)}

    def meaning(self) -> str:
        """What a valid proof establishes."""
        return f"the committed number lies between {self.minimum} and {self.maximum}, both included"


Claim = KeyClaim | OpeningClaim | EqualityClaim | MembershipClaim | RangeClaim


def weights_of(width: int) -> tuple[int, ...]:
    """The weights whose subset sums are exactly the numbers from 0 to `width`.

    They are 1, 2, 4, … while their sum is below `width`, then the remainder. The first k - 1 give every number up to
    2^(k-1) - 1; with the last, which is at most 2^(k-1), every number up to `width`; their sum is `width`, so no subset
    sum is larger (Lipmaa, Asokan, Niemi, *Secure Vickrey Auctions without Threshold Trust*,
    2002, §4; Chaabouni, Lipmaa, shelat, *Additive Combinatorics and Discrete Logarithm Based Range Protocols*, 2010).
    """
    powers = [1 << bit for bit in range(width.bit_length() - 1)]
    return (*powers, width - sum(powers))


def read_claim(proof_type: object, given: object) -> Claim:
    """Read the claim of a proof."""
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
            raise NotCanonicalError(f"the public key is not valid: {error}") from None
    return OpeningClaim(_commitment(exact_keys(given, ("commitment",), "the claim")["commitment"]))


def _equality(given: object) -> Claim:
    pair = exact_keys(given, ("commitments",), "the claim")["commitments"]
    if not isinstance(pair, list) or len(pair) != 2:
        raise NotCanonicalError("an equality does not have two commitments")
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
    """A bound in a proof: decimal digits as text, because not every JSON reader represents 64-bit numbers."""
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


# Base 58 takes longer than some proofs, and the same key is used often.
_did_of = lru_cache(maxsize=256)(did_of)
_public_of = lru_cache(maxsize=256)(public_of)

_READERS: dict[str, Callable[[object], Claim]] = {
    "schnorr": _schnorr,
    "equality": _equality,
    "membership": _membership,
    "range": _range,
}
