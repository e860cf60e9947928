"""`skill_assert`: write one statement to the namespace, with a record of who asserted it.

Rules kept here:
- only declared predicates may be asserted; a statement that needs a proof is not written without one, and neither a
  caller nor another skill can switch that off;
- a required proof applies the rules of every active skill that requires it, beside those of the acting skill;
- the statement, its provenance and its proof are written together or not at all; a statement that the rules refuse is
  not written;
- repeating an assertion is not an error: `created` is false, the hash is the same, and no slot is used or needed,
  unless a proof was added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cortex_graph import Provenance
from cortex_skills.policy.permissions import check_may_assert, check_permissions, needs_proof
from cortex_skills.tools.base import NAME, TRIPLE, VALUE, Call, Outcome, Tool
from cortex_skills.tools.triple_text import line_of

if TYPE_CHECKING:
    from cortex_skills.proofs.logic.rule_set import RuleSet

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "The thing that the statement is about."},
        "predicate": {**NAME, "description": "One of the predicates that the skill declares."},
        "object": {**VALUE, "description": 'A value, or another thing: {"node": "name"}.'},
        "requireProof": {"type": "boolean", "description": "Write nothing unless it can be proved."},
        "proofType": {"enum": ["pol"], "description": "The kind of proof."},
    },
    "required": ["subject", "predicate", "object"],
    "additionalProperties": False,
}

_ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        **TRIPLE["properties"],
        "tripleHash": {"type": "string"},
        "proofHash": {"type": "string", "description": "The id of the proof, when one was required."},
        "verified": {"type": "boolean", "description": "Whether the rules were checked and passed."},
        "created": {"type": "boolean", "description": "Whether the statement is new."},
    },
    "required": [*TRIPLE["required"], "tripleHash", "verified", "created"],
}


def _run(call: Call) -> Outcome:
    triple, provenance, needs_proof = _checked(call)
    if not needs_proof:
        return _answered(call.host.graph.create_triple(triple, provenance=provenance))
    others = _rules_of_others(call, triple["predicate"])
    proved = call.host.prover.assert_proved(triple, provenance, call.skill.rules, call.cancel, others=others)
    return _answered(proved.triple, proved.proof, added=proved.added)


def _repeated(call: Call) -> Outcome | None:
    triple, provenance, needs_proof = _checked(call)
    graph, proof = call.host.graph, None
    quad = graph.quad_of(triple)
    if not graph.store.contains(quad):
        return None
    if needs_proof:
        others = _rules_of_others(call, triple["predicate"])
        proof = call.host.prover.valid_proof(quad, provenance, call.skill.rules, call.cancel, others=others)
        if proof is None:
            return None
    return _answered({**graph.as_json(quad), "created": False}, proof)


def _checked(call: Call) -> tuple[dict[str, Any], Provenance, bool]:
    """The statement, its source, and whether it needs a proof, when the skill may assert it."""
    arguments = call.arguments
    skill, semantic, host = call.skill.name, call.skill.semantic, call.host
    predicate, strict = arguments["predicate"], host.config.strict_declarations
    required = check_may_assert(predicate, skill, semantic, host.declared_predicates, host.graph.names, strict=strict)
    provenance = Provenance(skill=skill, skill_version=semantic.skill_version, agent=call.agent)
    triple = {key: arguments[key] for key in ("subject", "predicate", "object")}
    return triple, provenance, bool(required or arguments.get("requireProof") or "proofType" in arguments)


def _rules_of_others(call: Call, predicate: str) -> list[RuleSet]:
    """The rules of the active skills that require a proof of the predicate, when a proof can be made."""
    check_permissions(["proofs:request"], call.skill.manifest, "a proof")
    prover = call.host.prover
    if not prover.is_on:
        raise needs_proof(predicate, "switch verification.polValidation on, or assert without a proof")
    requiring = [call.active.get(name) for name in call.host.declared_predicates.skills(predicate)]
    return [skill.rules for skill in requiring if skill is not None and skill.rules is not None]


def _answered(triple: dict[str, Any], proof: str | None = None, *, added: bool = False) -> Outcome:
    created = triple["created"]
    details = {
        "subject": triple["subject"],
        "predicate": triple["predicate"],
        "object": triple["object"],
        "tripleHash": triple["id"],
        "verified": proof is not None,
        "created": created,
    }
    verb = "Asserted" if created else "Already asserted"
    text = f"{verb}: {line_of(triple)}\nhash {triple['id']}"
    if proof is not None:
        details["proofHash"] = proof
        text += f"\nproof {proof}"
    return Outcome(text, details, spent=int(created or added))


SKILL_ASSERT = Tool(
    name="skill_assert",
    description=(
        "Assert a statement in the knowledge graph of this namespace on behalf of the acting skill. Only predicates "
        "that the skill declares can be asserted; repeating an assertion changes nothing."
    ),
    input_schema=_SCHEMA,
    permissions=("graph:write",),
    budget="assertion",
    repeated=_repeated,
    read_only=False,
    output_schema=_ANSWER,
    run=_run,
)
