"""The JSON document of a Proof of Logic.

Rules kept here:
- the document is canonical JSON (RFC 8785), and other JSON is refused, so a proof has one text and one id, the SHA-256
  of that text;
- it is signed with a Data Integrity proof, cryptosuite `eddsa-jcs-2022` (W3C Data Integrity EdDSA Cryptosuites v1.0,
  §3.3), by a `did:key`: any verifier of that standard can check it;
- a document is valid against `SCHEMA`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from cortex_graph.assertion_records.proofs import MAX_CONTENT, content_id
from cortex_graph.checks.datetimes import date_time
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.namespace_form import NAMESPACE
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.logic.findings import Severity
from cortex_skills.features.proofs.logic.premises import GraphRead, Premises
from cortex_skills.keys import Key, public_of, verify
from cortex_skills.keys.multibase import decode, encode
from cortex_skills.safe_io.schemas import first_error
from cortex_skills.safe_io.strict_json import read_json

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MAX_SETS = 8  # of rules in a proof, the core rules included
KIND = "pol"
TYPE = "ProofOfLogic"
_SUITE = "eddsa-jcs-2022"
_SIGNATURE_BYTES = 64
_HASH: dict[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
# People and models read these names when a proof is checked: the pattern excludes sentences.
_LETTERS = r"[\p{Ll}\p{Lo}\p{Lm}\p{N}]+"  # as `name` in skill.schema.json
_RULES_NAME = rf"^(core|namespace:{NAMESPACE}|skill:{_LETTERS}(-{_LETTERS})*)$"
_METHOD = "^did:key:z[1-9A-HJ-NP-Za-km-z]+#z[1-9A-HJ-NP-Za-km-z]+$"


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _text(most: int, pattern: str = "") -> dict[str, Any]:
    return {"type": "string", "maxLength": most} | ({"pattern": pattern} if pattern else {})


def _list(items: dict[str, Any], most: int, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _integer(most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": most}


_VERDICT = {"enum": ["verified", "refuted", "not_evaluated"]}
_FINDING = _object(
    {
        "rule": _text(1024),
        "severity": {"enum": [severity.value for severity in Severity]},
        "message": _text(1024),
        "node": _text(8192),
        "path": _text(8192),
    },
    optional=("node", "path"),
)
_RULE_SET = _object(
    {
        "name": _text(300, _RULES_NAME),
        "version": _text(64),
        "digest": _HASH,
        "applied": _integer(100_000),
        "verdict": _VERDICT,
        "findings": _list(_FINDING, 200),
    }
)
_GRAPH_READ = _object({"pattern": _list(_text(MAX_CONTENT), 3, 3), "triples": _list(_HASH, 1000)})
_SKILL: dict[str, Any] = {"type": ["string", "null"], "maxLength": 256}
SCHEMA = _object(
    {
        "type": {"const": TYPE},
        "version": {"const": 1},
        "namespace": _text(256, f"^{NAMESPACE}$"),
        "statement": _text(MAX_CONTENT),
        "statementHash": _HASH,
        "skill": _SKILL,
        "skillVersion": _SKILL,
        "rules": _list(_RULE_SET, MAX_SETS, 1),
        "premises": _object(
            {"count": _integer(1_000_000), "digest": _HASH, "reads": _list(_GRAPH_READ, 100)}, optional=("reads",)
        ),
        "verdict": _VERDICT,
        "proof": _object(
            {
                "type": {"const": "DataIntegrityProof"},
                "cryptosuite": {"const": _SUITE},
                "created": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z$"},
                "verificationMethod": _text(256, _METHOD),
                "proofPurpose": {"const": "assertionMethod"},
                "proofValue": _text(128),
            }
        ),
    }
)


@dataclass(frozen=True, slots=True)
class LogicProof:
    """A Proof of Logic of the right form; nothing else was checked.

    Attributes:
        content: the canonical text.
        fields: the parsed text.
    """

    content: str
    fields: dict[str, Any]

    @property
    def id(self) -> str:
        """The SHA-256 of its text."""
        return content_id(self.content)

    @property
    def signer(self) -> str:
        """The `did:key` that the proof names as its signer."""
        return str(self.fields["proof"]["verificationMethod"]).partition("#")[0]

    @property
    def created(self) -> str:
        """The creation time that the proof states."""
        return str(self.fields["proof"]["created"])

    @property
    def premises(self) -> Premises:
        """The premises that the proof states."""
        stated = self.fields["premises"]
        reads = tuple(GraphRead(tuple(each["pattern"]), tuple(each["triples"])) for each in stated.get("reads", ()))
        return Premises(reads, stated["count"], stated["digest"])

    def states_its_hash(self) -> bool:
        """Whether `statementHash` is the hash of the statement."""
        stated: str = self.fields["statementHash"]
        return hash_line(str(self.fields["statement"]).removesuffix(" .")) == stated

    def signature_holds(self) -> bool:
        """Whether the signature of the named signer is valid."""
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


def signed(fields: dict[str, Any], key: Key, time: datetime) -> LogicProof:
    """Sign a proof."""
    options = {
        "type": "DataIntegrityProof",
        "cryptosuite": _SUITE,
        "created": date_time(time),
        "verificationMethod": f"{key.did}#{key.did.removeprefix('did:key:')}",
        "proofPurpose": "assertionMethod",
    }
    value = encode(key.sign(_hashed(fields, options)))
    whole = {**fields, "proof": {**options, "proofValue": value}}
    return LogicProof(canonical(whole), whole)


def read_document(content: str | bytes) -> LogicProof:
    """Read a Proof of Logic.

    Raises:
        CortexError: `invalid_arguments`: the text is not one.
    """
    try:
        text = content if isinstance(content, str) else content.decode()
        if len(text) > MAX_CONTENT:
            raise ValueError(f"it has more than {MAX_CONTENT} characters")
        fields = read_json(text, floats=False)
        error = first_error(_validator(), fields)
        if error is not None:
            raise ValueError(error.message)
        if canonical(fields) != text.rstrip("\n"):
            raise ValueError("it is not written as canonical JSON (RFC 8785)")
    except (ValueError, TypeError, RecursionError) as problem:
        reason = str(problem)[:300]
        hint = "give the exported file without changes"
        raise CortexError("invalid_arguments", f"this is not a Proof of Logic: {reason}", hint=hint) from None
    return LogicProof(text.rstrip("\n"), fields)


def canonical(document: dict[str, Any]) -> str:
    """Canonical JSON (RFC 8785) of a document with texts, integers, booleans, null, and ASCII keys."""
    return _dumped(document).decode()


def _dumped(document: dict[str, Any]) -> bytes:
    # RFC 8785 differs from this only for fractions and for keys that are not ASCII.
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def _hashed(unsigned: dict[str, Any], options: dict[str, Any]) -> bytes:
    """The signed bytes: SHA-256 of the options, then SHA-256 of the document (§3.3.4)."""
    return b"".join(hashlib.sha256(_dumped(part)).digest() for part in (options, unsigned))


@lru_cache(maxsize=1)
def _validator() -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(SCHEMA)
