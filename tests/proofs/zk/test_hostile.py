"""Everything that must not hold: proofs that were changed, moved, shortened or passed off as others."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.zk import (
    KeyClaim,
    MembershipClaim,
    NotCanonicalError,
    Opening,
    OpeningClaim,
    RangeClaim,
    ZkProof,
    prove,
    read_proof,
)
from cortex_skills.features.proofs.zk.claims import weights_of
from cortex_skills.features.proofs.zk.generators import value_generator
from cortex_skills.features.proofs.zk.group import BYTES, IDENTITY, L, add, subtract, times
from tests.proofs.zk import curve
from tests.proofs.zk.cases import BY_NAME, CASES, COUNTRY, STATEMENT, YEAR, Case, commitment, moved

PROOFS = {case.name: case.prove() for case in CASES}
EVERY = pytest.mark.parametrize("name", list(PROOFS))
# Where a proof of a kind has points; everything else in it is a scalar.
POINTS = {"key": [], "opening": [], "equality": [], "membership": [0, 3, 6, 9], "range": [1, 5, 9, 13]}
TORSION = [curve.encode(curve.times(order, curve.TORSION)) for order in range(1, 8)]


def parts_of(proof: ZkProof) -> list[bytes]:
    return [proof.value[at : at + BYTES] for at in range(0, len(proof.value), BYTES)]


def with_part(proof: ZkProof, place: int, part: bytes) -> ZkProof:
    parts = parts_of(proof)
    parts[place] = part
    return replace(proof, value=b"".join(parts))


def is_refused(document: object) -> bool:
    """Whether a document is no proof, or one that does not hold."""
    try:
        return not read_proof(document).holds()
    except NotCanonicalError:
        return True


@EVERY
def test_a_proof_is_valid_and_round_trips(name: str) -> None:
    proof = PROOFS[name]
    document = json.loads(json.dumps(proof.to_json()))
    assert read_proof(document) == proof
    assert read_proof(document).holds()


@EVERY
def test_no_byte_of_a_proof_can_be_flipped(name: str) -> None:
    proof = PROOFS[name]
    for place in range(len(proof.value)):
        value = bytearray(proof.value)
        value[place] ^= 1 << place % 8
        assert not replace(proof, value=bytes(value)).holds(), place


@EVERY
def test_no_byte_of_a_document_can_be_flipped(name: str) -> None:
    text = json.dumps(PROOFS[name].to_json(), separators=(",", ":"), ensure_ascii=True).encode()
    for place in range(len(text)):
        changed = bytearray(text)
        changed[place] ^= 1 << place % 7
        try:
            document = json.loads(changed)
        except ValueError:
            continue
        assert is_refused(document), (place, bytes(changed[place - 5 : place + 5]))


@EVERY
@pytest.mark.parametrize(
    "parts",
    [
        {"namespace": "other"},
        {"triple": STATEMENT.triple.replace("alice", "mallory")},
        {"skill": "verify-kyc2"},
        {"skill_version": "1.2.1"},
        {"nonce": "nonce-8"},
        {"nonce": ""},
        {"expires": "2031-01-31T12:00:00Z"},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_a_proof_moved_to_another_statement_namespace_version_nonce_or_expiry_is_not_valid(
    name: str, parts: dict
) -> None:
    assert not moved(PROOFS[name], **parts).holds()


def test_words_of_a_statement_cannot_run_into_each_other() -> None:
    proof = PROOFS["key"]
    assert not moved(proof, skill="verify-kyc1", skill_version=".2.0").holds()
    assert not moved(proof, skill=STATEMENT.skill + STATEMENT.skill_version, skill_version="").holds()


def test_the_hash_of_a_statement_is_recomputed() -> None:
    document = PROOFS["key"].to_json()
    document["statement"]["tripleHash"] = "0" * 64
    with pytest.raises(NotCanonicalError, match="not the hash of its triple"):
        read_proof(document)


@pytest.mark.parametrize("line", ["", "x", "<a:b> <a:c> <a:d> .\n<a:b> <a:c> <a:d> .", "<a:b>  <a:c> <a:d> ."])
def test_a_statement_is_one_canonical_line(line: str) -> None:
    document = moved(PROOFS["key"], triple=line).to_json()
    with pytest.raises(NotCanonicalError, match="canonical line"):
        read_proof(document)


@pytest.mark.parametrize("namespace", ["", "ayros", "cortex:mayros", "urn:cortex:mayros", "other"])
def test_a_statement_is_in_the_graph_of_its_namespace(namespace: str) -> None:
    document = prove(BY_NAME["key"].claim, replace(STATEMENT, namespace=namespace), BY_NAME["key"].witness).to_json()
    if namespace == "cortex:mayros":  # with the base urn: that would be its graph, if a namespace could be called so
        assert read_proof(document).holds()
        return
    with pytest.raises(NotCanonicalError, match="graph of its namespace"):
        read_proof(document)


@EVERY
def test_a_scalar_plus_the_order_of_the_group_is_refused(name: str) -> None:
    proof = PROOFS[name]
    for place, part in enumerate(parts_of(proof)):
        if place not in POINTS[name]:
            larger = (int.from_bytes(part, "little") + L).to_bytes(BYTES, "little")
            assert not with_part(proof, place, larger).holds()


@pytest.mark.parametrize("name", ["membership", "range"])
@pytest.mark.parametrize("other", [*TORSION, IDENTITY], ids=lambda point: point.hex()[:8])
def test_a_point_of_a_proof_is_in_the_group_and_not_the_identity(name: str, other: bytes) -> None:
    proof = PROOFS[name]
    for place in POINTS[name]:
        assert not with_part(proof, place, other).holds()
        if other != IDENTITY:
            assert not with_part(proof, place, add(parts_of(proof)[place], other)).holds()


def test_points_of_small_order_that_cancel_out_are_refused() -> None:
    proof = PROOFS["range"]
    first, second = POINTS["range"][:2]
    for order in range(1, 8):
        plus, minus = TORSION[order - 1], TORSION[7 - order]
        assert add(plus, minus) == IDENTITY
        shifted = with_part(proof, first, add(parts_of(proof)[first], plus))
        assert not with_part(shifted, second, add(parts_of(proof)[second], minus)).holds()


@pytest.mark.parametrize("other", [*TORSION, IDENTITY, bytes(32), b"\xff" * 32], ids=lambda point: point.hex()[:8])
def test_a_commitment_or_a_key_is_in_the_group_and_not_the_identity(other: bytes) -> None:
    for case in CASES:
        for place, of in enumerate(case.claim.commitments):
            points = {other} if curve.decode(other) is None else {other, add(of.point, other)} - {of.point}
            for point in points:
                document = PROOFS[case.name].to_json()
                changed = replace(of, point=point).to_json()
                claim = document["claim"]
                if "commitments" in claim:
                    claim["commitments"][place] = changed
                else:
                    claim["commitment"] = changed
                with pytest.raises(NotCanonicalError):
                    read_proof(document)
                # Not even when the verifier did not check the encoding.
                if case.name in ("opening", "membership", "range"):
                    careless = replace(case.claim, commitment=replace(of, point=point))
                    assert not replace(PROOFS[case.name], claim=careless).holds()
    assert not replace(PROOFS["key"], claim=KeyClaim(other)).holds()


def test_a_zero_challenge_does_not_admit_a_point_outside_the_group() -> None:
    """`0 · P` is the identity for every `P`, so it is no check of `P`."""
    for point in (*TORSION, IDENTITY):
        with pytest.raises(NotCanonicalError):
            times(0, point)


def test_one_type_cannot_be_passed_off_as_another() -> None:
    for one, two in permutations(CASES, 2):
        document = PROOFS[one.name].to_json()
        declared = PROOFS[two.name].to_json()
        assert is_refused(document | {"proofType": "no such type"})
        if document["proofType"] != declared["proofType"]:
            assert is_refused(document | {"proofType": declared["proofType"]})
        assert is_refused(document | {"proofType": declared["proofType"], "claim": declared["claim"]})
        length = len(PROOFS[two.name].value)
        value = (PROOFS[one.name].value * 20)[:length]
        assert not replace(PROOFS[two.name], value=value).holds()


def test_a_proof_of_an_opening_is_not_a_proof_of_a_key() -> None:
    """Both are of the type `schnorr`; a commitment to zero is a public key."""
    blinding = 12345
    zero = Opening(0, blinding)
    proof = prove(OpeningClaim(commitment(zero)), STATEMENT, [zero])
    c, z_value, z_blinding = parts_of(proof)
    for value in (c + z_blinding, c + z_value):
        assert not ZkProof(STATEMENT, KeyClaim(zero.point), value).holds()


def test_a_shifted_commitment_is_refused() -> None:
    one = value_generator()
    for case in CASES:
        for of in case.claim.commitments:
            for point in (add(of.point, one), subtract(of.point, one)):
                document = json.loads(
                    json.dumps(PROOFS[case.name].to_json()).replace(of.text, replace(of, point=point).text)
                )
                assert is_refused(document)


def test_a_range_cannot_be_shifted_with_its_commitment() -> None:
    """C + H with [a + 1, b + 1] is true as well, and still another claim than the one that was proved."""
    claim = BY_NAME["range"].claim
    assert isinstance(claim, RangeClaim)
    higher = replace(claim.commitment, point=add(claim.commitment.point, value_generator()))
    moved_up = RangeClaim(higher, claim.minimum + 1, claim.maximum + 1)
    assert not replace(PROOFS["range"], claim=moved_up).holds()


def test_bits_shifted_against_each_other_are_refused() -> None:
    proof = PROOFS["range"]
    first, second = POINTS["range"][:2]
    parts = parts_of(proof)
    for amount in (1, 2):
        shift = times(amount, value_generator())
        shifted = with_part(proof, first, add(parts[first], shift))
        assert not with_part(shifted, second, subtract(parts[second], shift)).holds()


def test_a_bit_cannot_be_dropped_or_doubled() -> None:
    proof, claim = PROOFS["range"], BY_NAME["range"].claim
    assert isinstance(claim, RangeClaim)
    head, bits = proof.value[:BYTES], [proof.value[at : at + 4 * BYTES] for at in range(BYTES, claim.size, 4 * BYTES)]
    assert len(bits) == 4
    for place in range(4):
        dropped = head + b"".join(bits[:place] + bits[place + 1 :])
        doubled = head + b"".join([*bits[: place + 1], *bits[place:]])
        for value, width in ((dropped, 7), (doubled, 31)):
            assert not replace(proof, value=value).holds()
            document = proof.to_json() | {"proofValue": replace(proof, value=value).to_json()["proofValue"]}
            with pytest.raises(NotCanonicalError, match="base64url"):
                read_proof(document)
            fitting = RangeClaim(claim.commitment, claim.minimum, claim.minimum + width)
            assert fitting.size == len(value)
            assert not replace(proof, claim=fitting, value=value).holds()
    for one, two in permutations(range(4), 2):
        order = list(range(4))
        order[one], order[two] = two, one
        assert not replace(proof, value=head + b"".join(bits[at] for at in order)).holds()
        twice = list(bits)
        twice[one] = bits[two]
        assert not replace(proof, value=head + b"".join(twice)).holds()


def test_branches_cannot_be_swapped() -> None:
    proof = PROOFS["membership"]
    branches = [proof.value[at : at + 3 * BYTES] for at in range(0, len(proof.value), 3 * BYTES)]
    for order in permutations(range(4)):
        if order != (0, 1, 2, 3):
            assert not replace(proof, value=b"".join(branches[at] for at in order)).holds()
    spread = PROOFS["range"]
    whole = int.from_bytes(spread.value[:BYTES], "little")
    for place in POINTS["range"]:
        _, c0, z0, z1 = parts_of(spread)[place : place + 4]
        c1 = ((whole - int.from_bytes(c0, "little")) % L).to_bytes(BYTES, "little")
        swapped = with_part(with_part(spread, place + 2, z1), place + 3, z0)
        assert not swapped.holds()
        assert not with_part(swapped, place + 1, c1).holds()


def test_the_members_of_a_set_cannot_be_changed_or_reordered() -> None:
    proof, claim = PROOFS["membership"], BY_NAME["membership"].claim
    assert isinstance(claim, MembershipClaim)
    for members in (("CH", "AT", "DE", "LI"), ("AT", "CH", "DE", "FR"), ("AT", "CH", "DE")):
        assert not replace(proof, claim=MembershipClaim(claim.commitment, members)).holds()


def test_the_subject_and_the_predicate_of_a_commitment_are_bound() -> None:
    for case in CASES:
        for of in case.claim.commitments:
            for other in (replace(of, subject=f"{of.subject}x"), replace(of, predicate="urn:cortex:mayros:shoeSize")):
                text = json.dumps(PROOFS[case.name].to_json())
                changed = text.replace(json.dumps(of.to_json())[1:-1], json.dumps(other.to_json())[1:-1])
                assert changed != text
                assert is_refused(json.loads(changed))


@pytest.mark.parametrize(
    ("claim", "opening"),
    [
        (RangeClaim(commitment(YEAR), 1991, 2000), YEAR),
        (RangeClaim(commitment(YEAR), 0, 1989), YEAR),
        (RangeClaim(commitment(COUNTRY), 0, 2**64 - 1), COUNTRY),
        (MembershipClaim(commitment(COUNTRY), ("FR", "IT")), COUNTRY),
        (MembershipClaim(commitment(YEAR), ("1990", "1991")), YEAR),
        (OpeningClaim(commitment(YEAR)), COUNTRY),
    ],
    ids=["below", "above", "text", "member", "number-as-text", "other-opening"],
)
def test_a_false_claim_is_not_proved_and_the_value_not_revealed(claim: RangeClaim, opening: Opening) -> None:
    with pytest.raises(CortexError) as caught:
        prove(claim, STATEMENT, [opening])
    assert caught.value.code == "proof_failed"
    reported = json.dumps(caught.value.to_json())
    assert str(opening.value) not in reported
    assert str(opening.blinding) not in reported


def test_different_values_are_not_proved_equal() -> None:
    other = Opening(1991)
    claim = replace(BY_NAME["equality"].claim, second=commitment(other))
    with pytest.raises(CortexError, match="same value"):
        prove(claim, STATEMENT, [YEAR, other])


def test_a_key_is_proved_with_its_own_secret() -> None:
    case = Case("key", KeyClaim(YEAR.point), BY_NAME["key"].witness)
    with pytest.raises(CortexError, match="not the secret"):
        case.prove()


def test_claims_that_reveal_the_value_are_refused() -> None:
    of = commitment(YEAR)
    for make in (
        lambda: MembershipClaim(of, ("DE",)),
        lambda: MembershipClaim(of, ()),
        lambda: MembershipClaim(of, ("DE", "DE")),
        lambda: MembershipClaim(of, tuple(range(65))),
        lambda: MembershipClaim(of, (True, 2)),
        lambda: MembershipClaim(of, (2**53, 2)),
        lambda: RangeClaim(of, 5, 5),
        lambda: RangeClaim(of, 6, 5),
        lambda: RangeClaim(of, 0, 2**64),
        lambda: RangeClaim(of, -1, 2**64 - 1),
        lambda: RangeClaim(of, "0", 5),
        lambda: RangeClaim(of, False, True),
        lambda: replace(BY_NAME["equality"].claim, second=commitment(YEAR, "other")),
    ):
        with pytest.raises(NotCanonicalError):
            make()


def test_a_forger_who_shifts_the_weights_proves_nothing() -> None:
    """Bits of 1, 2, 4 and 8 in place of 1, 2, 4 and 4: the sum would reach beyond the maximum."""
    assert weights_of(11) == (1, 2, 4, 4)
    outside = Opening(1985 + 13)
    wide = prove(RangeClaim(commitment(outside), 1985, 2000), STATEMENT, [outside])
    assert wide.holds()
    assert not replace(wide, claim=RangeClaim(commitment(outside), 1985, 1996)).holds()


@pytest.mark.parametrize("document", [None, [], "x", {}, {"type": "CortexZeroKnowledgeProof"}])
def test_a_document_that_is_not_a_proof_is_refused(document: object) -> None:
    with pytest.raises(NotCanonicalError):
        read_proof(document)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"version": 1.0},
        {"suite": "edwards25519-sha256"},
        {"type": "Proof"},
        {"extra": 1},
        {"proofValue": ""},
        {"proofValue": None},
        {"proofType": ["range"]},
        {"claim": None},
        {"statement": None},
    ],
    ids=str,
)
def test_a_document_is_read_exactly(change: dict) -> None:
    with pytest.raises(NotCanonicalError):
        read_proof(PROOFS["range"].to_json() | change)


@pytest.mark.parametrize("iri", ["", "alice", "urn:a b", "urn:x>", 5, None, "urn:" + "x" * 5000])
def test_a_commitment_has_an_iri_as_subject(iri: object) -> None:
    document = PROOFS["opening"].to_json()
    document["claim"]["commitment"]["subject"] = iri
    with pytest.raises(NotCanonicalError):
        read_proof(document)


def test_a_blinding_is_a_nonzero_scalar() -> None:
    with pytest.raises(NotCanonicalError):
        Opening(1, 0)
    with pytest.raises(NotCanonicalError):
        Opening(1, L)
