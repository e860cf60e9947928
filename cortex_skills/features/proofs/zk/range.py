"""`range`: the committed number lies between a and b; the proof does not reveal it.

The number minus a is written with k bits and weights w₁ … w_k that add up to b − a (`claims.weights_of`): every choice
of the bits gives a number from 0 to b − a. Each bit has its own commitment, and these add up to C − a·H, so the bits
are those of the committed number, and one decomposition proves both bounds. b − a is below 2^64 and the order of the
group above 2^252, so no sum wraps around.

    bit i         Cᵢ = bᵢ·(wᵢ·H) + rᵢ·B,   C₁ + … + C_k = C − a·H
    bᵢ is 0 or 1  Cᵢ = rᵢ·B  or  Cᵢ − wᵢ·H = rᵢ·B: an OR of two, as in `membership`
    first messages  Tᵢ₀ = zᵢ₀·B − cᵢ₀·Cᵢ,   Tᵢ₁ = zᵢ₁·B − cᵢ₁·(Cᵢ − wᵢ·H),   cᵢ₀ + cᵢ₁ = c

Rules kept here:
- a proof is the challenge c, then for each bit Cᵢ, cᵢ₀, zᵢ₀ and zᵢ₁; cᵢ₁ follows from the others;
- every bit answers the same challenge, a hash of all commitments and first messages: none can be dropped, repeated or
  moved;
- a bit takes the prover the same operations whether it is 0 or 1.

The sources: Cramer, Damgård, Schoenmakers (1994) for the OR; W. Mao, *Guaranteed Correct Sharing of Integer
Factorization with Off-line Shareholders*, 1998, for the bits; Lipmaa, Asokan, Niemi (2002) for the weights.
"""

from __future__ import annotations

from cortex_skills.features.proofs.zk.claims import RangeClaim
from cortex_skills.features.proofs.zk.deadline import DeadlineCheck
from cortex_skills.features.proofs.zk.generators import multiple_of_h, value_generator
from cortex_skills.features.proofs.zk.group import (
    BYTES,
    IDENTITY,
    L,
    add,
    read_scalar,
    scalar_bytes,
    subtract,
    times,
    times_base,
)
from cortex_skills.features.proofs.zk.nonces import Nonces
from cortex_skills.features.proofs.zk.pedersen import Opening
from cortex_skills.features.proofs.zk.transcript import Transcript

_BIT = 4 * BYTES


def bits_of(number: int, weights: tuple[int, ...]) -> list[int]:
    """For each weight 1 or 0, so that the selected weights add up to `number`, which is at most their sum."""
    *powers, last = weights
    takes_last = int(number > sum(powers))
    rest = number - takes_last * last
    return [rest >> place & 1 for place in range(len(powers))] + [takes_last]


def prove_range(
    claim: RangeClaim, opening: Opening, transcript: Transcript, nonces: Nonces, check: DeadlineCheck
) -> bytes:
    """Prove that the number of an opening lies in the range; the caller has checked that it does."""
    bits = bits_of(int(opening.value) - claim.minimum, claim.weights)
    blindings = [nonces.next() for _ in bits[1:]]
    blindings.append((opening.blinding - sum(blindings)) % L)
    commitments: list[bytes] = []
    messages: list[bytes] = []
    secrets: list[tuple[int, int, int]] = []
    for bit, weight, blinding in zip(bits, claim.weights, blindings, strict=True):
        check()
        zero = times_base(blinding)
        commitments.append((zero, add(zero, multiple_of_h(weight)))[bit])
        true, other, challenge = nonces.next(), nonces.next(), nonces.next()
        # The false branch has Cᵢ = rᵢ·B + wᵢ·H, or Cᵢ − wᵢ·H = rᵢ·B − wᵢ·H: its z·B − c·(…) is this.
        shift = times(challenge * weight % L, value_generator())
        answered = times_base(other)
        pair = (subtract(answered, shift), times_base(true)) if bit else (times_base(true), add(answered, shift))
        messages += pair
        secrets.append((true, (other + challenge * blinding) % L, challenge))
    whole = transcript.challenge([*commitments, *messages])
    parts = [scalar_bytes(whole)]
    for bit, blinding, commitment, (true, response, other_challenge) in zip(
        bits, blindings, commitments, secrets, strict=True
    ):
        challenge = (whole - other_challenge) % L
        answer = (true + challenge * blinding) % L
        in_order = (other_challenge, response, answer) if bit else (challenge, answer, response)
        parts += [commitment, *map(scalar_bytes, in_order)]
    return b"".join(parts)


def verify_range(claim: RangeClaim, proof: bytes, transcript: Transcript, check: DeadlineCheck) -> bool:
    """Whether a proof of a range is valid."""
    whole = read_scalar(proof[:BYTES])
    commitments, messages = [], []
    total = IDENTITY
    for weight, start in zip(claim.weights, range(BYTES, len(proof), _BIT), strict=True):
        check()
        commitment = proof[start : start + BYTES]
        challenge, zero, one = (read_scalar(proof[at : at + BYTES]) for at in range(start + BYTES, start + _BIT, BYTES))
        # `times` checks the point before it is added to the others.
        messages.append(subtract(times_base(zero), times(challenge, commitment)))
        shifted = subtract(commitment, multiple_of_h(weight))
        messages.append(subtract(times_base(one), times((whole - challenge) % L, shifted)))
        total = commitment if total is IDENTITY else add(total, commitment)
        commitments.append(commitment)
    return total == _less_minimum(claim) and transcript.challenge([*commitments, *messages]) == whole


def _less_minimum(claim: RangeClaim) -> bytes:
    """C − a·H: a commitment to the number minus the minimum."""
    point, minimum = claim.commitment.point, claim.minimum
    if not minimum:
        return point
    return (subtract if minimum > 0 else add)(point, multiple_of_h(abs(minimum)))
