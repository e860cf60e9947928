"""The cryptosuite `eddsa-rdfc-2022`: signing documents and verifying their proofs.

Rules kept here:
- the signed bytes are SHA-256(canonical proof options) followed by SHA-256(canonical document without its proof);
- a document has exactly one proof, with known members only, each in its required form;
- a proof of another suite, or with a member that is not checked here (a challenge, a domain, an earlier proof), is not
  evaluated.

The standards: Data Integrity 1.0 (§2.1, §4), and Data Integrity EdDSA Cryptosuites 1.0 (§3.2).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cortex_skills.features.proofs.signing.canonical import canonical
from cortex_skills.features.proofs.signing.documents import MalformedError, UnsupportedError
from cortex_skills.features.proofs.signing.jsonld import Contexts, to_rdf
from cortex_skills.keys import Key, verify
from cortex_skills.keys.multibase import decode, encode

CRYPTOSUITE = "eddsa-rdfc-2022"
PURPOSE = "assertionMethod"
_TYPE = "DataIntegrityProof"
_NEEDED = ("type", "cryptosuite", "verificationMethod", "proofPurpose", "proofValue")
_KNOWN = frozenset({*_NEEDED, "created", "expires", "@context", "id"})
_NOT_CHECKED = frozenset({"challenge", "domain", "nonce", "previousProof"})
_DATE_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class DataIntegrityProof:
    """The proof of a document.

    Attributes:
        method: the verification method: the identifier of the key.
        purpose: `assertionMethod` for a credential.
        created: the time of the signature; may be None.
        expires: when the proof expires; None for never.
        signature: 64 bytes.
        options: all members but the signature and the context.
    """

    method: str
    purpose: str
    created: datetime | None
    expires: datetime | None
    signature: bytes
    options: dict[str, Any]


def sign(
    document: dict[str, Any], key: Key, method: str, created: str, contexts: Contexts | None = None
) -> dict[str, Any]:
    """Add a proof to a document.

    Args:
        document: JSON-LD without a proof.
        key: the signing key.
        method: the verification method; see `credentials.method_of`.
        created: the time of the signature, as an `xsd:dateTime`.
        contexts: as `to_rdf` takes them.

    Raises:
        MalformedError: the signature would not cover a part of the document, or the document has a proof.
        UnsupportedError: it uses an unknown context, or takes too long to canonicalize.
    """
    if "proof" in document:
        raise MalformedError("the document has a proof")
    options = {
        "type": _TYPE,
        "cryptosuite": CRYPTOSUITE,
        "created": created,
        "verificationMethod": method,
        "proofPurpose": PURPOSE,
    }
    value = encode(key.sign(signed_bytes(document, options, contexts)))
    return {**document, "proof": {**options, "proofValue": value}}


def signed_bytes(document: dict[str, Any], options: dict[str, Any], contexts: Contexts | None = None) -> bytes:
    """The signed bytes: 64 bytes."""
    options = {**options, "@context": document.get("@context")}
    parts = (canonical(to_rdf(part, contexts).dataset) for part in (options, document))
    return b"".join(hashlib.sha256(part).digest() for part in parts)


def verify_proof(document: dict[str, Any], public: bytes, contexts: Contexts | None = None) -> bool:
    """Whether the proof of a document was made with a public key of 32 bytes; times and issuer are not checked."""
    proof = read_proof(document)
    unsigned = {key: value for key, value in document.items() if key != "proof"}
    return verify(public, signed_bytes(unsigned, proof.options, contexts), proof.signature)


def read_proof(document: dict[str, Any]) -> DataIntegrityProof:
    """The one proof of a document."""
    given = document.get("proof")
    if isinstance(given, list):
        if len(given) > 1:
            raise UnsupportedError("it has several proofs, which this version does not check")
        given = given[0] if given else None
    if not isinstance(given, dict):
        raise MalformedError("it has no proof")
    if given.get("type") != _TYPE or given.get("cryptosuite") != CRYPTOSUITE:
        suite = str(given.get("cryptosuite") or given.get("type"))[:60]
        raise UnsupportedError(f"its proof is of the suite {suite!r}; only {CRYPTOSUITE} is supported")
    if not_checked := sorted(_NOT_CHECKED & set(given)):
        raise UnsupportedError(f"its proof has {', '.join(not_checked)}, which this version does not check")
    if unknown := sorted(set(given) - _KNOWN):
        raise MalformedError(f"its proof has {unknown[0][:40]!r}, which is not a member of a proof")
    for name in _NEEDED:
        if not isinstance(given.get(name), str):
            raise MalformedError(f"its proof has no {name}")
    if "@context" in given and given["@context"] != document.get("@context"):
        raise UnsupportedError("its proof has another context than the document")
    try:
        signature = decode(given["proofValue"], 64)
    except ValueError as error:
        raise MalformedError(f"its proofValue is not a signature: {error}") from None
    created, expires = (read_time(given[name], name) if name in given else None for name in ("created", "expires"))
    options = {name: value for name, value in given.items() if name not in ("proofValue", "@context")}
    return DataIntegrityProof(given["verificationMethod"], given["proofPurpose"], created, expires, signature, options)


def read_time(given: Any, name: str) -> datetime:
    """An instant in the form of `xsd:dateTimeStamp`."""
    found = _DATE_TIME.fullmatch(given) if isinstance(given, str) else None
    try:
        if found:
            zone = "+00:00" if found[3] == "Z" else found[3]
            return datetime.fromisoformat(f"{found[1]}{(found[2] or '')[:7]}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise MalformedError(f"its {name} is not a time with a time zone")
