"""`skill_verify_assertion`: `graph.verify` for agents."""

from __future__ import annotations

from typing import Any

from cortex_skills.features.graph.looking.statement_checks import verify
from cortex_skills.tools.base import NAME, VALUE, Call, Outcome, Tool

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "The thing that the statement is about."},
        "predicate": {**NAME, "description": "The predicate of the statement."},
        "object": {**VALUE, "description": 'A value, or another thing: {"node": "name"}; any when left out.'},
        "proofId": {
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "description": "The only proof to check; every proof when left out.",
        },
    },
    "required": ["subject", "predicate"],
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "found": {"type": "boolean", "description": "Whether the statement is in the graph."},
        "verdict": {"enum": ["verified", "well-formed", "not checked", "refuted"]},
        "rules": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The rule sets that its Proofs of Logic were checked with: `core` alone says that the "
            "statement is well-formed, and nothing of its meaning.",
        },
        "checks": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Each part: `part`, `verdict`, `establishes`, `doesNotEstablish`, `reasons`, "
            "`tripleHash`, and `proofId` and `kind` for a part of a proof.",
        },
        "withdrawn": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The hashes of the matching statements that were withdrawn; their `presence` has by whom.",
        },
        "total": {"type": "integer", "description": "How many statements match; at most ten are checked."},
        "partsLeftOut": {"type": "integer", "description": "Parts that were checked, and would make this too long."},
    },
    "required": ["found", "verdict", "rules", "checks", "total"],
}


def _run(call: Call) -> Outcome:
    answer = call.operate(verify, verify.by_name(call.arguments)).for_a_model()
    return Outcome(answer.text(), {**answer.document()})


SKILL_VERIFY_ASSERTION = Tool(
    name="skill_verify_assertion",
    description=(
        "Check whether a statement is in the graph, and whether its record and each of its proofs are valid. The "
        "result is VERIFIED only when it has proofs, all of them are valid, and they checked more than its form."
    ),
    input_schema=_SCHEMA,
    permissions=("graph:read", "proofs:verify"),
    budget=None,
    profile="proofs",
    output_schema=_ANSWER,
    run=_run,
)
