"""Prompts: the instructions of each active skill, and the context that the skills declare."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types

from cortex_skills.runtime.skill import Skill

CONTEXT = "cortex_context"  # never the name of a skill: those have no underscore
NOTHING = "The active skills have no context yet."


def listed(skills: Mapping[str, Skill]) -> list[types.Prompt]:
    """The prompts of these active skills."""
    context = types.Prompt(name=CONTEXT, description="What the active skills know already: their declared queries.")
    bodies = [types.Prompt(name=name, description=s.manifest.description) for name, s in sorted(skills.items())]
    return [*bodies, context]


def prompt(text: str, description: str) -> types.GetPromptResult:
    """A text as a message of the user."""
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=description, messages=[message])
