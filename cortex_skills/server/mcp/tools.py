"""The tools as MCP lists and answers them.

Rules kept here:
- a tool is listed when a call of it can succeed: every active skill allows it, some active skill has the permissions,
  and the caller's token lets it;
- its input schema is the plugin's, and `skill` and `agent` beside it: the skills that may act, to be named when several
  are active;
- a failure is a result with `isError`, its code first in the text and in the structured content;
- a host may hand the structured content to a model: what is withheld from the text is not in it either, nor what a
  skill that fails says to a model by the message of its exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from cortex_skills.errors import CortexError
from cortex_skills.results import Result
from cortex_skills.server.mcp.caller import Caller
from cortex_skills.skill import Skill
from cortex_skills.tools import TOOLS, Tool
from cortex_skills.tools.offered import acting_for, annotations_of

_LEFT_OUT = "(left out: what the skill says here reads like an instruction)"
_AGENT = {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "description": "On whose behalf; the session's agent when left out.",
}


def listed(skills: Mapping[str, Skill], caller: Caller) -> list[types.Tool]:
    """The tools that a caller can use while these skills are active."""
    able = sum(skill.manifest.semantic is not None for skill in skills.values())
    found = []
    for tool in TOOLS.values():
        acting = acting_for(tool, skills)
        if acting and (tool.read_only or caller.may_write):
            found.append(_described(tool, acting, able, caller))
    return found


def refused(tool: str, caller: Caller) -> CortexError | None:
    """Why a caller may not use a tool at all; None when the gate decides."""
    known = TOOLS.get(tool)
    if known is None or known.read_only or caller.may_write:
        return None
    hint = "ask for a token that has the permission `write`"
    return CortexError("permission_denied", f"this token may not write, as {tool} does", hint=hint)


def answer(result: Result) -> types.CallToolResult:
    """The result of a call."""
    text = f"{result.code}: {result.text}" if result.is_error else result.text
    return types.CallToolResult(
        content=[types.TextContent(text=text)],
        structured_content=_for_a_model(result.details),
        is_error=result.is_error,
    )


def _for_a_model(details: dict[str, Any]) -> dict[str, Any]:
    """What a host may hand to a model: the details without the triples that are withheld from the text."""
    said = details.get("enrichment")
    if isinstance(said, dict) and said.get("status") == "failed":
        details = {**details, "enrichment": {**said, **_cleaned(said)}}
    withheld = details.get("withheld")
    if not withheld:
        return details
    shown = [triple for place, triple in enumerate(details["matches"]) if place not in withheld]
    return {**details, "matches": shown}


def _cleaned(failure: dict[str, Any]) -> dict[str, str]:
    """What a skill's exception says, and the line of its source, as far as they tell a model nothing to do."""
    from cortex_skills.proofs.wording import instructs

    texts = {key: failure[key] for key in ("message", "excerpt") if isinstance(failure.get(key), str)}
    return {key: _LEFT_OUT if instructs(text) else text for key, text in texts.items()}


def _described(tool: Tool, acting: list[str], active: int, caller: Caller) -> types.Tool:
    given = tool.input_schema
    skill: dict[str, Any] = {"enum": acting, "description": "The skill that acts."}
    required = list(given.get("required", ()))
    if caller.skill in acting:
        skill["default"] = caller.skill
    elif active > 1:
        required.append("skill")
    properties = {**given["properties"], "skill": skill}
    if caller.may_name_agent:
        properties["agent"] = _AGENT
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema={**given, "properties": properties, **({"required": required} if required else {})},
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations.model_validate(annotations_of(tool)),
    )
