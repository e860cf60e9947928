"""`skill_retract`: withdraw a statement that the calling agent asserted.

Rules kept here:
- an agent withdraws only statements whose record names it; a statement that has proofs, or needs one, only through the
  skill that asserted it;
- nothing is erased: the statement is no longer in answers, and its record and proofs stay, marked with who withdrew it
  and when; asserting it again makes it present again;
- retracting what is withdrawn already changes nothing.
"""

from __future__ import annotations

from cortex_graph.namespace.short_ids import full_triple_id
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.statement_changes import withdraw
from cortex_skills.features.graph.tools.triple_text import line_of
from cortex_skills.operations.run import run
from cortex_skills.policy.removals import is_withdrawn
from cortex_skills.tools.answer_sizes import LENGTH, with_short_object
from cortex_skills.tools.base import TRIPLE, Call, Outcome, Tool


def _run(call: Call) -> Outcome:
    graph = call.host.graph
    triple_id = full_triple_id(graph, call.arguments["tripleHash"])
    triple = graph.get_triple(triple_id)
    if triple is None:
        return _absent(call, triple_id)
    skill, semantic, host = call.skill.name, call.skill.semantic, call.host
    strict = host.config.strict_declarations
    is_withdrawn(triple, graph, skill, semantic, host.declared_predicates, strict=strict)  # or refuses
    given = {"triple": triple_id, "skill_version": semantic.skill_version}
    retracted = run(withdraw, call.asking, given, host)
    statement = with_short_object({key: triple[key] for key in ("subject", "predicate", "object")})
    text = f"Retracted: {line_of(statement, graph)}\nIts record stays, marked as withdrawn."
    return Outcome(text, {**statement, "tripleHash": triple_id, "retracted": retracted})


def _absent(call: Call, triple_id: str) -> Outcome:
    """The answer for a statement that is not in the graph.

    Raises:
        CortexError: `invalid_arguments`: it never was, as far as the records tell.
    """
    withdrawn = call.host.graph.withdrawals.of(triple_id)
    if not withdrawn:
        raise CortexError(
            "invalid_arguments",
            f"no statement of {call.host.graph.namespace} has the hash {triple_id}",
            hint="skill_assert returns the hash of a statement, and skill_graph_query that of each match (id)",
        )
    return Outcome("Already retracted.", {"tripleHash": triple_id, "retracted": False})


SKILL_RETRACT = Tool(
    name="skill_retract",
    description=(
        "Withdraw a statement that you asserted, by its hash. It is no longer in answers; who asserted it and who "
        "withdrew it stays on record. Asserting it again brings it back."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "tripleHash": {
                "type": "string",
                "pattern": "^[0-9a-f]{6,64}$",
                "description": "The hash that skill_assert returned, the id of a match, or its first six digits.",
            }
        },
        "required": ["tripleHash"],
        "additionalProperties": False,
    },
    permissions=("graph:write",),
    budget=None,
    read_only=False,
    destructive=True,
    output_schema={
        "type": "object",
        "properties": {
            **TRIPLE["properties"],
            "objectLength": LENGTH,
            "tripleHash": {"type": "string"},
            "retracted": {"type": "boolean", "description": "Whether it was in the graph until now."},
        },
        "required": ["tripleHash", "retracted"],
    },
    run=_run,
)
