"""`skill_memory_remember`: remember one fact for the calling agent.

Rules kept here:
- a memory belongs to the calling agent, and only that agent recalls it;
- a text that is remembered already stays as it is.
"""

from __future__ import annotations

from cortex_skills.features.memory.remembering import remember
from cortex_skills.features.memory.requests import MAX_TAG, MAX_TAGS, MAX_TEXT
from cortex_skills.operations.run import run
from cortex_skills.tools.base import Call, Outcome, Tool


def _run(call: Call) -> Outcome:
    given = call.arguments
    done = run(remember, call.asking, given, call.host)
    text = "Remembered." if done.created else "Remembered already."
    return Outcome(text, {"id": done.id, "created": done.created}, spent=int(done.created))


SKILL_MEMORY_REMEMBER = Tool(
    name="skill_memory_remember",
    description=(
        "Remember one fact for later conversations. skill_memory_context recalls it by its words, importance and age; "
        "only this agent sees it."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_TEXT,
                "description": "One fact, as a sentence that is clear without its context.",
            },
            "importance": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
            "tags": {
                "type": "array",
                "maxItems": MAX_TAGS,
                "items": {"type": "string", "minLength": 1, "maxLength": MAX_TAG},
                "description": "Words to find it by, beside those of the text.",
            },
        },
        "required": ["text"],
        "additionalProperties": False,
    },
    permissions=("memory:remember",),
    budget=None,
    read_only=False,
    output_schema={
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "created": {"type": "boolean", "description": "Whether it was not remembered before."},
        },
        "required": ["id", "created"],
    },
    run=_run,
)
