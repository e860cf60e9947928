"""The rows of zero knowledge: proofs beside the operations of libsodium that their protocol needs.

Rules kept here:
- the reference calls libsodium without a wrapper, into allocated memory, as often as the protocol needs
  (`tests/proofs/zk/test_operations.py` counts the calls of the implementation), and does nothing else;
- the implementation includes nonces, transcript, arithmetic, and strict decoding of scalars and points. Parsing the
  JSON document adds 20 µs for any protocol;
- both alternate; the minimum CPU time of many rounds counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from nacl._sodium import ffi, lib

from bench.measure import Row, in_turn_s
from cortex_skills.features.proofs.zk import (
    Claim,
    Commitment,
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
from cortex_skills.keys import Key

GOAL = 1.2
_ROUNDS = 150
_ABOUT = 300  # bytes of a transcript before its points, in these proofs
_NS = "urn:cortex:bench"
_STATEMENT = ZkStatement(
    "bench", f"<{_NS}:alice> <{_NS}:isVerified> <{_NS}:yes> <{_NS}> .", "kyc", "1.0.0", "nonce", "2100-01-01T00:00:00Z"
)


@dataclass(frozen=True)
class Operations:
    """The number of calls of libsodium, by function.

    Attributes:
        base: `crypto_scalarmult_ed25519_base_noclamp`.
        times: `crypto_scalarmult_ed25519_noclamp`, which checks its point.
        add: `crypto_core_ed25519_add` and `_sub`.
        nonces: secret scalars: `crypto_hash_sha512` of 68 bytes and `crypto_core_ed25519_scalar_reduce`; the first of
            them needs `randombytes`.
        responses: `crypto_core_ed25519_scalar_mul` and `_add`.
        messages: points in the transcript; it is hashed once, and once more for the nonces without them.

    """

    base: int
    times: int
    add: int
    nonces: int = 0
    responses: int = 0
    messages: int = 0


def of_key() -> tuple[Operations, Operations]:
    """Proving and verifying the knowledge of a key."""
    return Operations(1, 0, 0, 1, 1, 1), Operations(1, 1, 1, 0, 0, 1)


def of_opening() -> tuple[Operations, Operations]:
    """Proving and verifying the knowledge of an opening."""
    return Operations(1, 1, 1, 2, 2, 1), Operations(1, 2, 2, 0, 0, 1)


def of_membership(members: int) -> tuple[Operations, Operations]:
    """Proving and verifying that a value is one of a set; the verifier's factors are three products a member."""
    proving = Operations(members, members - 1, members - 1, 2 * members, 2 * members - 1, members)
    return proving, Operations(1, members + 2, members + 1, 0, 3 * members, members)


def of_range(bits: int) -> tuple[Operations, Operations]:
    """Proving and verifying that a number has at most `bits` bits."""
    proving = Operations(3 * bits, bits, 2 * bits, 4 * bits - 1, 3 * bits, 3 * bits)
    return proving, Operations(2 * bits, 2 * bits, 4 * bits - 1, 0, 0, 3 * bits)


def rows() -> list[Row]:
    """All rows."""
    secret = KeySecret.of(Key("bench", os.urandom(32)))
    number, country = Opening(1990), Opening("DE")
    born, lives = (Commitment(f"{_NS}:alice", f"{_NS}:{name}", o.point) for name, o in (("a", number), ("b", country)))
    members = ("DE", *range(15))
    made: list[tuple[str, Claim, list[Opening] | KeySecret, tuple[Operations, Operations]]] = [
        ("Schnorr, a key", KeyClaim(secret.public), secret, of_key()),
        ("Schnorr, an opening", OpeningClaim(born), [number], of_opening()),
        ("membership, 1 of 16", MembershipClaim(lives, members), [country], of_membership(16)),
        ("range, 32 bits", RangeClaim(born, 0, 2**32 - 1), [number], of_range(32)),
        ("range, 64 bits", RangeClaim(born, 0, 2**64 - 1), [number], of_range(64)),
    ]
    found = []
    for name, claim, witness, (proving, verifying) in made:
        found.append(_row(f"{name}: prove", _prover(claim, witness), proving))
        found.append(_row(f"{name}: verify", _verifier(prove(claim, _STATEMENT, witness)), verifying))
    return found


def _prover(claim: Claim, witness: list[Opening] | KeySecret) -> Callable[[], object]:
    return lambda: prove(claim, _STATEMENT, witness)


def _verifier(proof: ZkProof) -> Callable[[], object]:
    def verify() -> None:
        assert proof.holds()

    return verify


def _row(figure: str, work: Callable[[], object], operations: Operations) -> Row:
    reference = _raw(operations)
    batch = max(1, 60 // (operations.base + 5 * operations.times))
    ours, theirs = in_turn_s([work, reference], batch, rounds=_ROUNDS, of=min, clock=time.process_time)
    what = f"libsodium: {operations.base} × base, {operations.times} × times, {operations.add} × add, and hashes"
    return Row(figure, ours, what, theirs, GOAL)


def _raw(operations: Operations) -> Callable[[], None]:
    """A call of just these operations."""
    out = ffi.new("unsigned char[]", 32)
    scalar = KeySecret.of(Key("bench", os.urandom(32))).scalar.to_bytes(32, "little")
    point, other = KeySecret(3).public, KeySecret(5).public
    wide = ffi.new("unsigned char[]", 64)
    about = os.urandom(_ABOUT)
    whole = os.urandom(_ABOUT + 36 * operations.messages)

    def run() -> None:
        for _ in range(operations.base):
            lib.crypto_scalarmult_ed25519_base_noclamp(out, scalar)
        for _ in range(operations.times):
            lib.crypto_scalarmult_ed25519_noclamp(out, scalar, point)
        for _ in range(operations.add):
            lib.crypto_core_ed25519_add(out, point, other)
        if operations.nonces:
            lib.randombytes(out, 32)
            lib.crypto_hash_sha512(wide, about, len(about))
        for _ in range(operations.nonces):
            lib.crypto_hash_sha512(wide, about, 68)
            lib.crypto_core_ed25519_scalar_reduce(out, wide)
        lib.crypto_hash_sha512(wide, whole, len(whole))
        lib.crypto_core_ed25519_scalar_reduce(out, wide)
        for _ in range(operations.responses):
            lib.crypto_core_ed25519_scalar_mul(out, scalar, scalar)
            lib.crypto_core_ed25519_scalar_add(out, scalar, scalar)

    return run
