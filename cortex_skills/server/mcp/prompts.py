"""Prompts: the instructions of each active skill, and what they want an agent to know before it starts."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types

from cortex_skills.skill import Skill

CONTEXT = "cortex_context"  # no skill is called so: their names have no underscore
NOTHING = "The active skills have nothing to tell yet."


def listed(skills: Mapping[str, Skill]) -> list[types.Prompt]:
    """The prompts while these skills are active."""
    context = types.Prompt(name=CONTEXT, description="What the active skills know already: their declared queries.")
    bodies = [types.Prompt(name=name, description=s.manifest.description) for name, s in sorted(skills.items())]
    return [*bodies, context]


def prompt(text: str, description: str) -> types.GetPromptResult:
    """A text as what the user says."""
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=description, messages=[message])
