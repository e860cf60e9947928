"""`skill_assert`: write one statement to the namespace, with a record of who asserted it.

Rules kept here:
- only what the manifest declares may be asserted; what needs a proof is not written without one, and a caller cannot
  switch that off;
- the statement and its provenance are written together or not at all;
- asserting again what is there is no error: `created` is false, the hash is the same, and no slot is used up.
"""

from __future__ import annotations

from typing import Any

from cortex_graph import Provenance
from cortex_skills.policy import check_may_write, needs_proof
from cortex_skills.tools.arguments import NAME, TRIPLE, VALUE
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.triples import line_of

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {**NAME, "description": "What the statement is about."},
        "predicate": {**NAME, "description": "One of the predicates that the skill declares."},
        "object": {**VALUE, "description": 'The value, or another thing: {"node": "name"}.'},
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
        "verified": {"type": "boolean"},
        "created": {"type": "boolean", "description": "Whether the statement is new."},
    },
    "required": [*TRIPLE["required"], "tripleHash", "verified", "created"],
}


def _run(call: Call) -> Outcome:
    arguments = call.arguments
    predicate = arguments["predicate"]
    semantic = call.skill.semantic
    check_may_write(predicate, call.skill.name, semantic, call.graph.names, strict=call.strict_declarations)
    if arguments.get("requireProof") or "proofType" in arguments:
        raise needs_proof(predicate)
    provenance = Provenance(skill=call.skill.name, skill_version=semantic.skill_version, agent=call.agent)
    triple = call.graph.create_triple(
        {key: arguments[key] for key in ("subject", "predicate", "object")}, provenance=provenance
    )
    created = triple["created"]
    details = {
        "subject": triple["subject"],
        "predicate": triple["predicate"],
        "object": triple["object"],
        "tripleHash": triple["id"],
        "verified": False,
        "created": created,
    }
    verb = "Asserted" if created else "Already asserted"
    return Outcome(f"{verb}: {line_of(triple)}\nhash {triple['id']}", details, spent=created)


SKILL_ASSERT = Tool(
    name="skill_assert",
    description=(
        "Assert a statement in the knowledge graph of this namespace on behalf of the acting skill. Only predicates "
        "that the skill declares can be asserted; repeating an assertion changes nothing."
    ),
    input_schema=_SCHEMA,
    permissions=("graph:write",),
    budget="assertion",
    read_only=False,
    output_schema=_ANSWER,
    run=_run,
)
