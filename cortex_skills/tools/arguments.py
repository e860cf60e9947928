"""JSON Schemas of the arguments that several tools take.

Rules kept here:
- a schema is tight: what it lets through, the graph can say what is wrong with in words.
"""

from __future__ import annotations

from typing import Any

NAME: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 4096}
VALUE: dict[str, Any] = {
    "anyOf": [
        {"type": ["string", "number", "boolean"]},
        {
            "type": "object",
            "properties": {"node": NAME},
            "required": ["node"],
            "additionalProperties": False,
        },
    ]
}
# A triple of an answer: its subject and predicate are names, its object a value or {"node": name}.
TRIPLE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {"type": "string"},
        "predicate": {"type": "string"},
        "object": {"type": ["string", "number", "boolean", "object"]},
    },
    "required": ["subject", "predicate", "object"],
}
# The same in an answer of many, where a client checks each: what there is, and not of what kind.
MATCH: dict[str, Any] = {"type": "object", "required": ["subject", "predicate", "object"]}
