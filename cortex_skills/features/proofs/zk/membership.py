"""`membership`: the committed value is one of m₁ … mₙ; the proof does not reveal which.

An OR of n proofs (R. Cramer, I. Damgård, B. Schoenmakers, *Proofs of Partial Knowledge*, 1994): C − mⱼ·H is r·B for one
j. Each branch has its own challenge, and the challenges add up to the challenge of the proof, so the prover can choose
all but one of them.

    first message of branch j    Tⱼ
    holds when                   zⱼ·B = Tⱼ + cⱼ·(C − mⱼ·H) for every j, and c₁ + … + cₙ = c

Rules kept here:
- a proof is, for each member in the order of the set, Tⱼ, cⱼ and zⱼ;
- the true branch takes the same number of operations as the others;
- the verifier checks all n equations at once, each with a random factor: a wrong equation passes with probability
  2^-128 (M. Bellare, J. Garay, T. Rabin, 1998). Checking them one by one gives the same result.
"""

from __future__ import annotations

import os

from cortex_skills.features.proofs.zk.claims import MembershipClaim
from cortex_skills.features.proofs.zk.deadline import DeadlineCheck
from cortex_skills.features.proofs.zk.generators import value_generator
from cortex_skills.features.proofs.zk.group import BYTES, L, add, read_scalar, scalar_bytes, subtract, times, times_base
from cortex_skills.features.proofs.zk.nonces import Nonces
from cortex_skills.features.proofs.zk.pedersen import Opening
from cortex_skills.features.proofs.zk.transcript import Transcript
from cortex_skills.features.proofs.zk.values import value_scalar

_BRANCH = 3 * BYTES
_FACTOR = 16  # bytes of a random factor


def prove_membership(
    claim: MembershipClaim, opening: Opening, transcript: Transcript, nonces: Nonces, check: DeadlineCheck
) -> bytes:
    """Prove that the value of an opening is in the set; the caller has checked that it is."""
    generator = value_generator()
    scalars = [value_scalar(member) for member in claim.members]
    true = scalars.index(opening.scalar)
    messages, challenges, nonce_of = [], [], []
    for branch, scalar in enumerate(scalars):
        check()
        nonce, challenge = nonces.next(), nonces.next()
        message = times_base(nonce)
        if branch == true:
            challenge = 0
        else:  # z·B − c·(C − m·H), with C − m·H = (v − m)·H + r·B and z = nonce + c·r
            message = subtract(message, times(challenge * (opening.scalar - scalar) % L, generator))
        messages.append(message)
        challenges.append(challenge)
        nonce_of.append(nonce)
    challenges[true] = (transcript.challenge(messages) - sum(challenges)) % L
    parts = []
    for message, challenge, nonce in zip(messages, challenges, nonce_of, strict=True):
        parts += [message, scalar_bytes(challenge), scalar_bytes((nonce + challenge * opening.blinding) % L)]
    return b"".join(parts)


def verify_membership(claim: MembershipClaim, proof: bytes, transcript: Transcript, check: DeadlineCheck) -> bool:
    """Whether a proof of membership is valid."""
    branches = [proof[start : start + _BRANCH] for start in range(0, len(proof), _BRANCH)]
    messages = [branch[:BYTES] for branch in branches]
    challenges = [read_scalar(branch[BYTES : 2 * BYTES]) for branch in branches]
    responses = [read_scalar(branch[2 * BYTES :]) for branch in branches]
    if sum(challenges) % L != transcript.challenge(messages):
        return False
    chance = os.urandom(_FACTOR * len(branches))
    factors = [int.from_bytes(chance[at : at + _FACTOR], "little") + 1 for at in range(0, len(chance), _FACTOR)]
    of_base = of_value = of_commitment = 0
    for factor, member, challenge, response in zip(factors, claim.members, challenges, responses, strict=True):
        of_base += factor * response
        of_value += factor * challenge * value_scalar(member)
        of_commitment += factor * challenge
    right = times(of_commitment % L, claim.commitment.point)
    for factor, message in zip(factors, messages, strict=True):
        check()
        right = add(right, times(factor, message))  # `times` checks the message
    return add(times_base(of_base % L), times(of_value % L, value_generator())) == right
