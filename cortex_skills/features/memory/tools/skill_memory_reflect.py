"""`skill_memory_reflect`: remember what the calling agent concludes from memories of its own.

Rules kept here:
- a reflection is one deeper than its deepest source, and at most three deep;
- it is recalled like every memory, by the calling agent only.
"""

from __future__ import annotations

from cortex_skills.features.memory.remembering import reflect
from cortex_skills.features.memory.requests import MAX_SOURCES
from cortex_skills.features.memory.tools.skill_memory_remember import SKILL_MEMORY_REMEMBER
from cortex_skills.operations.run import run
from cortex_skills.tools.base import Call, Outcome, Tool

MEMORY_ID = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_GIVEN = SKILL_MEMORY_REMEMBER.input_schema["properties"]


def _run(call: Call) -> Outcome:
    given = call.arguments
    done = run(reflect, call.asking, given, call.host)
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
    input_schema={
        "type": "object",
        "properties": {
            "text": {
                **_GIVEN["text"],
                "description": "The conclusion, as a sentence that is clear without its context.",
            },
            "reflects_on": {
                "type": "array",
                "items": MEMORY_ID,
                "minItems": 1,
                "maxItems": MAX_SOURCES,
                "uniqueItems": True,
                "description": "The ids of the memories that it follows from.",
            },
            "importance": _GIVEN["importance"],
            "tags": _GIVEN["tags"],
        },
        "required": ["text", "reflects_on"],
        "additionalProperties": False,
    },
    permissions=("memory:recall", "memory:remember"),
    budget=None,
    profile="registry",
    read_only=False,
    output_schema={
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "created": {"type": "boolean", "description": "Whether it was not remembered before."},
            "depth": {"type": "integer"},
            "reflectsOn": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["id", "created", "depth", "reflectsOn"],
    },
    run=_run,
)
