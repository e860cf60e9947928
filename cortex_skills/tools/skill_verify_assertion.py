"""`skill_verify_assertion`: whether a statement is in the graph, and what holds of what it carries.

Rules kept here:
- it is told of each part what came of it; the whole is VERIFIED only when there are proofs and all of them hold;
- without an object, the statements of this subject and predicate are all looked at, up to a few;
- a proof that is named has to be one of the statement's own;
- what a proof says of itself tells a model nothing to do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cortex_skills.escaping import json_text
from cortex_skills.tools.arguments import NAME, VALUE
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.triples import line_of

if TYPE_CHECKING:
    from cortex_skills.proofs.assertions import Part

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "What the statement is about."},
        "predicate": {**NAME, "description": "What it says of it."},
        "object": {**VALUE, "description": 'The value, or another thing: {"node": "name"}; any when left out.'},
        "proofId": {
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "description": "The one proof to check; every proof of it when left out.",
        },
    },
    "required": ["subject", "predicate"],
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "found": {"type": "boolean", "description": "Whether the statement is in the graph."},
        "verdict": {"enum": ["verified", "refuted", "not_evaluated"]},
        "checks": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Each part of it: `part`, `verdict`, `establishes`, `doesNotEstablish`, `reasons`, "
            "`tripleHash`, and `proofId` and `kind` for a part of a proof.",
        },
        "total": {"type": "integer", "description": "How many statements fit; at most ten are checked."},
    },
    "required": ["found", "verdict", "checks", "total"],
}


def _run(call: Call) -> Outcome:
    from datetime import UTC, datetime

    from cortex_skills.proofs.assertions import check_statements, verdict_of
    from cortex_skills.proofs.kinds import Asked

    pattern: dict[str, Any] = {
        key: call.arguments[key] for key in ("subject", "predicate", "object") if key in call.arguments
    }
    asked = Asked(datetime.now(UTC), call.config, call.graph, stop=call.stop)
    statements = check_statements(call.graph, pattern, asked, call.arguments.get("proofId"))
    lines, checks = [], []
    for triple, found_parts in statements.checked:
        parts = [replace(part, check=part.check.for_a_model()) for part in found_parts]
        lines += [f"Found: {line_of(triple)}", _TOLD[verdict_of(parts)], *map(_line, parts)]
        checks += [{**part.to_json(), "tripleHash": triple["id"]} for part in parts]
    if statements.unchecked:
        lines.append(f"{statements.unchecked} more were not looked at: give an object.")
    found = bool(statements.checked)
    if not found:
        lines = ["Not found.", "NOT VERIFIED: there is nothing to verify."]
    verdict = statements.verdict.value
    return Outcome("\n".join(lines), {"found": found, "verdict": verdict, "checks": checks, "total": statements.total})


def _line(part: Part) -> str:
    check = part.check
    name = check.part if part.proof is None else f"{part.kind} {part.proof[:12]} {check.part}"
    told = "; ".join(check.reasons) or f"{check.establishes}; not {check.does_not_establish}"
    return f"- {name}: {check.verdict.value}. {json_text(told)[1:-1]}"


_TOLD = {
    "verified": "VERIFIED: every proof that it carries holds.",
    "refuted": "NOT VERIFIED: something that it carries does not hold.",
    "not_evaluated": "NOT VERIFIED: it carries no proof, or not all of it could be checked.",
}


SKILL_VERIFY_ASSERTION = Tool(
    name="skill_verify_assertion",
    description=(
        "Check whether a statement is in the graph and what holds of what it carries: its record, and each of its "
        "proofs. Says VERIFIED only when it has proofs and all of them hold."
    ),
    input_schema=_SCHEMA,
    permissions=("graph:read", "proofs:verify"),
    budget=None,
    output_schema=_ANSWER,
    run=_run,
)
