"""The test vectors of the suite: written and read by this software, and checked by a second implementation."""

from __future__ import annotations

import json

import pytest

from cortex_skills.features.proofs.zk import Opening, read_proof
from tests.proofs.zk import curve
from tests.proofs.zk.make_vectors import FILE, vectors

VECTORS = json.loads(FILE.read_text(encoding="utf-8"))
EVERY = pytest.mark.parametrize("vector", VECTORS["proofs"], ids=lambda vector: vector["name"])
PUBLIC = bytes.fromhex(VECTORS["key"]["publicKey"])


def test_this_software_writes_the_vectors_to_the_letter() -> None:
    assert json.loads(json.dumps(vectors())) == VECTORS


@EVERY
def test_this_software_verifies_the_vectors(vector: dict) -> None:
    proof = read_proof(vector["proof"])
    assert proof.holds()
    assert proof.to_json() == vector["proof"]


@EVERY
def test_an_independent_implementation_verifies_the_vectors_from_the_documented_bytes(vector: dict) -> None:
    assert curve.verify(vector["proof"], PUBLIC)
    changed = json.loads(json.dumps(vector["proof"]))
    changed["statement"]["nonce"] = "another"
    assert not curve.verify(changed, PUBLIC)


def test_commitments_are_the_slow_curves() -> None:
    assert VECTORS["generators"]["B"] == curve.encode(curve.BASE).hex()
    assert VECTORS["generators"]["H"] == curve.encode(curve.H).hex()
    for vector in VECTORS["openings"].values():
        scalar, blinding = (curve.scalar(bytes.fromhex(vector[key])) for key in ("scalar", "blinding"))
        point = curve.add(curve.times(scalar, curve.H), curve.times(blinding, curve.BASE))
        assert curve.text_bytes(vector["commitment"].removeprefix("pedersen:")) == curve.encode(point)
        assert Opening(vector["value"], blinding).commitment == vector["commitment"]
