"""`skill_request_zk_proof`: prove a property of a committed value without revealing the value.

Rules kept here:
- a request contains no value and no blinding factor: they come from the user's sealed store, and no result has them;
- every proof and every refusal reveals something about the value. A call therefore counts in the rate window and needs
  a permission, and the holder states which skills may use an opening;
- a proof is stored beside the record of its statement and returned whole, with the credentials: a verifier elsewhere
  needs nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from annotated_types import Ge, Le, Len, MaxLen
from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.operations.operation import Described
from cortex_skills.safe_io.display import json_text
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.value_types import Name, Value

Commitment = Annotated[str, Field(pattern="^pedersen:[A-Za-z0-9_-]{43}$")]
WholeNumber = (
    Annotated[int, Ge(-9223372036854775808), Le(18446744073709551615)]
    | Annotated[str, Field(pattern="^(0|-?[1-9][0-9]{0,19})$")]
)


class _Place(TypedDict):
    subject: Annotated[Name, Described("The subject of the committed value.")]
    predicate: Annotated[Name, Described("The predicate of the committed value.")]
    value: NotRequired[Annotated[Commitment, Described("The commitment, when there are several.")]]


class _Given(TypedDict):
    proofType: Annotated[
        Literal["schnorr", "equality", "membership", "range"],
        Described("The kind: a known secret, two equal values, a member of a set, a number in a range."),
    ]
    subject: Annotated[Name, Described("The subject of the statement that the proof is for.")]
    predicate: Annotated[Name, Described("Its predicate.")]
    object: NotRequired[Annotated[Value, Described("Its object; when left out, the statement with the commitment.")]]
    commitment: NotRequired[
        Annotated[_Place, Described("The triple with the commitment; when left out, the statement itself.")]
    ]
    equalTo: NotRequired[Annotated[_Place, Described("The triple with the other commitment (equality).")]]
    publicKey: NotRequired[
        Annotated[
            str,
            Field(pattern="^did:key:z[1-9A-HJ-NP-Za-km-z]{40,100}$"),
            Described("A key of the user instead of a commitment (schnorr)."),
        ]
    ]
    members: NotRequired[
        Annotated[
            list[Annotated[str, MaxLen(4096)] | int],
            Len(2, 64),
            Described("The set that the value is a member of (membership).", uniqueItems=True),
        ]
    ]
    minimum: NotRequired[Annotated[WholeNumber, Described("The lower bound of the number (range).")]]
    maximum: NotRequired[Annotated[WholeNumber, Described("The upper bound of the number (range).")]]
    nonce: NotRequired[Annotated[str, MaxLen(256), Described("A value of the verifier to bind into the proof.")]]
    expires: NotRequired[
        Annotated[
            str,
            Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"),
            Described("The end of the proof's validity; a day from now when left out."),
        ]
    ]
    metadata: NotRequired[
        Annotated[
            dict[str, Annotated[str, MaxLen(256)]],
            MaxLen(16),
            Described("Notes of the caller, which are returned. They are no part of the proof, and not stored."),
        ]
    ]


class ZkProofDetails(TypedDict):
    """The proof that was made."""

    proofId: Annotated[str, Described("The id under which it is stored.")]
    status: Literal["proved"]
    proofType: str
    tripleHash: Annotated[str, Described("The statement that it is for.")]
    expires: str
    establishes: Annotated[str, Described("What a valid proof establishes.")]
    proof: Annotated[dict[str, Any], Described("The proof itself, for a verifier anywhere.")]
    credentials: Annotated[list[dict[str, Any]], Described("The signatures of the commitments that this graph has.")]
    metadata: NotRequired[Annotated[dict[str, Any], Described("The notes of the caller.")]]


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
    input_schema=_Given,
    permissions=("proofs:request",),
    budget=None,
    profile="proofs",
    read_only=False,
    output_schema=ZkProofDetails,
    run=_run,
)
