"""`skill_retract`: withdraw a statement that the calling agent asserted.

Rules kept here:
- what may be withdrawn is decided by the operation (`statement_changes.py`); asserting it again makes it present again;
- retracting what is withdrawn already changes nothing, and is no error.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.graph.acting_skill import ActingSkill
from cortex_skills.features.graph.statement_changes import withdraw
from cortex_skills.features.graph.triple_text import line_of
from cortex_skills.operations.operation import Described
from cortex_skills.tools.answer_sizes import with_short_object
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.value_types import Object, ObjectLength


class _Given(TypedDict):
    tripleHash: Annotated[
        str,
        Field(
            pattern="^[0-9a-f]{6,64}$",
            description="The hash that skill_assert returned, the id of a match, or its first six digits.",
        ),
    ]


class RetractDetails(TypedDict):
    """The statement that was withdrawn."""

    subject: NotRequired[str]
    predicate: NotRequired[str]
    object: NotRequired[Object]
    objectLength: NotRequired[ObjectLength]
    tripleHash: str
    retracted: Annotated[bool, Described("Whether it was in the graph until now.")]


def _run(call: Call) -> Outcome:
    given = {"triple": call.arguments["tripleHash"], "acting": ActingSkill.of(call.skill, call.active)}
    try:
        triple = call.operate(withdraw, given)
    except CortexError as error:
        if error.code == "not_found" and error.details["withdrawn"]:
            return Outcome("Already retracted.", {"tripleHash": error.details["tripleHash"], "retracted": False})
        raise
    statement = with_short_object({key: triple[key] for key in ("subject", "predicate", "object")})
    text = f"Retracted: {line_of(statement, call.host.graph)}\nIts record stays, marked as withdrawn."
    return Outcome(text, {**statement, "tripleHash": triple["id"], "retracted": True})


SKILL_RETRACT = Tool(
    name="skill_retract",
    description=(
        "Withdraw a statement that you asserted, by its hash. It is no longer in answers; who asserted it and who "
        "withdrew it stays on record. Asserting it again brings it back."
    ),
    input_schema=_Given,
    permissions=("graph:write",),
    budget=None,
    read_only=False,
    destructive=True,
    output_schema=RetractDetails,
    run=_run,
)
