"""Actions as tools: how they are named, listed and called.

Rules kept here:
- an action is called like any tool, and only the gate runs it: the tool itself refuses;
- a model is offered the tools of installed artifacts with the profile `core`, for a user installed them for that;
- every active skill must allow it, and the acting one needs its permissions; the gate checks the trust level.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn

from cortex_skills.features.actions.action import AgentAction
from cortex_skills.features.artifacts.tools.artifact_action import ArtifactAction
from cortex_skills.tools.base import Call, Tool

_OPEN = frozenset({"network", "agent", "shell"})


@lru_cache(maxsize=1024)
def tool_of(action: AgentAction) -> Tool:
    """The tool of an action."""
    manifest = action.manifest
    return Tool(
        name=manifest.id,
        description=manifest.description.strip(),
        input_schema=manifest.input_schema(),
        output_schema=_details(manifest.output_schema()),
        permissions=action.permissions,
        budget=None,
        run=_refuse,
        read_only=action.read_only,
        destructive=not action.read_only,
        idempotent=action.read_only,
        open_world=manifest.category in _OPEN or (isinstance(action, ArtifactAction) and not action.read_only),
        profile="core" if isinstance(action, ArtifactAction) else "operator",
        action=action,
    )


def _refuse(_: Call) -> NoReturn:
    raise RuntimeError("an action runs through the steps of the gate only")


def _details(outputs: dict[str, Any]) -> dict[str, Any]:
    """The schema of the details: the outputs, or the request that waits."""
    return {
        "type": "object",
        "properties": {
            "action": {"type": "string"},
            "status": {"type": "string", "description": "`done`, or `pending_approval`."},
            "outputs": {**outputs, "required": [], "description": "What it answered, cleaned."},
            "approval": {"type": "string", "description": "The id of the request that waits for a person."},
            "strippedCount": {"type": "integer"},
            "notJudgedCount": {"type": "integer"},
        },
        "required": ["action", "status"],
    }
