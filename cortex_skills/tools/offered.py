"""Which tools a model is offered, in the words of whoever offers them.

Rules kept here:
- a tool is offered when a call of it can succeed: it is built in, every active skill allows it, and at least one has
  the permissions; the gate decides again at each call;
- a schema is the tool's own, in every format; what a tool is called is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from cortex_skills import policy
from cortex_skills.errors import CortexError
from cortex_skills.schemas import did_you_mean

if TYPE_CHECKING:
    from cortex_skills.skill import Skill
    from cortex_skills.tools.base import Tool

Format = Literal["mcp", "openai", "anthropic"]


def acting_for(tool: Tool, skills: Mapping[str, Skill]) -> list[str]:
    """The skills that a tool may act for, by name; none when it is not to be offered."""
    if not tool.is_built:
        return []
    try:
        policy.check_tool_allowed(tool.name, (skill.manifest for skill in skills.values()))
    except CortexError:
        return []
    return sorted(n for n, s in skills.items() if all(s.manifest.has_permission(p) for p in tool.permissions))


def annotations_of(tool: Tool) -> dict[str, bool]:
    """What MCP calls the hints of a tool."""
    return {
        "readOnlyHint": tool.read_only,
        "destructiveHint": False,  # no tool takes anything away
        "idempotentHint": True,  # asking again changes nothing, and neither does asserting again
        "openWorldHint": False,
    }


def offered(tools: Iterable[Tool], skills: Mapping[str, Skill], form: Format) -> list[dict[str, Any]]:
    """The tools that are offered, JSON-ready.

    Args:
        tools: all that there are.
        skills: the active ones.
        form: `mcp` (`tools/list`), `openai` (`tools` of Chat Completions) or `anthropic` (`tools` of Messages).

    Raises:
        CortexError: `invalid_arguments`: there is no such format.

    """
    if form not in get_args(Format):
        known = get_args(Format)
        near = did_you_mean(form, known) if isinstance(form, str) else ""
        hint = near or f"one of {', '.join(known)}"
        raise CortexError("invalid_arguments", "tools are not told of in this format", hint=hint)
    return [_in_format(tool, form) for tool in tools if acting_for(tool, skills)]


def _in_format(tool: Tool, form: Format) -> dict[str, Any]:
    about = {"name": tool.name, "description": tool.description}
    if form == "openai":
        return {"type": "function", "function": {**about, "parameters": tool.input_schema}}
    if form == "anthropic":
        return {**about, "input_schema": tool.input_schema}
    schemas = {"inputSchema": tool.input_schema, "outputSchema": tool.output_schema}
    return {**about, **schemas, "annotations": annotations_of(tool)}
