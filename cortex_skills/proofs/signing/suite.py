"""The cryptosuite `eddsa-rdfc-2022`: a document, a proof of who signed it, and whether the signature holds.

Rules kept here:
- what is signed is SHA-256(canonical proof options) followed by SHA-256(canonical document without its proof);
- a proof has the members that are known here and no other, each of the form that it must have; exactly one proof;
- a proof that is of another suite, or that needs something this code does not check (a challenge, a domain, an earlier
  proof), is not checked at all.

The standards: Data Integrity 1.0 (§2.1, §4), and Data Integrity EdDSA Cryptosuites 1.0 (§3.2).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cortex_skills.proofs.keys import Key, verify
from cortex_skills.proofs.keys.multibase import decode, encode
from cortex_skills.proofs.signing.canonical import canonical
from cortex_skills.proofs.signing.errors import MalformedError, UnsupportedError
from cortex_skills.proofs.signing.jsonld import Contexts, described

CRYPTOSUITE = "eddsa-rdfc-2022"
PURPOSE = "assertionMethod"
_TYPE = "DataIntegrityProof"
_NEEDED = ("type", "cryptosuite", "verificationMethod", "proofPurpose", "proofValue")
_KNOWN = frozenset({*_NEEDED, "created", "expires", "@context", "id"})
_NOT_CHECKED = frozenset({"challenge", "domain", "nonce", "previousProof"})
_DATE_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof as a document carries it.

    Attributes:
        method: the address of the key that made it.
        purpose: what for: `assertionMethod` for a credential.
        created: when; None when it does not say.
        expires: until when it holds; None for ever.
        signature: 64 bytes.
        options: all that it says but for its signature.

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
    """A document with a proof of who signed it.

    Args:
        document: JSON-LD without a proof.
        key: whose.
        method: the address of the key, for a `did:key` the whole with its fragment.
        created: when, as an `xsd:dateTime`.
        contexts: as `described` takes them.

    Raises:
        MalformedError: the document says something that a signature would not cover, or has a proof.
        UnsupportedError: it uses a context that is not known here, or takes too long to canonicalize.

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
    """What is signed: 64 bytes.

    Args:
        document: without its proof.
        options: the proof without its value.
        contexts: as `described` takes them.

    Raises:
        MalformedError: as `described`.
        UnsupportedError: as `described` and `canonical`.

    """
    options = {**options, "@context": document.get("@context")}
    parts = (canonical(described(part, contexts).dataset) for part in (options, document))
    return b"".join(hashlib.sha256(part).digest() for part in parts)


def holds(document: dict[str, Any], public: bytes, contexts: Contexts | None = None) -> bool:
    """Whether the proof of a document was made with a key: 32 bytes. Says nothing of whose key it is, or of times.

    Raises:
        MalformedError: the document or its proof is not well-formed.
        UnsupportedError: it cannot be checked here.

    """
    proof = read_proof(document)
    unsigned = {key: value for key, value in document.items() if key != "proof"}
    return verify(public, signed_bytes(unsigned, proof.options, contexts), proof.signature)


def read_proof(document: dict[str, Any]) -> Proof:
    """The one proof of a document.

    Raises:
        MalformedError: it has none, or it is not well-formed.
        UnsupportedError: it has several, or one that is not checked here.

    """
    given = document.get("proof")
    if isinstance(given, list):
        if len(given) > 1:
            raise UnsupportedError("it has several proofs, of which this version checks none")
        given = given[0] if given else None
    if not isinstance(given, dict):
        raise MalformedError("it has no proof")
    if given.get("type") != _TYPE or given.get("cryptosuite") != CRYPTOSUITE:
        suite = str(given.get("cryptosuite") or given.get("type"))[:60]
        raise UnsupportedError(f"its proof is of the suite {suite!r}; only {CRYPTOSUITE} is checked here")
    if not_checked := sorted(_NOT_CHECKED & set(given)):
        raise UnsupportedError(f"its proof has {', '.join(not_checked)}, which this version does not check")
    if unknown := sorted(set(given) - _KNOWN):
        raise MalformedError(f"its proof has {unknown[0][:40]!r}, which is no part of one")
    for name in _NEEDED:
        if not isinstance(given.get(name), str):
            raise MalformedError(f"its proof has no {name}")
    if "@context" in given and given["@context"] != document.get("@context"):
        raise UnsupportedError("its proof has a context of its own")
    try:
        signature = decode(given["proofValue"], 64)
    except ValueError as error:
        raise MalformedError(f"its proofValue is no signature: {error}") from None
    created, expires = (read_time(given[name], name) if name in given else None for name in ("created", "expires"))
    options = {name: value for name, value in given.items() if name not in ("proofValue", "@context")}
    return Proof(given["verificationMethod"], given["proofPurpose"], created, expires, signature, options)


def read_time(given: Any, name: str) -> datetime:
    """An instant as `xsd:dateTimeStamp` writes it.

    Raises:
        MalformedError: it is none.

    """
    found = _DATE_TIME.fullmatch(given) if isinstance(given, str) else None
    try:
        if found:
            zone = "+00:00" if found[3] == "Z" else found[3]
            return datetime.fromisoformat(f"{found[1]}{(found[2] or '')[:7]}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise MalformedError(f"its {name} is no time with a time zone")
