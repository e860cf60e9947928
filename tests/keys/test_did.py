"""Public keys as did:key and Multikey text, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.keys import Key, did_of, multikey_of, public_of, read_multikey
from cortex_skills.keys.multibase import decode, encode


@given(seed=st.binary(min_size=32, max_size=32))
def test_a_public_key_round_trips_through_its_did(seed: bytes) -> None:
    key = Key("test", seed)
    assert key.did == did_of(key.public)
    assert key.did.startswith("did:key:z6Mk")
    assert public_of(key.did) == key.public
    assert read_multikey(multikey_of(key.public)) == key.public


def test_the_name_of_a_known_key_is_the_published_one() -> None:
    """The example of the did:key method, seed 0."""
    assert Key("test", bytes(32)).did == "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"


@given(data=st.binary(max_size=60))
def test_base58_gives_back_what_it_was_given(data: bytes) -> None:
    assert decode(encode(data), len(data)) == data


@given(text=st.text(alphabet="z123ABCxyz0OIl é ", max_size=60), size=st.integers(0, 40))
def test_a_text_is_either_refused_or_the_one_text_of_its_bytes(text: str, size: int) -> None:
    try:
        data = decode(text, size)
    except ValueError:
        return
    assert len(data) == size
    assert encode(data) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "begins with z"),
        ("u6MkiTBz", "begins with z"),
        ("z0", "not a base58btc digit"),
        ("z6Mk iTBz1", "not a base58btc digit"),
        ("z" + "2" * 10_000_000, "longer than"),
        ("z2", "encodes 1 bytes"),
        ("z", "encodes 0 bytes"),
    ],
    ids=["empty", "another base", "a zero", "a space", "ten megabytes", "too short", "nothing"],
)
def test_a_text_that_is_not_a_key_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_multikey(text)


@pytest.mark.parametrize(
    ("did", "why"),
    [
        ("did:web:example.org", "not a did:key"),
        ("z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp", "not a did:key"),
        ("DID:KEY:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp", "not a did:key"),
        ("did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp#z6Mk", "not a base58btc digit"),
        ("did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp\n", "not a base58btc digit"),
        (did_of(bytes(32)), "has no secret key"),
        (did_of(bytes([1]) + bytes(31)), "has no secret key"),
        ("did:key:" + encode(bytes([0xEC, 1]) + Key("test", bytes(32)).public), "not an Ed25519"),
    ],
)
def test_another_identifier_is_refused(did: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        public_of(did)
