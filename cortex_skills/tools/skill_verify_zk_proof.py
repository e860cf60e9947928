"""`skill_verify_zk_proof`: what holds of a zero-knowledge proof, part by part.

Rules kept here:
- a proof is named by its id, or shown: exactly one of the two. One that is shown needs nothing of this graph;
- the verdict is `verified` only when every part is: the mathematics, the expiry, the statement, the nonce where one was
  asked for, and the anchor of each commitment;
- what it establishes and what it does not is said with it.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.escaping import json_text
from cortex_skills.tools.base import Call, Outcome, Tool

_MAX_CREDENTIALS = 16

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "proofId": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256,
            "description": "A proof that is kept in this namespace; or `proof`.",
        },
        "proof": {"type": "object", "description": "The proof itself, wherever it was made; or `proofId`."},
        "credentials": {
            "type": "array",
            "items": {"type": "object"},
            "maxItems": _MAX_CREDENTIALS,
            "description": "Who signed its commitments, beside the credentials that the graph has.",
        },
        "nonce": {"type": "string", "maxLength": 256, "description": "What the prover was asked to bind in."},
        "tripleHash": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "The statement that it must be for; whichever it names when left out.",
        },
    },
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"enum": ["verified", "refuted", "not_evaluated"]},
        "anchored": {
            "type": "boolean",
            "description": "Whether issuers that are trusted here signed every commitment; true where there is none.",
        },
        "checks": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Each part: `part`, `verdict`, `establishes`, `doesNotEstablish`, `reasons`.",
        },
        "proofType": {"type": ["string", "null"]},
        "statement": {"type": ["object", "null"], "description": "What the proof speaks of."},
        "claim": {"type": ["object", "null"], "description": "What it claims."},
    },
    "required": ["verdict", "anchored", "checks", "proofType", "statement", "claim"],
}


def _run(call: Call) -> Outcome:
    from cortex_skills.proofs.verdict import Verdict
    from cortex_skills.proofs.zk.requesting import utc_now
    from cortex_skills.proofs.zk.service import verify

    checks, proof = verify(call.arguments, call.graph, call.config, now=utc_now(), stop=call.stop)
    checks = [check.for_a_model() for check in checks]
    verdict = Verdict.of_all(check.verdict for check in checks)
    anchors = [check for check in checks if check.part == "anchor"]
    anchored = (
        proof is not None
        and len(anchors) == len(proof.claim.commitments)
        and all(check.verdict is Verdict.VERIFIED for check in anchors)
    )
    details = {
        "verdict": verdict.value,
        "anchored": anchored,
        "checks": [check.to_json() for check in checks],
        "proofType": proof and proof.claim.proof_type,
        "statement": proof and proof.statement.to_json(),
        "claim": proof and proof.claim.to_json(),
    }
    lines = [{"verified": "VERIFIED", "refuted": "REFUTED", "not_evaluated": "NOT EVALUATED"}[verdict.value]]
    for check in checks:
        if check.verdict is Verdict.VERIFIED:
            told = f"{check.establishes}. It does not establish {check.does_not_establish}."
        else:
            told = "; ".join(check.reasons)
        lines.append(f"{check.part}, {check.verdict.value}: {json_text(told)[1:-1]}")
    return Outcome("\n".join(lines), details)


SKILL_VERIFY_ZK_PROOF = Tool(
    name="skill_verify_zk_proof",
    description=(
        "Check a zero-knowledge proof, by its id or from the proof itself, and say what it establishes and what not. "
        "A proof about a commitment counts only when an issuer who is trusted here signed the commitment."
    ),
    input_schema=_SCHEMA,
    permissions=("proofs:verify",),
    budget=None,
    rate_limited=False,
    output_schema=_ANSWER,
    run=_run,
)
