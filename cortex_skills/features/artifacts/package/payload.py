"""The hash of an artifact's payload, and the signature of that hash in `signature.json`.

Rules kept here:
- the payload is every entry but `signature.json`; its hash is that of `palyra.skill.payload.v1` and, by path, the
  lengths and bytes of path and content, so no byte can move between a path and a content;
- the signature is Ed25519 (RFC 8032, §5.1) of the hash as 64 lower-case hexadecimal ASCII characters;
- `signature.json` has exactly these keys, once each, and canonical Base64; the key id is that of the key;
- `signed_at_unix_ms` is not covered by the signature: it is for display, and decides nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.entry_paths import SIGNATURE
from cortex_skills.keys import Key, is_public, key_id, verify
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json

ALGORITHM = "ed25519-sha256"

_CONTEXT = b"palyra.skill.payload.v1"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MAX_FILE = 16 << 10
_MAX_PUBLISHER = 256
_MAX_TIME = 1 << 63


@dataclass(frozen=True, slots=True)
class ArtifactSignature:
    """The contents of `signature.json`, in its order.

    Attributes:
        algorithm: `ed25519-sha256`.
        publisher: who signed; the manifest names the same publisher.
        key_id: `ed25519:` and the first eight bytes of the SHA-256 of the public key, in hexadecimal.
        public_key_base64: the public key, 32 bytes.
        payload_sha256: the hash of the payload, in hexadecimal.
        signature_base64: the signature, 64 bytes.
        signed_at_unix_ms: the time, in milliseconds since 1970; not signed.
    """

    algorithm: str
    publisher: str
    key_id: str
    public_key_base64: str
    payload_sha256: str
    signature_base64: str
    signed_at_unix_ms: int

    @property
    def public_key(self) -> bytes:
        """The public key, 32 bytes."""
        return base64.b64decode(self.public_key_base64)

    def is_valid(self) -> bool:
        """Whether the signature of the hash was made with the key."""
        return verify(self.public_key, self.payload_sha256.encode("ascii"), base64.b64decode(self.signature_base64))

    def to_bytes(self) -> bytes:
        """The file: JSON with an indentation of two spaces."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False).encode()


def payload_hash(entries: Mapping[str, bytes]) -> str:
    """The hash of the payload of entries by path, in hexadecimal.

    >>> payload_hash({"signature.json": b"{}"}) == payload_hash({})
    True
    """
    hashed = sha256(_CONTEXT)
    for path, content in sorted((path.encode(), content) for path, content in entries.items() if path != SIGNATURE):
        for part in (path, content):
            hashed.update(len(part).to_bytes(8, "big"))
            hashed.update(part)
    return hashed.hexdigest()


def sign_payload(entries: Mapping[str, bytes], publisher: str, key: Key, signed_at_unix_ms: int) -> ArtifactSignature:
    """The signature of entries by a publisher's key, at a time in milliseconds since 1970."""
    return sign_hash(payload_hash(entries), publisher, key, signed_at_unix_ms)


def sign_hash(sha256_hex: str, publisher: str, key: Key, signed_at_unix_ms: int) -> ArtifactSignature:
    """The signature of a SHA-256 in hexadecimal by a publisher's key, at a time in milliseconds since 1970."""
    return ArtifactSignature(
        ALGORITHM,
        publisher,
        key_id(key.public),
        base64.b64encode(key.public).decode(),
        sha256_hex,
        base64.b64encode(key.sign(sha256_hex.encode("ascii"))).decode(),
        signed_at_unix_ms,
    )


def read_artifact_signature(data: bytes) -> ArtifactSignature:
    """The signature in `signature.json`; its forms are checked, not yet whether it is valid.

    Raises:
        ArtifactError: `signature_invalid`.
    """
    try:
        document = read_json(data, max_size=_MAX_FILE, max_depth=1, floats=False)
    except ValueError as error:
        raise _invalid(f"is not JSON: {error}") from None
    return artifact_signature(document)


def artifact_signature(document: object) -> ArtifactSignature:
    """The signature in a JSON object; its forms are checked, not yet whether it is valid.

    Raises:
        ArtifactError: `signature_invalid`.
    """
    names = [field.name for field in fields(ArtifactSignature)]
    if not isinstance(document, dict) or sorted(document) != sorted(names):
        raise _invalid(f"does not have exactly the keys {', '.join(names)}")
    time = document["signed_at_unix_ms"]
    if type(time) is not int or not 0 <= time < _MAX_TIME:
        raise _invalid("signed_at_unix_ms is not a number of milliseconds since 1970")
    for name in names[:-1]:
        if not isinstance(document[name], str):
            raise _invalid(f"{name} is not text")
    signature = ArtifactSignature(**document)
    if signature.algorithm != ALGORITHM:
        raise _invalid(f"algorithm is {shown(signature.algorithm)}, not {ALGORITHM}")
    if not 0 < len(signature.publisher) <= _MAX_PUBLISHER:
        raise _invalid(f"publisher has not 1 to {_MAX_PUBLISHER} characters")
    if not _SHA256.fullmatch(signature.payload_sha256):
        raise _invalid("payload_sha256 is not a hash of 64 lower-case hexadecimal digits")
    public = _decoded("public_key_base64", signature.public_key_base64, 32)
    if not is_public(public):
        raise _invalid("public_key_base64 is not an Ed25519 key of the prime-order group")
    _decoded("signature_base64", signature.signature_base64, 64)
    if signature.key_id != key_id(public):
        raise _invalid(f"key_id is not {key_id(public)}, the id of the key")
    return signature


def _decoded(name: str, text: str, length: int) -> bytes:
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _invalid(f"{name} is not Base64") from None
    if len(decoded) != length or base64.b64encode(decoded).decode() != text:
        raise _invalid(f"{name} is not the canonical Base64 of {length} bytes")
    return decoded


def _invalid(problem: str) -> ArtifactError:
    return ArtifactError(
        f"{SIGNATURE}: {problem}",
        code="signature_invalid",
        hint="the signature was changed or is incomplete: get the artifact from its publisher again",
    )
