"""Credentials: an issued one is valid, and one that was changed, moved or has expired is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, Literal, NamedNode

from cortex_skills.features.proofs.signing import MalformedError, TripleClaim, check_credential, issue, read_document
from cortex_skills.features.proofs.signing.credentials import method_of
from cortex_skills.features.proofs.signing.suite import sign
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.keys import Key, did_of
from cortex_skills.keys.multibase import encode
from tests.proofs.signing.conftest import NOW, claim_of

XSD = "http://www.w3.org/2001/XMLSchema#"
OTHER = Key("other", bytes(range(1, 33)))
Document = dict[str, Any]


def verdicts(document: Document, claim: TripleClaim | None = None) -> dict[str, str]:
    return {check.part: check.verdict.value for check in check_credential(document, NOW, claim)}


def why(document: Document, part: str) -> str:
    (check,) = (check for check in check_credential(document, NOW) if check.part == part)
    assert check.verdict is not Verdict.VERIFIED
    return check.reasons[0]


def signed(document: Document, key: Key, created: datetime = NOW) -> Document:
    """The document signed again, as the holder of the key could."""
    unsigned = {name: value for name, value in document.items() if name != "proof"}
    return sign(unsigned, key, method_of(key.did), created.strftime("%Y-%m-%dT%H:%M:%SZ"))


OBJECTS = [
    NamedNode("urn:cortex:may:bob"),
    NamedNode("http://example.org/a/../b?c=d#e"),
    Literal("text"),
    Literal(""),
    Literal('a\0b\t\n\r"\\é😀\x7f\u2028'),
    Literal("gut", language="de-AT"),
    Literal(3),
    Literal("003", datatype=NamedNode(f"{XSD}integer")),
    Literal(2**200),
    Literal(0.1),
    Literal(-0.0),
    Literal(1e300),
    Literal(True),
    Literal("2020-02-30", datatype=NamedNode(f"{XSD}date")),
    Literal("x", datatype=NamedNode("urn:type")),
]


@pytest.mark.parametrize("object_", OBJECTS, ids=str)
def test_an_issued_credential_is_valid_for_its_claim(object_: NamedNode | Literal, key: Key) -> None:
    claim = claim_of(object_)
    document = read_document(json.dumps(issue(claim, key, NOW)))
    assert verdicts(document, claim) == dict.fromkeys(("signature", "validity", "statement"), "verified")


@settings(max_examples=40)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_can_be_claimed(text: str) -> None:
    claim = claim_of(Literal(text))
    document = read_document(json.dumps(issue(claim, OTHER, NOW)))
    assert set(verdicts(document, claim).values()) == {"verified"}
    assert verdicts(document, claim_of(Literal(text + "x")))["statement"] == "refuted"


@settings(max_examples=40)
@given(number=st.floats(-1.797693134862315e308, 1.797693134862315e308))
def test_any_finite_number_can_be_claimed(number: float) -> None:
    claim = claim_of(Literal(number))
    assert set(verdicts(issue(claim, OTHER, NOW), claim).values()) == {"verified"}


@pytest.mark.parametrize(
    "object_",
    [
        Literal(float("inf")),
        Literal(float("nan")),
        Literal(1.7976931348623157e308),
        Literal("abc", datatype=NamedNode(f"{XSD}double")),
        Literal("x", language="ar", direction=BaseDirection.RTL),
    ],
    ids=str,
)
def test_a_triple_that_readers_interpret_differently_is_not_signed(object_: Literal, key: Key) -> None:
    with pytest.raises(MalformedError, match="cannot express"):
        issue(claim_of(object_), key, NOW)


@pytest.mark.parametrize(
    "predicate", ["http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "id:x", "name:x", "type:x", "sec:x"]
)
def test_a_predicate_that_looks_like_a_term_is_unchanged(predicate: str, key: Key) -> None:
    claim = claim_of(NamedNode("urn:x:y"), predicate)
    assert set(verdicts(issue(claim, key, NOW), claim).values()) == {"verified"}


def test_a_credential_names_its_issuer_its_record_and_who_asserted_it(credential: Document, key: Key) -> None:
    assert credential["issuer"] == key.did
    assert credential["credentialSubject"]["id"] == "urn:cortex:may:alice"
    assert credential["urn:cortex-graph:ontology#proves"] == {"id": f"urn:cortex:may/triple/{'0' * 64}"}
    assert credential["http://www.w3.org/ns/prov#wasAttributedTo"] == [{"id": "urn:cortex:may:skill:kyc@1.0.0"}]
    assert credential["@context"] == ["https://www.w3.org/ns/credentials/v2"]


def test_a_credential_of_another_triple_or_namespace_is_refuted(credential: Document) -> None:
    other = claim_of(Literal(False))
    assert verdicts(credential, other) == {"signature": "verified", "validity": "verified", "statement": "refuted"}
    elsewhere = claim_of(Literal(True))
    moved = TripleClaim(elsewhere.triple, NamedNode(f"urn:cortex:other/triple/{'0' * 64}"))
    assert verdicts(credential, moved)["statement"] == "refuted"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return [path]
    return [leaf for key, part in items for leaf in leaves(part, (*path, key))]


def test_no_part_can_be_changed_or_removed(credential: Document) -> None:
    for path in leaves(credential):
        for change in ("replace", "remove"):
            document = copy.deepcopy(credential)
            holder = document
            for key in path[:-1]:
                holder = holder[key]
            if change == "remove":
                del holder[path[-1]]
            else:
                holder[path[-1]] = holder[path[-1]][:-1] + ("2" if holder[path[-1]][-1] != "2" else "3")
            assert verdicts(document)["signature"] != "verified", (path, change)


def test_no_byte_of_a_credential_can_be_flipped(credential: Document) -> None:
    text = json.dumps(credential, separators=(",", ":")).encode()
    read = 0
    for place in range(len(text)):
        changed = bytearray(text)
        changed[place] ^= 1 << place % 7
        with suppress(MalformedError):
            assert verdicts(read_document(bytes(changed)))["signature"] != "verified", place
            read += 1
    assert read > len(text) // 2


@pytest.mark.parametrize(
    "added",
    [
        {"name": "x"},
        {"urn:x:p": "y"},
        {"id": "urn:x:y"},
        {"validUntil": "2030-01-01T00:00:00Z"},
        {"https://w3id.org/security#proof": "y"},
    ],
)
def test_nothing_can_be_added(credential: Document, added: Document) -> None:
    assert verdicts({**credential, **added})["signature"] == "refuted"
    subject = {**credential["credentialSubject"], **added}
    assert verdicts({**credential, "credentialSubject": subject})["signature"] == "refuted"


def test_members_in_another_order_and_one_proof_in_a_list_are_the_same_document(credential: Document) -> None:
    turned = dict(reversed(credential.items()))
    assert verdicts(turned)["signature"] == "verified"
    assert verdicts({**credential, "proof": [credential["proof"]]})["signature"] == "verified"


def test_the_proof_of_another_credential_is_not_valid(credential: Document, key: Key) -> None:
    other = issue(claim_of(Literal(False)), key, NOW)
    assert "is not valid" in why({**credential, "proof": other["proof"]}, "signature")


def test_a_credential_that_another_key_signed_is_refuted(credential: Document) -> None:
    assert "another key" in why(signed(credential, OTHER), "signature")
    theirs = signed(credential, OTHER)
    theirs["proof"]["verificationMethod"] = credential["proof"]["verificationMethod"]
    assert "is not valid" in why(theirs, "signature")


@pytest.mark.parametrize(
    "method", [lambda did: did, lambda did: f"{did}#{'z6Mk'}", lambda did: f"{did}#", lambda _: method_of(OTHER.did)]
)
def test_a_method_that_is_not_the_issuers_key_is_refuted(
    credential: Document, key: Key, method: Callable[[str], str]
) -> None:
    unsigned = {name: value for name, value in credential.items() if name != "proof"}
    document = sign(unsigned, key, method(key.did), "2026-05-01T12:00:00Z")
    assert "another key" in why(document, "signature")


def test_an_issuer_with_a_name_is_known_by_its_id(credential: Document, key: Key) -> None:
    document = signed({**credential, "issuer": {"id": key.did, "name": "The Office"}}, key)
    assert verdicts(document)["signature"] == "verified"


@pytest.mark.parametrize(
    ("issuer", "verdict", "reason"),
    [
        ("https://example.org/issuer", "not checked", "only did:key issuers"),
        ("did:web:example.org", "not checked", "only did:key issuers"),
        ("did:key:zDnaegE6RR3atJtHKwTRTWHsJ3kNHqFwv7n9YjTgmU7TyfU76", "not checked", "is not supported"),
        (did_of(bytes(32)), "not checked", "has no secret key"),
        ("did:key:" + encode(b"\xed\x01" + b"\xff" * 32), "not checked", "has no secret key"),
        (None, "refuted", "no issuer"),
        ([OTHER.did], "refuted", "no issuer"),
        ({"name": "x"}, "refuted", "no issuer"),
    ],
)
def test_an_issuer_with_an_unknown_key_is_not_evaluated(
    credential: Document, issuer: Any, verdict: str, reason: str
) -> None:
    document = {**credential, "issuer": issuer}
    assert verdicts(document)["signature"] == verdict
    assert reason in why(document, "signature")


@pytest.mark.parametrize("purpose", ["authentication", "capabilityInvocation", "assertionMethod "])
def test_a_proof_for_another_purpose_is_refuted(credential: Document, purpose: str) -> None:
    credential["proof"]["proofPurpose"] = purpose
    assert verdicts(credential)["signature"] == "refuted"
    assert "not for assertionMethod" in why(credential, "signature")


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"cryptosuite": "eddsa-jcs-2022"}, "only eddsa-rdfc-2022 is supported"),
        ({"cryptosuite": "ecdsa-rdfc-2019"}, "only eddsa-rdfc-2022 is supported"),
        ({"type": "Ed25519Signature2020"}, "only eddsa-rdfc-2022 is supported"),
        ({"type": ["DataIntegrityProof"]}, "only eddsa-rdfc-2022 is supported"),
        ({"challenge": "x"}, "challenge"),
        ({"domain": "x"}, "domain"),
        ({"previousProof": "urn:x"}, "previousProof"),
        ({"@context": "https://www.w3.org/ns/credentials/v2"}, "another context than the document"),
    ],
)
def test_a_proof_that_cannot_be_checked_is_not_evaluated(credential: Document, part: Document, reason: str) -> None:
    credential["proof"] |= part
    assert verdicts(credential)["signature"] == "not checked"
    assert reason in why(credential, "signature")


def test_a_credential_with_several_proofs_is_not_evaluated(credential: Document) -> None:
    both = {**credential, "proof": [credential["proof"], credential["proof"]]}
    assert verdicts(both) == {"signature": "not checked", "validity": "not checked"}


@pytest.mark.parametrize("proof", [None, [], "x", 1, {}, [[]], [{}], {"type": "DataIntegrityProof"}])
def test_a_malformed_proof_is_never_verified(credential: Document, proof: Any) -> None:
    assert "verified" not in verdicts({**credential, "proof": proof}).values()


def test_a_credential_without_a_proof_is_refuted(credential: Document) -> None:
    del credential["proof"]
    assert verdicts(credential) == {"signature": "refuted", "validity": "refuted"}


@pytest.mark.parametrize(
    "value", ["", "z", "zz", "u2YwC8", "z" + "1" * 64, "z2YwC8z3ap7yx1nZYCg4L3", "z" + "z" * 200, 7, None, ["z"]]
)
def test_an_invalid_proof_value_is_refuted(credential: Document, value: Any) -> None:
    credential["proof"]["proofValue"] = value
    assert verdicts(credential)["signature"] == "refuted"


def test_a_proof_from_the_future_is_refuted_but_clocks_may_differ_by_a_minute(credential: Document, key: Key) -> None:
    assert verdicts(signed(credential, key, NOW + timedelta(seconds=50)))["validity"] == "verified"
    document = signed(credential, key, NOW + timedelta(seconds=70))
    assert verdicts(document) == {"signature": "verified", "validity": "refuted"}
    assert "in the future" in why(document, "validity")


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ({"validFrom": "2026-05-01T12:00:50Z"}, "verified"),
        ({"validFrom": "2026-05-01T12:02:00Z"}, "refuted"),
        ({"validUntil": "2026-05-01T12:00:01Z"}, "verified"),
        ({"validUntil": "2026-05-01T12:00:00Z"}, "refuted"),
        ({"validUntil": "2026-05-01T13:30:00+02:00"}, "refuted"),
        ({"validUntil": "2026-05-01T14:30:00+02:00"}, "verified"),
        ({"validUntil": "2027-05-01T12:00:00"}, "refuted"),
        ({"validUntil": "2027-05-01"}, "refuted"),
        ({"validUntil": "2027-13-01T12:00:00Z"}, "refuted"),
        ({"validUntil": "９027-05-01T12:00:00Z"}, "refuted"),
        ({"validFrom": "0001-01-01T00:00:00+14:00"}, "refuted"),
        ({"validUntil": 1}, "refuted"),
        ({"validUntil": ["2027-05-01T12:00:00Z"]}, "refuted"),
    ],
)
def test_a_credential_is_valid_within_its_times(credential: Document, times: Document, verdict: str) -> None:
    assert verdicts({**credential, **times})["validity"] == verdict


def test_a_proof_that_expired_is_refuted(credential: Document) -> None:
    credential["proof"]["expires"] = "2026-05-01T12:00:00Z"
    assert "expired" in why(credential, "validity")
    credential["proof"]["expires"] = "2026-05-01T12:00:01Z"
    assert verdicts(credential) == {"signature": "refuted", "validity": "verified"}, "`expires` is signed as well"


def test_a_credential_with_a_status_is_not_evaluated(credential: Document, key: Key) -> None:
    status = {"id": "https://example.org/status/1#2", "type": "BitstringStatusListEntry"}
    document = signed({**credential, "credentialStatus": status}, key)
    assert verdicts(document) == {"signature": "verified", "validity": "not checked"}
    assert "not looked up" in why(document, "validity")


def test_a_credential_of_another_type_or_context_is_not_verified(credential: Document, key: Key) -> None:
    assert verdicts({**credential, "type": ["VerifiablePresentation"]})["signature"] == "refuted"
    unsigned = {"id": "urn:x", "type": [], "issuer": key.did}
    assert verdicts({**unsigned, "proof": credential["proof"]})["signature"] == "refuted"


def test_each_check_states_what_it_does_not_establish(credential: Document, claim: TripleClaim) -> None:
    for check in check_credential(credential, NOW, claim):
        assert check.establishes
        assert check.does_not_establish
        assert check.reasons == ()
