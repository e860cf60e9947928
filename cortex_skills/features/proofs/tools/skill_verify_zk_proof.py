"""`skill_verify_zk_proof`: verify a zero-knowledge proof, part by part.

Rules kept here:
- a call has either the id of a proof or the proof itself. The latter needs nothing of this graph;
- the verdict is `verified` only when every part is: the mathematics, the expiry, the statement, the nonce when one was
  passed, and the anchor of each commitment;
- the result states what the proof establishes and what it does not.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Len, MaxLen
from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.features.proofs.zk_verification import verify_zk
from cortex_skills.operations.operation import Described
from cortex_skills.safe_io.display import json_text
from cortex_skills.tools.base import Call, Outcome, Tool

_MAX_CREDENTIALS = 16


class _Given(TypedDict, total=False):
    proofId: Annotated[str, Len(1, 256), Described("A proof that is stored in this namespace; or `proof`.")]
    proof: Annotated[dict[str, Any], Described("The proof itself, made anywhere; or `proofId`.")]
    credentials: Annotated[
        list[dict[str, Any]],
        MaxLen(_MAX_CREDENTIALS),
        Described("Signatures of its commitments, beside the credentials in the graph."),
    ]
    nonce: Annotated[str, MaxLen(256), Described("The value that the proof must be bound to.")]
    tripleHash: Annotated[
        str, Field(pattern="^[0-9a-f]{64}$"), Described("The statement that it must be for; any when left out.")
    ]


class ZkVerificationDetails(TypedDict):
    """The verdict on a proof."""

    verdict: Literal["verified", "not checked", "refuted"]
    anchored: Annotated[bool, Described("Whether trusted issuers signed every commitment; true when there is none.")]
    checks: Annotated[
        list[dict[str, Any]],
        Described("Each part: `part`, `verdict`, `establishes`, `doesNotEstablish`, `reasons`."),
    ]
    proofType: str | None
    statement: Annotated[dict[str, Any] | None, Described("The statement that the proof is for.")]
    claim: Annotated[dict[str, Any] | None, Described("The property that it proves.")]


def _run(call: Call) -> Outcome:
    from cortex_skills.features.proofs.verdict import Verdict

    found = call.operate(verify_zk, {"asked": call.arguments})
    checks, proof = [check.for_a_model() for check in found.checks], found.proof
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
    lines = [verdict.value.upper()]
    for check in checks:
        if check.verdict is Verdict.VERIFIED:
            text = f"{check.establishes}. It does not establish {check.does_not_establish}."
        else:
            text = "; ".join(check.reasons)
        lines.append(f"{check.part}, {check.verdict.value}: {json_text(text)[1:-1]}")
    return Outcome("\n".join(lines), details)


SKILL_VERIFY_ZK_PROOF = Tool(
    name="skill_verify_zk_proof",
    description=(
        "Verify a zero-knowledge proof by its id or from the proof itself; the result states what it establishes and "
        "what not. A proof about a commitment is verified only when a trusted issuer signed the commitment."
    ),
    input_schema=_Given,
    permissions=("proofs:verify",),
    budget=None,
    profile="proofs",
    rate_limited=False,
    output_schema=ZkVerificationDetails,
    run=_run,
)
