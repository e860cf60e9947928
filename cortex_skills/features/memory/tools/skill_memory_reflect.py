"""`skill_memory_reflect`: remember what the calling agent concludes from memories of its own.

Rules kept here:
- a reflection is one deeper than its deepest source, and at most three deep;
- it is recalled like every memory, by the calling agent only.
"""

from __future__ import annotations

from typing import Annotated, Any

from typing_extensions import TypedDict

from cortex_skills.features.memory.remembering import reflect
from cortex_skills.operations.operation import Described
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.operation_tools import arguments_of


class ReflectDetails(TypedDict):
    """The reflection that was remembered."""

    id: str
    created: Annotated[bool, Described("Whether it was not remembered before.")]
    depth: int
    reflectsOn: list[str]


def _arguments() -> dict[str, Any]:
    """Those of the operation, whose names have more than one word as they are."""
    schema = arguments_of(reflect, ("agent",))
    names = {"reflectsOn": "reflects_on"}
    properties = {names.get(name, name): member for name, member in schema["properties"].items()}
    return {**schema, "properties": properties, "required": [names.get(name, name) for name in schema["required"]]}


def _run(call: Call) -> Outcome:
    given = call.arguments
    done = call.operate(reflect, given)
    memory, created = done.memory, done.created
    text = f"{'Remembered' if created else 'Remembered already'}, as a reflection of depth {memory.depth}."
    details = {"id": memory.id, "created": created, "depth": memory.depth, "reflectsOn": list(memory.reflects_on)}
    return Outcome(text, details, spent=int(created))


SKILL_MEMORY_REFLECT = Tool(
    name="skill_memory_reflect",
    description=(
        "Remember what you conclude from memories of your own: a reflection. It is at most three levels away from "
        "what was observed, and can become a skill (memory_skill_promote_from_reflection)."
    ),
    input_schema=_arguments,
    permissions=("memory:recall", "memory:remember"),
    budget=None,
    profile="registry",
    read_only=False,
    output_schema=ReflectDetails,
    run=_run,
)
