"""Writes `vectors.json`: `python -m tests.proofs.zk.make_vectors`. What it writes never changes: the suite is fixed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from cortex_skills.features.proofs.zk import (
    Commitment,
    EqualityClaim,
    KeyClaim,
    KeySecret,
    MembershipClaim,
    Opening,
    OpeningClaim,
    RangeClaim,
    ZkStatement,
    prove,
)
from cortex_skills.features.proofs.zk.generators import DERIVATION, SUITE, B, value_generator
from cortex_skills.features.proofs.zk.group import L
from cortex_skills.features.proofs.zk.transcript import Transcript
from cortex_skills.keys import Key

FILE = Path(__file__).with_name("vectors.json")
_NS = "urn:cortex:mayros"
_LINE = f'<{_NS}:alice> <{_NS}:isVerified> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> <{_NS}> .'


def _blinding(name: str) -> int:
    return int.from_bytes(hashlib.sha512(f"vector {name}".encode()).digest(), "little") % L


def _at(opening: Opening, predicate: str) -> Commitment:
    return Commitment(f"{_NS}:alice", f"{_NS}:{predicate}", opening.point)


def vectors() -> dict[str, Any]:
    """All of them."""
    statement = ZkStatement("mayros", _LINE, "verify-kyc", "1.2.0", "3f1c9a", "2030-01-31T12:00:00Z")
    bare = ZkStatement("mayros", _LINE, "verify-kyc", "", "", "2030-01-31T12:00:00Z")
    seed = bytes(range(32))
    key = Key("vector", seed)
    secret = KeySecret.of(key)
    year, again = Opening(1990, _blinding("year")), Opening(1990, _blinding("again"))
    country, debt = Opening("DE", _blinding("country")), Opening(-250, _blinding("debt"))
    born, lives = _at(year, "birthYear"), _at(country, "residence")
    made = {
        "schnorr, a key": (KeyClaim(secret.public), secret, statement),
        "schnorr, an opening": (OpeningClaim(born), [year], statement),
        "schnorr, an opening, without a version and a nonce": (OpeningClaim(born), [year], bare),
        "equality": (EqualityClaim(born, _at(again, "yearOfBirth")), [year, again], statement),
        "membership, texts": (MembershipClaim(lives, ("AT", "CH", "DE", "LI")), [country], statement),
        "membership, numbers and texts": (MembershipClaim(born, (-1, 1990, "1990")), [year], statement),
        "range, any width": (RangeClaim(born, 1900, 2008), [year], statement),
        "range, a power of two": (RangeClaim(born, 1984, 1991), [year], statement),
        "range, from zero": (RangeClaim(born, 0, 2047), [year], statement),
        "range, below zero": (RangeClaim(_at(debt, "balance"), -1000, -1), [debt], statement),
        "range, 64 bits": (RangeClaim(born, 0, 2**64 - 1), [year], statement),
    }
    proofs = []
    for name, (claim, witness, about) in made.items():
        proof = prove(claim, about, witness, entropy=bytes(32))
        transcript = Transcript(about.frames, claim.items()).context
        proofs.append({"name": name, "transcript": transcript.hex(), "proof": proof.to_json()})
    openings = {"year": year, "yearAgain": again, "country": country, "debt": debt}
    return {
        "suite": SUITE,
        "generators": {"B": B.hex(), "derivationOfH": DERIVATION.decode(), "H": value_generator().hex()},
        "key": {"seed": seed.hex(), "publicKey": key.public.hex(), "did": key.did},
        "openings": {
            name: {
                "value": opening.value,
                "scalar": opening.scalar.to_bytes(32, "little").hex(),
                "blinding": opening.blinding.to_bytes(32, "little").hex(),
                "commitment": opening.commitment,
            }
            for name, opening in openings.items()
        },
        "proofs": proofs,
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
