"""One proof of each kind, with what it was made from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cortex_skills.features.proofs.zk import (
    Claim,
    Commitment,
    EqualityClaim,
    KeyClaim,
    KeySecret,
    MembershipClaim,
    Opening,
    OpeningClaim,
    RangeClaim,
    ZkProof,
    ZkStatement,
    prove,
)
from cortex_skills.features.proofs.zk.nonces import Nonces
from cortex_skills.features.proofs.zk.transcript import Transcript
from cortex_skills.keys import Key

NS = "urn:cortex:mayros"
LINE = f'<{NS}:alice> <{NS}:isVerified> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> <{NS}> .'
STATEMENT = ZkStatement("mayros", LINE, "verify-kyc", "1.2.0", "nonce-7", "2030-01-31T12:00:00Z")
COUNTRIES = ("AT", "CH", "DE", "LI")


def commitment(opening: Opening, predicate: str = "birthYear") -> Commitment:
    """A commitment as it would be in a graph."""
    return Commitment(f"{NS}:alice", f"{NS}:{predicate}", opening.point)


@dataclass(frozen=True)
class Case:
    """A claim and what proves it."""

    name: str
    claim: Claim
    witness: list[Opening] | KeySecret

    def prove(self, statement: ZkStatement = STATEMENT, **settings: Any) -> ZkProof:
        """A proof of it."""
        return prove(self.claim, statement, self.witness, **settings)

    @property
    def secrets(self) -> tuple[int, ...]:
        """The secret scalars, in the order in which nonces are hedged with them."""
        if isinstance(self.witness, KeySecret):
            return (self.witness.scalar,)
        return tuple(part for opening in self.witness for part in (opening.scalar, opening.blinding))


YEAR, SAME_YEAR, COUNTRY = Opening(1990, 77**20), Opening(1990, 78**20), Opening("DE", 79**20)
SECRET = KeySecret.of(Key("test", bytes(range(32))))
CASES = [
    Case("key", KeyClaim(SECRET.public), SECRET),
    Case("opening", OpeningClaim(commitment(YEAR)), [YEAR]),
    Case("equality", EqualityClaim(commitment(YEAR), commitment(SAME_YEAR, "yearOfBirth")), [YEAR, SAME_YEAR]),
    Case("membership", MembershipClaim(commitment(COUNTRY, "residence"), COUNTRIES), [COUNTRY]),
    Case("range", RangeClaim(commitment(YEAR), 1985, 1996), [YEAR]),
]
BY_NAME = {case.name: case for case in CASES}


def moved(proof: ZkProof, **parts: Any) -> ZkProof:
    """The same proof with another statement."""
    return replace(proof, statement=replace(proof.statement, **parts))


class Oracle(Transcript):
    """A transcript whose challenge is chosen: the programmed random oracle of security proofs."""

    __slots__ = ("answer", "asked")

    def __init__(self, answer: int) -> None:
        super().__init__(b"", ())
        self.answer = answer
        self.asked: list[bytes] = []

    def challenge(self, messages: Any) -> int:
        """The response, for any challenge."""
        self.asked = list(messages)
        return self.answer


def rewound(case: Case) -> Nonces:
    """The same nonces at each call: a prover that is run again from the same state."""
    return Nonces(b"rewound", *case.secrets, entropy=bytes(32))
