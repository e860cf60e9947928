"""`skill_memory_remember`: remember one fact for the calling agent.

Rules kept here:
- a memory belongs to the calling agent, and only that agent recalls it;
- a text that is remembered already stays as it is.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

from typing_extensions import TypedDict

from cortex_skills.features.memory.remembering import remember
from cortex_skills.operations.operation import Described
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.operation_tools import arguments_of


class RememberDetails(TypedDict):
    """The memory."""

    id: str
    created: Annotated[bool, Described("Whether it was not remembered before.")]


def _run(call: Call) -> Outcome:
    given = call.arguments
    done = call.operate(remember, given)
    text = "Remembered." if done.created else "Remembered already."
    return Outcome(text, {"id": done.id, "created": done.created}, spent=int(done.created))


SKILL_MEMORY_REMEMBER = Tool(
    name="skill_memory_remember",
    description=(
        "Remember one fact for later conversations. skill_memory_context recalls it by its words, importance and age; "
        "only this agent sees it."
    ),
    input_schema=partial(arguments_of, remember, ("agent",)),
    permissions=("memory:remember",),
    budget=None,
    read_only=False,
    output_schema=RememberDetails,
    run=_run,
)
