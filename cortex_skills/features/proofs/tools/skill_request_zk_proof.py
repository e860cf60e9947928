"""`skill_request_zk_proof`: prove a property of a committed value without revealing the value.

Rules kept here:
- a request contains no value and no blinding factor: they come from the user's sealed store, and no result has them;
- every proof and every refusal reveals something about the value. A call therefore counts in the rate window and needs
  a permission, and the holder states which skills may use an opening;
- a proof is stored beside the record of its statement and returned whole, with the credentials: a verifier elsewhere
  needs nothing else.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.safe_io.display import json_text
from cortex_skills.tools.base import NAME, VALUE, Call, Outcome, Tool

_COMMITMENT_TEXT: dict[str, Any] = {"type": "string", "pattern": "^pedersen:[A-Za-z0-9_-]{43}$"}
_PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "The subject of the committed value."},
        "predicate": {**NAME, "description": "The predicate of the committed value."},
        "value": {**_COMMITMENT_TEXT, "description": "The commitment, when there are several."},
    },
    "required": ["subject", "predicate"],
    "additionalProperties": False,
}
_WHOLE_NUMBER: dict[str, Any] = {
    "anyOf": [
        {"type": "integer", "minimum": -9223372036854775808, "maximum": 18446744073709551615},
        {"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,19})$"},
    ]
}
_MEMBER: dict[str, Any] = {"type": ["string", "integer"], "maxLength": 4096}

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "proofType": {
            "enum": ["schnorr", "equality", "membership", "range"],
            "description": "The kind: a known secret, two equal values, a member of a set, a number in a range.",
        },
        "subject": {**NAME, "description": "The subject of the statement that the proof is for."},
        "predicate": {**NAME, "description": "Its predicate."},
        "object": {**VALUE, "description": "Its object; when left out, the statement with the commitment."},
        "commitment": {**_PLACE, "description": "The triple with the commitment; when left out, the statement itself."},
        "equalTo": {**_PLACE, "description": "The triple with the other commitment (equality)."},
        "publicKey": {
            "type": "string",
            "pattern": "^did:key:z[1-9A-HJ-NP-Za-km-z]{40,100}$",
            "description": "A key of the user instead of a commitment (schnorr).",
        },
        "members": {
            "type": "array",
            "items": _MEMBER,
            "minItems": 2,
            "maxItems": 64,
            "uniqueItems": True,
            "description": "The set that the value is a member of (membership).",
        },
        "minimum": {**_WHOLE_NUMBER, "description": "The lower bound of the number (range)."},
        "maximum": {**_WHOLE_NUMBER, "description": "The upper bound of the number (range)."},
        "nonce": {"type": "string", "maxLength": 256, "description": "A value of the verifier to bind into the proof."},
        "expires": {
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
            "description": "The end of the proof's validity; a day from now when left out.",
        },
        "metadata": {
            "type": "object",
            "maxProperties": 16,
            "additionalProperties": {"type": "string", "maxLength": 256},
            "description": "Notes of the caller, which are returned. They are no part of the proof, and not stored.",
        },
    },
    "required": ["proofType", "subject", "predicate"],
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "proofId": {"type": "string", "description": "The id under which it is stored."},
        "status": {"enum": ["proved"]},
        "proofType": {"type": "string"},
        "tripleHash": {"type": "string", "description": "The statement that it is for."},
        "expires": {"type": "string"},
        "establishes": {"type": "string", "description": "What a valid proof establishes."},
        "proof": {"type": "object", "description": "The proof itself, for a verifier anywhere."},
        "credentials": {
            "type": "array",
            "items": {"type": "object"},
            "description": "The signatures of the commitments that this graph has.",
        },
        "metadata": {"type": "object", "description": "The notes of the caller."},
    },
    "required": ["proofId", "status", "proofType", "tripleHash", "expires", "establishes", "proof", "credentials"],
}


def _run(call: Call) -> Outcome:
    from cortex_skills.features.proofs.proof_operations import request
    from cortex_skills.features.proofs.zk.service import evidence_of

    notes = {key: call.arguments[key] for key in ("metadata",) if key in call.arguments}
    given = {
        "subject": call.arguments["subject"],
        "asked": {key: value for key, value in call.arguments.items() if key not in notes},
        "skill_version": call.skill.semantic.skill_version or "",
    }
    proof_id, proof = call.operate(request, given)
    statement, meaning = proof.statement, proof.claim.meaning()
    details = {
        "proofId": proof_id,
        "status": "proved",
        "proofType": proof.claim.proof_type,
        "tripleHash": statement.triple_hash,
        "expires": statement.expires,
        "establishes": meaning,
        "proof": proof.to_json(),
        "credentials": evidence_of(call.host.graph, proof.claim.commitments),
        **notes,
    }
    lines = [
        f"Proved ({proof.claim.proof_type}): {meaning}.",
        f"proof {proof_id}, until {statement.expires}",
        f"for {json_text(statement.triple)}",
    ]
    return Outcome("\n".join(lines), details)


SKILL_REQUEST_ZK_PROOF = Tool(
    name="skill_request_zk_proof",
    description=(
        "Prove in zero knowledge a property of a value of which the graph has only a commitment: that it is in a "
        "range, is a member of a set, equals another, or is known. The value stays with its holder."
    ),
    input_schema=_SCHEMA,
    permissions=("proofs:request",),
    budget=None,
    profile="proofs",
    read_only=False,
    output_schema=_ANSWER,
    run=_run,
)
