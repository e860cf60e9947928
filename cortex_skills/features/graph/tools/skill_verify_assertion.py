"""`skill_verify_assertion`: whether a statement is in the graph, and whether its record and its proofs are valid.

Rules kept here:
- each part has its own verdict; the whole is VERIFIED only when there are proofs and all of them are valid;
- a statement whose proofs applied the core rules only is `well-formed`, and NOT VERIFIED: no rule about its meaning was
  checked; the result names the rules that were (`rules`);
- a statement that was withdrawn is not in the graph, and NOT VERIFIED: the result has who withdrew it, and when;
- without an object, all statements of this subject and predicate are checked, up to a few;
- a named proof must be one of the statement's own;
- texts of a proof that read like instructions to a model are withheld.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cortex_skills.features.graph.given_terms import with_present_object
from cortex_skills.features.graph.tools.triple_text import line_of
from cortex_skills.safe_io.display import json_text
from cortex_skills.tools.answer_sizes import with_short_object
from cortex_skills.tools.base import NAME, VALUE, Call, Outcome, Tool

if TYPE_CHECKING:
    from cortex_skills.features.proofs.assertions import Part

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
    },
    "required": ["found", "verdict", "rules", "checks", "total"],
}


def _run(call: Call) -> Outcome:
    from datetime import UTC, datetime

    from cortex_skills.features.proofs.assertions import check_statements, rules_applied, verdict_of
    from cortex_skills.features.proofs.kinds import CheckContext

    pattern: dict[str, Any] = {
        key: call.arguments[key] for key in ("subject", "predicate", "object") if key in call.arguments
    }
    graph = call.host.graph
    pattern, note = with_present_object(graph, pattern)
    asked = CheckContext(datetime.now(UTC), call.host.config, graph, cancel=call.cancel)
    statements = check_statements(graph, pattern, asked, call.arguments.get("proofId"))
    lines, checks, rules = list[str](), list[dict[str, Any]](), set[str]()
    for triple, found_parts in statements.checked:
        parts = [replace(part, check=part.check.for_a_model()) for part in found_parts]
        rules |= set(rules_applied(parts))
        lines += [
            f"Found: {line_of(with_short_object(triple), graph)}",
            _VERDICTS[verdict_of(found_parts)],
            *map(_line, parts),
        ]
        checks += [{**part.to_json(), "tripleHash": triple["id"]} for part in parts]
    if statements.unchecked:
        lines.append(f"{statements.unchecked} more were not checked: give an object.")
    found = bool(statements.checked)
    for triple, found_part in statements.withdrawn:
        part = replace(found_part, check=found_part.check.for_a_model())
        lines += [
            f"Withdrawn: {line_of(with_short_object(triple), graph)}",
            "NOT VERIFIED (refuted): it is not in the graph any more.",
            _line(part),
        ]
        checks.append({**part.to_json(), "tripleHash": triple["id"]})
    if not lines:
        lines = ["Not found.", "NOT VERIFIED (not checked): there is nothing to verify."]
    if note:
        lines.append(note)
    details = {
        "found": found,
        "verdict": statements.verdict.value,
        "rules": sorted(rules),
        "checks": checks,
        "withdrawn": [triple["id"] for triple, _ in statements.withdrawn],
        "total": statements.total,
    }
    return Outcome("\n".join(lines), details)


def _line(part: Part) -> str:
    check = part.check
    name = check.part if part.proof is None else f"{part.kind} {part.proof[:12]} {check.part}"
    text = "; ".join(check.reasons) or f"{check.establishes}; not {check.does_not_establish}"
    return f"- {name}: {check.verdict.value}. {json_text(text)[1:-1]}"


_VERDICTS = {
    "verified": "VERIFIED: every proof of it is valid.",
    "well-formed": "NOT VERIFIED (well-formed): it obeys the core rules, and no rules of a skill or of the namespace "
    "were checked.",
    "not checked": "NOT VERIFIED (not checked): it has no proof, or not all of it could be checked.",
    "refuted": "NOT VERIFIED (refuted): its record or a proof of it is not valid.",
}


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
