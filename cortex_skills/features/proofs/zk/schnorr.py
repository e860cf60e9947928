"""`schnorr` and `equality`: the secret of a public key, the opening of a commitment, one value in two commitments.

All three are proofs of a linear relation, with one challenge and one response for each secret (C. P. Schnorr, 1991;
T. Okamoto, 1992; D. Chaum, T. P. Pedersen, 1992; U. Maurer, *Unifying Zero-Knowledge Proofs of Knowledge*, 2009). With
challenge c, nonces k and secrets w the responses are z = k + c·w:

    key          P  = x·B               T  = k·B               T  = z·B − c·P
    opening      C  = v·H + r·B         T  = k_v·H + k_r·B     T  = z_v·H + z_r·B − c·C
    equality     C₁ = v·H + r₁·B        T₁ = k_v·H + k₁·B      T₁ = z_v·H + z₁·B − c·C₁
                 C₂ = v·H + r₂·B        T₂ = k_v·H + k₂·B      T₂ = z_v·H + z₂·B − c·C₂

Rules kept here:
- a proof is the challenge, then the responses; the verifier calculates the first messages (the last column) and
  compares their challenge with the challenge of the proof;
- an equality has one response z_v for both commitments, so the two values are equal.
"""

from __future__ import annotations

from cortex_skills.features.proofs.zk.claims import EqualityClaim, KeyClaim, OpeningClaim
from cortex_skills.features.proofs.zk.generators import value_generator
from cortex_skills.features.proofs.zk.group import BYTES, L, add, read_scalar, scalar_bytes, subtract, times, times_base
from cortex_skills.features.proofs.zk.key_secret import KeySecret
from cortex_skills.features.proofs.zk.nonces import Nonces
from cortex_skills.features.proofs.zk.pedersen import Opening
from cortex_skills.features.proofs.zk.transcript import Transcript


def prove_key(secret: KeySecret, transcript: Transcript, nonces: Nonces) -> bytes:
    """Prove knowledge of the secret scalar of a public key."""
    nonce = nonces.next()
    challenge = transcript.challenge((times_base(nonce),))
    return scalar_bytes(challenge) + scalar_bytes((nonce + challenge * secret.scalar) % L)


def verify_key(claim: KeyClaim, proof: bytes, transcript: Transcript) -> bool:
    """Whether a proof of knowledge of a secret key is valid."""
    challenge, response = _scalars(proof)
    message = subtract(times_base(response), times(challenge, claim.public))
    return transcript.challenge((message,)) == challenge


def prove_opening(opening: Opening, transcript: Transcript, nonces: Nonces) -> bytes:
    """Prove knowledge of the opening of a commitment."""
    for_value, for_blinding = nonces.next(), nonces.next()
    message = add(times(for_value, value_generator()), times_base(for_blinding))
    challenge = transcript.challenge((message,))
    return b"".join(
        (
            scalar_bytes(challenge),
            scalar_bytes((for_value + challenge * opening.scalar) % L),
            scalar_bytes((for_blinding + challenge * opening.blinding) % L),
        )
    )


def verify_opening(claim: OpeningClaim, proof: bytes, transcript: Transcript) -> bool:
    """Whether a proof of knowledge of an opening is valid."""
    challenge, of_value, of_blinding = _scalars(proof)
    both = add(times(of_value, value_generator()), times_base(of_blinding))
    message = subtract(both, times(challenge, claim.commitment.point))
    return transcript.challenge((message,)) == challenge


def prove_equality(first: Opening, second: Opening, transcript: Transcript, nonces: Nonces) -> bytes:
    """Prove that two commitments are to the same value."""
    for_value, *for_blindings = (nonces.next() for _ in range(3))
    valued = times(for_value, value_generator())
    challenge = transcript.challenge([add(valued, times_base(nonce)) for nonce in for_blindings])
    responses = [(for_value + challenge * first.scalar) % L]
    for opening, nonce in zip((first, second), for_blindings, strict=True):
        responses.append((nonce + challenge * opening.blinding) % L)
    return b"".join(map(scalar_bytes, (challenge, *responses)))


def verify_equality(claim: EqualityClaim, proof: bytes, transcript: Transcript) -> bool:
    """Whether a proof that two commitments are to the same value is valid."""
    challenge, of_value, *of_blindings = _scalars(proof)
    valued = times(of_value, value_generator())
    messages = [
        subtract(add(valued, times_base(response)), times(challenge, commitment.point))
        for commitment, response in zip(claim.commitments, of_blindings, strict=True)
    ]
    return transcript.challenge(messages) == challenge


def _scalars(proof: bytes) -> list[int]:
    return [read_scalar(proof[start : start + BYTES]) for start in range(0, len(proof), BYTES)]
