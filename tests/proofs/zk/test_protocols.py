"""Zero knowledge and soundness of each protocol, shown by a simulator and an extractor.

A simulator computes, without the witness, the response of a prover to a challenge that is known in advance: a response
reveals nothing. An extractor computes the witness from two responses of one prover to two challenges: a prover that can
respond has the witness. Both program the random oracle (`Oracle`), as the proofs of Fiat–Shamir do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from cortex_skills.features.proofs.zk import (
    Claim,
    EqualityClaim,
    KeySecret,
    MembershipClaim,
    Opening,
    OpeningClaim,
    RangeClaim,
    ZkProof,
)
from cortex_skills.features.proofs.zk.deadline import unlimited
from cortex_skills.features.proofs.zk.generators import value_generator
from cortex_skills.features.proofs.zk.group import BYTES, L, add, scalar_bytes, subtract, times, times_base
from cortex_skills.features.proofs.zk.membership import prove_membership
from cortex_skills.features.proofs.zk.nonces import random_scalar
from cortex_skills.features.proofs.zk.proof import verify_claim
from cortex_skills.features.proofs.zk.range import prove_range
from cortex_skills.features.proofs.zk.schnorr import prove_equality, prove_key, prove_opening
from cortex_skills.features.proofs.zk.values import value_scalar
from tests.proofs.zk.cases import BY_NAME, CASES, STATEMENT, Case, Oracle, commitment, rewound

EVERY = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def accepts(claim: Claim, value: bytes, challenge: int) -> bool:
    """Whether a verifier whose challenge is this one accepts."""
    return verify_claim(claim, value, Oracle(challenge))


def answered(case: Case, challenge: int) -> tuple[bytes, list[bytes]]:
    """What the prover answers to a challenge, run from one and the same state, and its first messages."""
    oracle, nonces, claim, witness = Oracle(challenge), rewound(case), case.claim, case.witness
    if isinstance(witness, KeySecret):
        value = prove_key(witness, oracle, nonces)
    elif isinstance(claim, OpeningClaim):
        value = prove_opening(witness[0], oracle, nonces)
    elif isinstance(claim, EqualityClaim):
        value = prove_equality(witness[0], witness[1], oracle, nonces)
    elif isinstance(claim, MembershipClaim):
        value = prove_membership(claim, witness[0], oracle, nonces, unlimited)
    else:
        assert isinstance(claim, RangeClaim)
        value = prove_range(claim, witness[0], oracle, nonces, unlimited)
    return value, oracle.asked


# --- the simulators: they are given the claim and the challenge, and no witness


def simulated(claim: Claim, challenge: int) -> bytes:
    """An answer to a challenge that is known beforehand."""
    if isinstance(claim, MembershipClaim):
        return simulated_membership(claim, challenge)
    if isinstance(claim, RangeClaim):
        return simulated_range(claim, challenge)
    responses = claim.size // BYTES - 1
    return b"".join(map(scalar_bytes, [challenge, *(random_scalar() for _ in range(responses))]))


def simulated_membership(claim: MembershipClaim, challenge: int) -> bytes:
    challenges = [random_scalar() for _ in claim.members[1:]]
    challenges.append((challenge - sum(challenges)) % L)
    value = b""
    for member, part in zip(claim.members, challenges, strict=True):
        response = random_scalar()
        branch = subtract(claim.commitment.point, times(value_scalar(member), value_generator()))
        value += subtract(times_base(response), times(part, branch)) + scalar_bytes(part) + scalar_bytes(response)
    return value


def simulated_range(claim: RangeClaim, challenge: int) -> bytes:
    """The bits' commitments are random points that add up as they must: a commitment may be to anything."""
    rest = subtract(claim.commitment.point, times(claim.minimum % L, value_generator()))
    value = scalar_bytes(challenge)
    for place in range(len(claim.weights)):
        point = rest if place == len(claim.weights) - 1 else times_base(random_scalar())
        rest = subtract(rest, point)
        value += point + b"".join(scalar_bytes(random_scalar()) for _ in range(3))
    return value


@EVERY
def test_a_simulator_answers_a_challenge_that_it_knows_without_the_witness(case: Case) -> None:
    for _ in range(3):
        challenge = random_scalar()
        value = simulated(case.claim, challenge)
        assert len(value) == case.claim.size
        assert accepts(case.claim, value, challenge)


@EVERY
def test_a_first_message_follows_from_the_challenge_and_its_response(case: Case) -> None:
    """A simulator that draws uniform responses therefore has the same distribution as a prover."""
    challenge = random_scalar()
    value, asked = answered(case, challenge)
    checking = Oracle(challenge)
    assert verify_claim(case.claim, value, checking)
    assert checking.asked == asked
    other, other_asked = answered(case, random_scalar())
    assert (other_asked, other == value) == (asked, False)


@EVERY
def test_a_simulated_transcript_is_not_a_non_interactive_proof(case: Case) -> None:
    assert not ZkProof(STATEMENT, case.claim, simulated(case.claim, random_scalar())).holds()


