"""How often a protocol asks libsodium for something: what the benchmark compares it with, and no more."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from nacl._sodium import lib

from bench.zk_rows import Operations, of_key, of_membership, of_opening, of_range
from cortex_skills.features.proofs.zk import (
    Claim,
    KeyClaim,
    KeySecret,
    MembershipClaim,
    Opening,
    OpeningClaim,
    RangeClaim,
    group,
    prove,
)
from tests.proofs.zk.cases import SECRET, STATEMENT, commitment

NUMBER, TEXT = Opening(5), Opening("a")
CASES: list[tuple[Claim, Any, tuple[Operations, Operations]]] = [
    (KeyClaim(SECRET.public), SECRET, of_key()),
    (OpeningClaim(commitment(NUMBER)), [NUMBER], of_opening()),
    (MembershipClaim(commitment(TEXT), ("a", "b", "c", "d", "e")), [TEXT], of_membership(5)),
    (RangeClaim(commitment(NUMBER), 0, 2**12 - 1), [NUMBER], of_range(12)),
    (RangeClaim(commitment(NUMBER), 0, 2**64 - 1), [NUMBER], of_range(64)),
]


NAMES = {
    "crypto_scalarmult_ed25519_base_noclamp": "base",
    "crypto_scalarmult_ed25519_noclamp": "times",
    "crypto_core_ed25519_add": "add",
    "crypto_core_ed25519_sub": "add",
}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often libsodium was asked for what."""
    calls: Counter[str] = Counter()

    class Counting:
        def __getattr__(self, name: str) -> Any:
            calls[NAMES.get(name, name)] += 1
            return getattr(lib, name)

    monkeypatch.setattr(group, "lib", Counting())
    return calls


@pytest.mark.parametrize(("claim", "witness", "operations"), CASES, ids=lambda case: getattr(case, "proof_type", None))
def test_the_operations_are_those_that_the_protocol_needs(
    claim: Claim, witness: list[Opening] | KeySecret, operations: tuple[Operations, Operations], counted: Counter[str]
) -> None:
    proof = prove(claim, STATEMENT, witness)
    assert proof.holds()  # what is calculated once for all proofs is there now
    for expected, work in (
        (operations[0], lambda: prove(claim, STATEMENT, witness)),
        (operations[1], proof.holds),
    ):
        counted.clear()
        assert work()
        assert counted == Counter(base=expected.base, times=expected.times, add=expected.add)


def test_proving_takes_the_same_operations_whatever_the_secret_is(counted: Counter[str]) -> None:
    seen = set()
    for number in (0, 1, 7, 2048, 4095):
        opening = Opening(number)
        counted.clear()
        prove(RangeClaim(commitment(opening), 0, 4095), STATEMENT, [opening])
        seen.add(tuple(sorted(counted.items())))
    for member in ("a", "c", "e"):
        opening = Opening(member)
        counted.clear()
        prove(MembershipClaim(commitment(opening), ("a", "b", "c", "d", "e")), STATEMENT, [opening])
        seen.add(tuple(sorted(counted.items())))
    assert len(seen) == 2
