"""`skill_request_zk_proof`: prove something of a committed value, without the value.

Rules kept here:
- a request brings no value and no blinding along: they come from the user's sealed store, and no answer holds them;
- every proof, and every refusal, tells something of the value. So a call counts in the rate window, needs the
  permission, and the holder says for which skills an opening is there;
- a proof is kept beside the record of its statement, and answered whole: a verifier elsewhere needs nothing else, but
  for the credentials, which are answered with it.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.escaping import json_text
from cortex_skills.tools.arguments import NAME, VALUE
from cortex_skills.tools.base import Call, Outcome, Tool

_COMMITMENT_TEXT: dict[str, Any] = {"type": "string", "pattern": "^pedersen:[A-Za-z0-9_-]{43}$"}
_PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "What it is a value of."},
        "predicate": {**NAME, "description": "Which value of it."},
        "value": {**_COMMITMENT_TEXT, "description": "The commitment, where several stand."},
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
            "description": "The kind of proof: of a secret known, of two equal values, of one of a set, of a range.",
        },
        "subject": {**NAME, "description": "What the statement is about that the proof is for."},
        "predicate": {**NAME, "description": "What it says of it."},
        "object": {**VALUE, "description": "Its value; without it the statement is the one with the commitment."},
        "commitment": {**_PLACE, "description": "Where the commitment stands; with the statement when left out."},
        "equalTo": {**_PLACE, "description": "Where the other commitment stands (equality)."},
        "publicKey": {
            "type": "string",
            "pattern": "^did:key:z[1-9A-HJ-NP-Za-km-z]{40,100}$",
            "description": "A key of the user's, in the place of a commitment (schnorr).",
        },
        "members": {
            "type": "array",
            "items": _MEMBER,
            "minItems": 2,
            "maxItems": 64,
            "uniqueItems": True,
            "description": "The set that the value is one of (membership).",
        },
        "minimum": {**_WHOLE_NUMBER, "description": "The least that the number may be (range)."},
        "maximum": {**_WHOLE_NUMBER, "description": "The most that the number may be (range)."},
        "nonce": {"type": "string", "maxLength": 256, "description": "What the verifier asked to be bound in."},
        "expires": {
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
            "description": "Until when the proof counts; for a day when left out.",
        },
    },
    "required": ["proofType", "subject", "predicate"],
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "proofId": {"type": "string", "description": "Under which it is kept."},
        "status": {"enum": ["proved"]},
        "proofType": {"type": "string"},
        "tripleHash": {"type": "string", "description": "The statement that it is for."},
        "expires": {"type": "string"},
        "establishes": {"type": "string", "description": "What holds if the proof does."},
        "proof": {"type": "object", "description": "The proof itself, for a verifier anywhere."},
        "credentials": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Who signed the commitments, as far as this graph knows.",
        },
    },
    "required": [
        "proofId",
        "status",
        "proofType",
        "tripleHash",
        "expires",
        "establishes",
        "proof",
        "credentials",
    ],
}


def _run(call: Call) -> Outcome:
    from cortex_skills.proofs.zk.requesting import utc_now
    from cortex_skills.proofs.zk.service import evidence_of, request

    proof_id, proof = request(
        call.arguments,
        call.graph,
        call.config,
        skill=call.skill.name,
        skill_version=call.skill.semantic.skill_version or "",
        now=utc_now(),
        stop=call.stop,
    )
    statement, meaning = proof.statement, proof.claim.meaning()
    details = {
        "proofId": proof_id,
        "status": "proved",
        "proofType": proof.claim.proof_type,
        "tripleHash": statement.triple_hash,
        "expires": statement.expires,
        "establishes": meaning,
        "proof": proof.to_json(),
        "credentials": evidence_of(call.graph, proof.claim.commitments),
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
        "Prove, in zero knowledge, something of a value that the graph holds only a commitment to: that it lies in a "
        "range, is one of a set, equals another, or is known at all. The value stays with its holder."
    ),
    input_schema=_SCHEMA,
    permissions=("proofs:request",),
    budget=None,
    read_only=False,
    output_schema=_ANSWER,
    run=_run,
)
