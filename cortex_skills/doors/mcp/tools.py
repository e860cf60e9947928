"""Tools as MCP lists and answers them.

Rules kept here:
- a tool is listed if it is of a configured profile and a call of it can succeed: every active skill allows it, an
  active skill has the permissions, and the caller's token allows it;
- its input schema is the plugin's with `agent`, and with `skill` if several are active: it lists those that may
  act, and is required;
- a failure is a result with `isError`; its code is in the text and in the structured content;
- an answer is not longer than hosts take (`long_answers`);
- a host may show the structured content to a model, so it holds nothing that is withheld from the text; a tool whose
  text has all of the answer has no structured content, so that no host shows both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import mcp_types as types

from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.errors import CortexError
from cortex_skills.gate.long_answers import shortened
from cortex_skills.gate.result import Result
from cortex_skills.host import ToolSource
from cortex_skills.runtime.skill import Skill
from cortex_skills.tools import Tool, all_tools, tool_named
from cortex_skills.tools.model_names import MAX_NAME, model_name
from cortex_skills.tools.offered import acting_for, annotations_of, listed_input, listed_output, of_profiles

_AGENT = {"type": "string", "description": "The agent that acts."}


def listed(
    skills: Mapping[str, Skill], caller: SessionCaller, profiles: Collection[str], sources: Iterable[ToolSource]
) -> list[types.Tool]:
    """The tools of these profiles that a caller can use with these active skills."""
    able = sum(skill.manifest.semantic is not None for skill in skills.values())
    found = []
    for tool in of_profiles(all_tools(sources).values(), profiles, skills):
        acting = acting_for(tool, skills)
        if acting and (tool.read_only or caller.may_write) and len(model_name(tool.name)) <= MAX_NAME:
            found.append(_described(tool, acting, able, caller))
    return found


def refused(tool: str, caller: SessionCaller, sources: Iterable[ToolSource]) -> CortexError | None:
    """Why a caller may not use a tool at all; None if the gate decides."""
    try:
        known = tool_named(tool, sources)
    except CortexError as error:  # it cannot be used: the gate states why, and records the call
        return None if caller.may_write else error
    if known is None or known.read_only or caller.may_write:
        return None
    hint = "ask for a token that has the permission `write`"
    return CortexError("permission_denied", f"{tool} writes, and this token may not write", hint=hint)


def answer(result: Result, tool: Tool | None = None) -> types.CallToolResult:
    """The result of a call of a tool, not longer than hosts take."""
    if tool is not None and not tool.output_schema and not result.is_error:
        text = shortened(Result(result.text, {})).text
        return types.CallToolResult(content=[types.TextContent(text=text)])
    text = f"{result.code}: {result.text}" if result.is_error else result.text
    shown = shortened(Result(text, _for_a_model(result.details)))
    return types.CallToolResult(
        content=[types.TextContent(text=shown.text)],
        structured_content=shown.details,
        is_error=result.is_error,
    )


def _for_a_model(details: dict[str, Any]) -> dict[str, Any]:
    """The details without what is withheld from a model."""
    withheld = details.get("withheld")
    if not withheld:
        return details
    shown = [triple for place, triple in enumerate(details["matches"]) if place not in withheld]
    return {**details, "matches": shown}


def _described(tool: Tool, acting: list[str], active: int, caller: SessionCaller) -> types.Tool:
    given = listed_input(tool)
    skill: dict[str, Any] = {"enum": acting, "description": "The skill that acts."}
    required = list(given.get("required", ()))
    properties = dict(given["properties"])
    if tool.acting is None and active > 1:  # else there is no choice
        properties["skill"] = skill
        if caller.skill in acting:
            skill["default"] = caller.skill
        else:
            required.append("skill")
    if caller.may_name_agent:
        properties["agent"] = _AGENT
    return types.Tool(
        name=model_name(tool.name),
        description=tool.description,
        input_schema={**given, "properties": properties, **({"required": required} if required else {})},
        output_schema=listed_output(tool) or None,
        annotations=types.ToolAnnotations.model_validate(annotations_of(tool)),
    )
