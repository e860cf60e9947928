"""A Proof of Logic as a document: JSON that somebody else can read, check and replay.

Rules kept here:
- it is written as canonical JSON (RFC 8785), and what is read is canonical, or it is no proof; so one proof has one
  text and one id, the SHA-256 of that text;
- it is signed as a Data Integrity proof, cryptosuite `eddsa-jcs-2022` (W3C Data Integrity EdDSA Cryptosuites v1.0,
  §3.3), with the signer as a `did:key`: any verifier of that standard can check it;
- what is read has the form of `SCHEMA`, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from cortex_graph.index import hash_line
from cortex_graph.moments import date_time
from cortex_graph.proofs import MAX_CONTENT, content_id
from cortex_skills.errors import CortexError
from cortex_skills.proofs.keys import Key, public_of, verify
from cortex_skills.proofs.keys.multibase import decode, encode
from cortex_skills.proofs.logic.premises import Premises, Read
from cortex_skills.proofs.verdict import Verdict
from cortex_skills.schemas import first_error

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

KIND = "pol"
TYPE = "ProofOfLogic"
_SUITE = "eddsa-jcs-2022"
_SIGNATURE_BYTES = 64
_HASH: dict[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_TEXT: dict[str, Any] = {"type": "string", "maxLength": 1024}
# Names are told to people and to models when a proof is checked: they hold no sentences.
_RULES_NAME = r"^(core|namespace:[a-zA-Z][a-zA-Z0-9_-]{0,255}|skill:[a-z0-9]+(-[a-z0-9]+)*)$"
_METHOD = "^did:key:z[1-9A-HJ-NP-Za-km-z]+#z[1-9A-HJ-NP-Za-km-z]+$"
_FINDING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rule": _TEXT,
        "severity": {"enum": ["violation", "warning", "info"]},
        "message": _TEXT,
        "node": {"type": "string", "maxLength": 8192},
        "path": {"type": "string", "maxLength": 8192},
    },
    "required": ["rule", "severity", "message"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"const": TYPE},
        "version": {"const": 1},
        "namespace": {"type": "string", "pattern": "^[a-zA-Z][a-zA-Z0-9_-]*$", "maxLength": 256},
        "statement": {"type": "string", "maxLength": MAX_CONTENT},
        "statementHash": _HASH,
        "skill": {"type": ["string", "null"], "maxLength": 256},
        "skillVersion": {"type": ["string", "null"], "maxLength": 256},
        "rules": {
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "pattern": _RULES_NAME, "maxLength": 300},
                    "version": {"type": "string", "maxLength": 64},
                    "digest": _HASH,
                    "applied": {"type": "integer", "minimum": 0, "maximum": 100_000},
                    "verdict": {"enum": [verdict.value for verdict in Verdict]},
                    "findings": {"type": "array", "items": _FINDING, "maxItems": 200},
                },
                "required": ["name", "version", "digest", "applied", "verdict", "findings"],
                "additionalProperties": False,
            },
        },
        "premises": {
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 0, "maximum": 1_000_000},
                "digest": _HASH,
                "reads": {
                    "type": "array",
                    "maxItems": 100,
                    "items": {
                        "type": "object",
                        "properties": {
                            "pattern": {
                                "type": "array",
                                "items": {"type": "string", "maxLength": MAX_CONTENT},
                                "minItems": 3,
                                "maxItems": 3,
                            },
                            "triples": {"type": "array", "items": _HASH, "maxItems": 1000},
                        },
                        "required": ["pattern", "triples"],
                        "additionalProperties": False,
                    },
                },
            },
            "required": ["count", "digest"],
            "additionalProperties": False,
        },
        "verdict": {"enum": [verdict.value for verdict in Verdict]},
        "proof": {
            "type": "object",
            "properties": {
                "type": {"const": "DataIntegrityProof"},
                "cryptosuite": {"const": _SUITE},
                "created": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z$"},
                "verificationMethod": {
                    "type": "string",
                    "pattern": _METHOD,
                    "maxLength": 256,
                },
                "proofPurpose": {"const": "assertionMethod"},
                "proofValue": {"type": "string", "maxLength": 128},
            },
            "required": ["type", "cryptosuite", "created", "verificationMethod", "proofPurpose", "proofValue"],
            "additionalProperties": False,
        },
    },
    "required": [
        *("type", "version", "namespace", "statement", "statementHash", "skill", "skillVersion"),
        *("rules", "premises", "verdict", "proof"),
    ],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Document:
    """A proof that was read: its form is right, and nothing else is known of it.

    Attributes:
        content: the canonical text.
        fields: what it says.

    """

    content: str
    fields: dict[str, Any]

    @property
    def id(self) -> str:
        """The SHA-256 of its text."""
        return content_id(self.content)

    @property
    def signer(self) -> str:
        """The `did:key` that it says has signed it."""
        return str(self.fields["proof"]["verificationMethod"]).partition("#")[0]

    @property
    def created(self) -> str:
        """When it says that it was made."""
        return str(self.fields["proof"]["created"])

    @property
    def premises(self) -> Premises:
        """What it says that it rests on."""
        told = self.fields["premises"]
        reads = tuple(Read(tuple(each["pattern"]), tuple(each["triples"])) for each in told.get("reads", ()))
        return Premises(reads, told["count"], told["digest"])

    def states_its_hash(self) -> bool:
        """Whether the statement has the hash that stands beside it."""
        stated: str = self.fields["statementHash"]
        return hash_line(str(self.fields["statement"]).removesuffix(" .")) == stated

    def signature_holds(self) -> bool:
        """Whether the signer that it names has signed exactly this."""
        method = str(self.fields["proof"]["verificationMethod"])
        did, _, fragment = method.partition("#")
        if did != f"did:key:{fragment}":
            return False
        options = {key: value for key, value in self.fields["proof"].items() if key != "proofValue"}
        unsigned = {key: value for key, value in self.fields.items() if key != "proof"}
        try:
            signature = decode(self.fields["proof"]["proofValue"], _SIGNATURE_BYTES)
            return verify(public_of(did), _hashed(unsigned, options), signature)
        except ValueError:
            return False


def signed(fields: dict[str, Any], key: Key, time: datetime) -> Document:
    """A proof of these fields, signed.

    Args:
        fields: all that `SCHEMA` asks for but `proof`.
        key: the signer's.
        time: when, with its time zone.

    """
    options = {
        "type": "DataIntegrityProof",
        "cryptosuite": _SUITE,
        "created": date_time(time),
        "verificationMethod": f"{key.did}#{key.did.removeprefix('did:key:')}",
        "proofPurpose": "assertionMethod",
    }
    value = encode(key.sign(_hashed(fields, options)))
    whole = {**fields, "proof": {**options, "proofValue": value}}
    return Document(canonical(whole), whole)


def read_document(content: str | bytes) -> Document:
    """The proof of a text.

    Raises:
        CortexError: `invalid_arguments`: it is none.

    """
    try:
        text = content if isinstance(content, str) else content.decode()
        if len(text) > MAX_CONTENT:
            raise ValueError(f"it has more than {MAX_CONTENT} characters")
        fields = json.loads(text, parse_float=_no_fraction, parse_constant=_no_fraction)
        error = first_error(_validator(), fields)
        if error is not None:
            raise ValueError(error.message)
        if canonical(fields) != text.rstrip("\n"):
            raise ValueError("it is not written as canonical JSON (RFC 8785)")
    except (ValueError, TypeError, RecursionError) as problem:
        reason = str(problem)[:300]
        hint = "give the file that was exported, as it is"
        raise CortexError("invalid_arguments", f"this is no Proof of Logic: {reason}", hint=hint) from None
    return Document(text.rstrip("\n"), fields)


def canonical(document: dict[str, Any]) -> str:
    """A document of texts, integers, booleans and null, with keys in ASCII, as canonical JSON (RFC 8785)."""
    return _dumped(document).decode()


def _dumped(document: dict[str, Any]) -> bytes:
    # What RFC 8785 has beyond this is how fractions are written, and the order of keys outside of ASCII.
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def _hashed(unsigned: dict[str, Any], options: dict[str, Any]) -> bytes:
    """What is signed: the SHA-256 of the options and of the document, one behind the other (§3.3.4)."""
    return b"".join(hashlib.sha256(_dumped(part)).digest() for part in (options, unsigned))


@lru_cache(maxsize=1)
def _validator() -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(SCHEMA)


def _no_fraction(text: str) -> Any:
    raise ValueError(f"{text[:40]} is no whole number")
