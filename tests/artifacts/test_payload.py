"""The payload hash and signature.json: vectors of the format, and every field changed."""

from __future__ import annotations

import base64
import json

import pytest

from cortex_skills.features.artifacts.package import ArtifactError, payload_hash, read_artifact_signature, sign_payload
from tests.artifacts.samples import KEY, OTHER_KEY, SIGNED_AT, VECTOR

HASH = "073fe86a639c4c7d0a227b6f17e87d45d51da566715911e22b777c3199fd9b4b"


def test_the_vector_has_its_hash_key_id_and_signature() -> None:
    signature = sign_payload(VECTOR, "acme", KEY, SIGNED_AT)
    assert payload_hash(VECTOR) == signature.payload_sha256 == HASH
    assert signature.key_id == "ed25519:34750f98bd59fcfc"
    assert signature.signature_base64 == (
        "GZ1qBBxUcaMluUISGrjBWIJ/2/UZ5gVlHdREfsZwiPDBpZcQwfJC+DqTF8zfuRXc/LA7WUbca118FMW3tUjHBQ=="
    )
    assert signature.is_valid()


def test_the_hash_depends_on_paths_and_contents_but_not_on_order_or_the_signature() -> None:
    assert payload_hash(dict(reversed(VECTOR.items()))) == HASH
    assert payload_hash({**VECTOR, "signature.json": b"{}"}) == HASH
    assert payload_hash({"a": b"bc"}) != payload_hash({"ab": b"c"})
    # By the bytes of UTF-8: U+FF5E is before U+1F600, which UTF-16 would sort the other way round.
    one, two = {"assets/～": b"1", "assets/😀": b"2"}, {"assets/😀": b"2", "assets/～": b"1"}
    assert payload_hash(one) == payload_hash(two)


def test_a_signature_is_read_as_it_was_written() -> None:
    signature = sign_payload(VECTOR, "acme", KEY, SIGNED_AT)
    assert read_artifact_signature(signature.to_bytes()) == signature
    assert list(json.loads(signature.to_bytes())) == [
        "algorithm", "publisher", "key_id", "public_key_base64", "payload_sha256", "signature_base64",
        "signed_at_unix_ms",
    ]  # fmt: skip


def _tail_bits(text: str) -> str:
    """The same bytes in Base64 whose unused last bits are not zero."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    body = text.rstrip("=")
    return body[:-1] + alphabet[alphabet.index(body[-1]) + 1] + "=" * (len(text) - len(body))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"algorithm": "ed25519"}, "algorithm"),
        ({"algorithm": 1}, "algorithm is not text"),
        ({"publisher": ""}, "publisher"),
        ({"publisher": "a" * 257}, "publisher"),
        ({"key_id": "ed25519:34750f98bd59fcfd"}, "key_id is not ed25519:34750f98bd59fcfc"),
        ({"public_key_base64": base64.b64encode(OTHER_KEY.public).decode()}, "key_id"),
        ({"public_key_base64": base64.b64encode(bytes(32)).decode()}, "prime-order group"),
        ({"public_key_base64": base64.b64encode(b"\1" + bytes(31)).decode()}, "prime-order group"),
        ({"public_key_base64": base64.b64encode(b"\xff" * 32).decode()}, "prime-order group"),
        ({"public_key_base64": "AAAA"}, "32 bytes"),
        ({"public_key_base64": "*"}, "not Base64"),
        ({"public_key_base64": "é"}, "not Base64"),
        ({"signature_base64": "AAAA"}, "64 bytes"),
        ({"signature_base64": base64.b64encode(bytes(64)).decode() + "\n"}, "signature_base64"),
        ({"payload_sha256": HASH.upper()}, "payload_sha256"),
        ({"payload_sha256": HASH + "\n"}, "payload_sha256"),
        ({"signed_at_unix_ms": -1}, "signed_at_unix_ms"),
        ({"signed_at_unix_ms": True}, "signed_at_unix_ms"),
        ({"signed_at_unix_ms": "1"}, "signed_at_unix_ms"),
        ({"signed_at_unix_ms": 1 << 63}, "signed_at_unix_ms"),
        ({"comment": "x"}, "exactly the keys"),
    ],
)
def test_a_field_in_another_form_is_refused_by_name(changes: dict[str, object], says: str) -> None:
    document = json.loads(sign_payload(VECTOR, "acme", KEY, SIGNED_AT).to_bytes())
    with pytest.raises(ArtifactError, match=says) as caught:
        read_artifact_signature(json.dumps({**document, **changes}).encode())
    assert caught.value.code == "signature_invalid"


def test_base64_has_one_form() -> None:
    document = json.loads(sign_payload(VECTOR, "acme", KEY, SIGNED_AT).to_bytes())
    for name in ("public_key_base64", "signature_base64"):
        changed = {**document, name: _tail_bits(document[name])}
        assert base64.b64decode(changed[name]) == base64.b64decode(document[name])
        with pytest.raises(ArtifactError, match=f"{name} is not the canonical Base64"):
            read_artifact_signature(json.dumps(changed).encode())


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"null", b"\xff", b"[" * 5000, b'{"a":1,"a":1}', b'{"signed_at_unix_ms":1.0}', b" " * 20_000],
)
def test_what_is_not_a_signature_file_is_refused(data: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"signature\.json"):
        read_artifact_signature(data)


def test_a_missing_key_is_refused() -> None:
    document = json.loads(sign_payload(VECTOR, "acme", KEY, SIGNED_AT).to_bytes())
    for name in document:
        rest = {key: value for key, value in document.items() if key != name}
        with pytest.raises(ArtifactError, match="exactly the keys"):
            read_artifact_signature(json.dumps(rest).encode())
