"""Which tools a model is offered, in the format of its provider.

Rules kept here:
- a model is offered the tools of the configured profiles only, so that it is not handed more than it needs; a profile
  is no permission, and a host may call the other tools;
- the tools of proofs are offered, too, where a skill of the user works with proofs;
- a tool is offered when a call of it can succeed: every active skill allows it, and at least one has the permissions.
  The gate checks each call again;
- a schema is listed with the names, types and meanings of its members, and without the limits that the gate checks;
- names and schemas are the same in every format; a tool whose name is too long for a format is not offered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, get_args

from cortex_skills.errors import CortexError
from cortex_skills.policy.permissions import check_tool_allowed
from cortex_skills.runtime.skill import Skill
from cortex_skills.safe_io.schemas import did_you_mean
from cortex_skills.tools.base import Tool
from cortex_skills.tools.model_names import MAX_NAME, model_name

Format = Literal["mcp", "openai", "anthropic"]
FULL = "full"  # the profile of all tools
PROOFS = "proofs"
# What only the check of a call needs; a list of tools is read by a model each time.
_LIMITS = frozenset({"maxItems", "maxLength", "minItems", "minLength", "uniqueItems"})


def of_profiles(tools: Iterable[Tool], profiles: Collection[str], skills: Mapping[str, Skill]) -> list[Tool]:
    """The tools of some profiles, and those of proofs where a skill of the user has a permission for proofs."""
    proves = any(map(_has_proofs, skills.values()))
    chosen = {*profiles, *([PROOFS] if proves else [])}
    return [tool for tool in tools if FULL in chosen or tool.profile in chosen]


def _has_proofs(skill: Skill) -> bool:
    manifest = skill.manifest
    return not skill.is_builtin and manifest.semantic is not None and bool(manifest.semantic.permissions.proofs)


def acting_for(tool: Tool, skills: Mapping[str, Skill]) -> list[str]:
    """The names of the skills that a tool can act for; empty when it is not offered."""
    try:
        check_tool_allowed(tool.name, [skill.manifest for skill in skills.values()])
    except CortexError:
        return []
    if tool.acting is not None:
        return [tool.acting.name]
    return sorted(n for n, s in skills.items() if all(s.manifest.has_permission(p) for p in tool.permissions))


def annotations_of(tool: Tool) -> dict[str, bool]:
    """The `annotations` of a tool in MCP."""
    return {
        "readOnlyHint": tool.read_only,
        "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent,
        "openWorldHint": tool.open_world,
    }


def offered(tools: Iterable[Tool], skills: Mapping[str, Skill], form: Format) -> list[dict[str, Any]]:
    """The tools that are offered while these skills are active, JSON-ready; see `Plugin.tools`.

    The formats are those of `tools/list` (MCP) and of `tools` in Chat Completions (OpenAI) and Messages (Anthropic).
    """
    known = get_args(Format)
    if form not in known:
        hint = (did_you_mean(form, known) if isinstance(form, str) else "") or f"one of {', '.join(known)}"
        raise CortexError("invalid_arguments", "there is no such format of tools", hint=hint)
    found = (tool for tool in tools if acting_for(tool, skills) and len(model_name(tool.name)) <= MAX_NAME)
    return [_in_format(tool, form) for tool in found]


def listed_input(tool: Tool) -> dict[str, Any]:
    """The schema of the arguments as a model gets it: a call is checked with the whole one."""
    listed: dict[str, Any] = _without(tool.input_schema, _LIMITS)
    return listed


def listed_output(tool: Tool) -> dict[str, Any]:
    """The schema of the details as a client gets it: their names and types."""
    listed: dict[str, Any] = _without(tool.output_schema, _LIMITS | {"additionalProperties", "description", "minimum"})
    return listed


def _without(schema: Any, keys: frozenset[str]) -> Any:
    """A schema without some keywords, at any depth; the names of members stay."""
    if isinstance(schema, list):
        return [_without(each, keys) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without(member, keys) for name, member in value.items()}
        if key == "properties" and isinstance(value, dict)
        else _without(value, keys)
        for key, value in schema.items()
        if key not in keys
    }


def _in_format(tool: Tool, form: Format) -> dict[str, Any]:
    given = listed_input(tool)
    about = {"name": model_name(tool.name), "description": tool.description}
    if form == "openai":
        return {"type": "function", "function": {**about, "parameters": given}}
    if form == "anthropic":
        return {**about, "input_schema": given}
    schemas = {"inputSchema": given}
    if tool.output_schema:
        schemas["outputSchema"] = listed_output(tool)
    return {**about, **schemas, "annotations": annotations_of(tool)}
