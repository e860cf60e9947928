"""`search_index`: the memories of the calling agent that fit a query.

Rules kept here:
- only the calling agent's own memories are found, those that fit best first;
- `coverage` is the weight of the query's words that a memory has; `similarity` is that of the meanings, and only there
  with an embedder. `minSimilarity` compares with the greater of the two;
- it needs the permission `memory:recall`, as the tool that recalls memories does.
"""

from __future__ import annotations

from typing import Any

from cortex_graph.checks.datetimes import date_time
from cortex_skills.features.actions.action import ActionCall, AgentAction
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.features.memory.remembering import recall
from cortex_skills.features.memory.requests import MAX_LIMIT, MAX_QUERY

_RESULT = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "content": {"type": "string"},
        "coverage": {"type": "number"},
        "similarity": {"type": "number"},
        "timestamp": {"type": "string"},
    },
    "required": ["id", "content", "timestamp"],
    "additionalProperties": False,
}

MANIFEST = ActionManifest.of(
    {
        "id": "search_index",
        "name": "Search memories",
        "description": "Find memories of this agent that fit a query, by words and meaning, the best first.",
        "category": "memory",
        "inputs": {
            "query": {
                "type": "string",
                "required": True,
                "description": "What the memories are about.",
                "schema": {"minLength": 1, "maxLength": MAX_QUERY},
            },
            "limit": {
                "type": "integer",
                "description": "How many at most.",
                "schema": {"minimum": 1, "maximum": MAX_LIMIT, "default": 10},
            },
            "minSimilarity": {
                "type": "number",
                "description": "The least similarity of the meaning or weight of the words: 0 to 1.",
                "schema": {"minimum": 0, "maximum": 1, "default": 0.15},
            },
        },
        "outputs": {
            "results": {"type": "array", "required": True, "schema": {"items": _RESULT}},
            "count": {"type": "integer", "required": True},
        },
        "risk": "low",
        "cost": "expensive",
        "minTrustLevel": "observe",
    }
)


def _run(call: ActionCall) -> dict[str, Any]:
    given = call.inputs
    if not (text := given["query"].strip()):
        return {"results": [], "count": 0}
    wanted = {"text": text, "limit": given["limit"], "min_importance": 0.0, "timeout_s": call.left_s}
    recalled = call.operate(recall, {**wanted, "min_fit": given["minSimilarity"]})
    fitting = sorted(recalled.found, key=lambda pair: (-pair[1].fit, -pair[0].time.timestamp(), pair[0].id))
    results = [
        {"id": memory.id, "content": memory.text, "timestamp": date_time(memory.time), **scored.absolute()}
        for memory, scored in fitting
    ]
    return {"results": results, "count": len(results)}


SEARCH_INDEX = AgentAction(MANIFEST, _run, read_only=True, permissions=("memory:recall",))
