"""`skill_verify_assertion`: `graph.verify` for agents."""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from cortex_skills.features.graph.looking.statement_checks import VerifiedStatements, verify
from cortex_skills.operations.operation import Described
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.value_types import Name, Value


class _Given(TypedDict):
    subject: Annotated[Name, Described("The thing that the statement is about.")]
    predicate: Annotated[Name, Described("The predicate of the statement.")]
    object: NotRequired[Annotated[Value, Described('A value, or another thing: {"node": "name"}; any when left out.')]]
    proofId: NotRequired[Annotated[Name, Described("The only proof to check; every proof when left out.")]]


def _run(call: Call) -> Outcome:
    answer = call.operate(verify, verify.by_name(call.arguments)).for_a_model()
    return Outcome(answer.text(), {**answer.document()})


SKILL_VERIFY_ASSERTION = Tool(
    name="skill_verify_assertion",
    description=(
        "Check whether a statement is in the graph, and whether its record and each of its proofs are valid. The "
        "result is VERIFIED only when it has proofs, all of them are valid, and they checked more than its form."
    ),
    input_schema=_Given,
    permissions=("graph:read", "proofs:verify"),
    budget=None,
    profile="proofs",
    output_schema=VerifiedStatements,
    run=_run,
)