def test_false_claims_are_simulated_as_well_as_true_ones() -> None:
    """So a response does not distinguish a true claim from a false one; only the challenge does."""
    year, country = Opening(2015), Opening("FR")
    for claim in (
        RangeClaim(commitment(year), 1985, 1996),
        MembershipClaim(commitment(country), ("AT", "CH", "DE")),
        EqualityClaim(commitment(year), commitment(country)),
    ):
        challenge = random_scalar()
        assert accepts(claim, simulated(claim, challenge), challenge)


@pytest.mark.parametrize("name", ["membership", "range"])
def test_a_response_fits_every_witness(name: str) -> None:
    """Each branch and each bit of an answer verifies alone in the same way, so none shows that it is the true one."""
    case = BY_NAME[name]
    challenge = random_scalar()
    value, _ = answered(case, challenge)
    parts = [int.from_bytes(value[at : at + BYTES], "little") for at in range(0, len(value), BYTES)]
    if name == "membership":
        of = case.claim.commitments[0].point
        for place, member in enumerate(case.claim.members):
            branch = subtract(of, times(value_scalar(member), value_generator()))
            message = value[place * 96 : place * 96 + 32]
            assert times_base(parts[place * 3 + 2]) == add(message, times(parts[place * 3 + 1], branch))
        assert sum(parts[1::3]) % L == challenge
    else:
        assert parts[0] == challenge
        assert all(0 < part < L for part in parts[2::4] + parts[3::4] + parts[4::4])


# --- the extractors: they are given two answers with the same first messages, and nothing else


@dataclass(frozen=True)
class Pair:
    """Two accepted answers of one prover to two challenges."""

    claim: Claim
    one: bytes
    two: bytes

    def part(self, place: int) -> tuple[int, int]:
        at = slice(place * BYTES, (place + 1) * BYTES)
        return int.from_bytes(self.one[at], "little"), int.from_bytes(self.two[at], "little")

    def secret(self, challenge: tuple[int, int], response: tuple[int, int]) -> int:
        """w out of z = k + c·w and z' = k + c'·w."""
        return (response[0] - response[1]) * pow(challenge[0] - challenge[1], -1, L) % L


def extracted(pair: Pair) -> tuple[int, ...]:
    """The witness, as `Case.secrets` has it."""
    claim = pair.claim
    if isinstance(claim, MembershipClaim):
        for place, member in enumerate(claim.members):
            challenges = pair.part(place * 3 + 1)
            if challenges[0] != challenges[1]:
                return value_scalar(member), pair.secret(challenges, pair.part(place * 3 + 2))
        raise AssertionError("the sums of the challenges differ, so one of them does")
    whole = pair.part(0)
    if isinstance(claim, RangeClaim):
        number, blinding = claim.minimum, 0
        for place, weight in enumerate(claim.weights):
            zero = pair.part(place * 4 + 2)
            one = tuple((w - z) % L for w, z in zip(whole, zero, strict=True))
            if zero[0] != zero[1]:
                blinding += pair.secret(zero, pair.part(place * 4 + 3))
            else:
                number += weight
                blinding += pair.secret((one[0], one[1]), pair.part(place * 4 + 4))
        return number % L, blinding % L
    secrets = [pair.secret(whole, pair.part(place)) for place in range(1, claim.size // BYTES)]
    if isinstance(claim, EqualityClaim):
        value, first, second = secrets
        return value, first, value, second
    return tuple(secrets)


@EVERY
def test_an_extractor_gets_the_witness_out_of_two_answers(case: Case) -> None:
    (one, asked), (two, asked_again) = answered(case, 1111), answered(case, random_scalar())
    assert asked == asked_again  # one prover, in one state
    assert one != two
    assert accepts(case.claim, one, 1111)
    found = extracted(Pair(case.claim, one, two))
    assert found == case.secrets
    if case.claim.commitments:
        openings = [
            add(times(v, value_generator()), times_base(r)) for v, r in zip(found[::2], found[1::2], strict=True)
        ]
        assert openings == [of.point for of in case.claim.commitments]


def test_a_number_that_is_extracted_lies_in_the_range() -> None:
    claim = BY_NAME["range"].claim
    assert isinstance(claim, RangeClaim)
    for number in range(claim.minimum, claim.maximum + 1):
        opening = Opening(number)
        case = Case("range", replace(claim, commitment=commitment(opening)), [opening])
        pair = Pair(case.claim, answered(case, 5)[0], answered(case, 6)[0])
        assert extracted(pair)[0] == number


@EVERY
def test_repeated_nonces_reveal_the_witness_and_hedged_nonces_do_not(case: Case) -> None:
    """Without any randomness left, another statement still has other nonces, and one statement the same proof."""
    still = [case.prove(entropy=bytes(32)) for _ in range(2)]
    assert still[0] == still[1]
    other = case.prove(replace(STATEMENT, nonce="other"), entropy=bytes(32))
    assert other.holds()
    assert other.value != still[0].value
    assert extracted(Pair(case.claim, still[0].value, other.value)) != case.secrets
    assert case.prove().value != case.prove().value
