"""The tools that a plugin has: the built-in ones, and those that installed distributions add.

A distribution adds a tool with an entry point of the group `cortex_skills.tools`, whose name is the tool's name and
whose value is a `Tool`:

    [project.entry-points."cortex_skills.tools"]
    invoice_totals = "my_package.tools:INVOICE_TOTALS"

Rules kept here:
- an added tool passes the same gate as a built-in one: skills must allow it, and it needs their permissions;
- an added tool is imported when it is first called, or when the tools are listed, and not before;
- one that has the name of a built-in tool, occurs twice, cannot be imported or is not a valid `Tool` is skipped with a
  warning. It never prevents the plugin from starting.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

from cortex_skills.artifact_tools.model_names import tool_id
from cortex_skills.errors import CortexError
from cortex_skills.policy.permissions import nearest_or_list
from cortex_skills.safe_io.added_entries import added_entries
from cortex_skills.safe_io.schemas import did_you_mean, shown
from cortex_skills.tools.action_tools import tool_of
from cortex_skills.tools.approval_status import APPROVAL_STATUS
from cortex_skills.tools.base import Tool
from cortex_skills.tools.memory_skills import MEMORY_SKILL_TOOLS
from cortex_skills.tools.registered_skills import REGISTERED_SKILL_TOOLS
from cortex_skills.tools.skill_assert import SKILL_ASSERT
from cortex_skills.tools.skill_graph_query import SKILL_GRAPH_QUERY
from cortex_skills.tools.skill_learn import SKILL_LEARN
from cortex_skills.tools.skill_memory_context import SKILL_MEMORY_CONTEXT
from cortex_skills.tools.skill_memory_reflect import SKILL_MEMORY_REFLECT
from cortex_skills.tools.skill_memory_remember import SKILL_MEMORY_REMEMBER
from cortex_skills.tools.skill_request_zk_proof import SKILL_REQUEST_ZK_PROOF
from cortex_skills.tools.skill_retract import SKILL_RETRACT
from cortex_skills.tools.skill_verify_assertion import SKILL_VERIFY_ASSERTION
from cortex_skills.tools.skill_verify_zk_proof import SKILL_VERIFY_ZK_PROOF
from cortex_skills.tools.skill_write import SKILL_WRITE
from cortex_skills.tools.skills_of_reflections import SKILLS_OF_REFLECTIONS

if TYPE_CHECKING:
    from cortex_skills.actions.catalog import Actions

log = logging.getLogger(__name__)

GROUP = "cortex_skills.tools"

TOOLS = {
    tool.name: tool
    for tool in (
        SKILL_GRAPH_QUERY,
        SKILL_ASSERT,
        SKILL_RETRACT,
        SKILL_MEMORY_CONTEXT,
        SKILL_MEMORY_REMEMBER,
        SKILL_VERIFY_ASSERTION,
        SKILL_REQUEST_ZK_PROOF,
        SKILL_VERIFY_ZK_PROOF,
        *REGISTERED_SKILL_TOOLS,
        SKILL_WRITE,
        *MEMORY_SKILL_TOOLS,
        SKILL_MEMORY_REFLECT,
        *SKILLS_OF_REFLECTIONS,
        SKILL_LEARN,
        APPROVAL_STATUS,
    )
}


def find_tool(name: object, actions: Actions | None = None) -> Tool:
    """The tool of that name, or the action.

    Raises:
        CortexError: `tool_not_found`.

    """
    tool = tool_named(name, actions)
    if tool is None:
        known = all_tools(actions)
        listed = [other.name for other in known.values() if other.profile == "core"]
        hint = (did_you_mean(name, known) if isinstance(name, str) else "") or nearest_or_list(None, "known", listed)
        raise CortexError("tool_not_found", f"there is no tool {shown(name)}", hint=hint)
    return tool


def tool_named(name: object, actions: Actions | None = None) -> Tool | None:
    """The tool of that name, or the action of these; None when there is none."""
    if not isinstance(name, str):
        return None
    if name in TOOLS:
        return TOOLS[name]
    if name in added_tools():
        return load_added(name)
    action = None if actions is None else actions.find(name) or actions.find(tool_id(name))
    return tool_of(action) if action is not None else None


def all_tools(actions: Actions | None = None) -> Mapping[str, Tool]:
    """Every tool by its name, the built-in ones first, and these actions."""
    added = {name: tool for name in added_tools() if (tool := load_added(name)) is not None}
    acting = {name: tool_of(action) for name, action in actions.all().items()} if actions is not None else {}
    return {**TOOLS, **added, **acting}


def tool_names() -> Collection[str]:
    """The names of all tools that are no actions."""
    return [*TOOLS, *added_tools()]


@cache
def added_tools() -> Mapping[str, EntryPoint]:
    """The entry points of added tools by the tool's name."""
    found: dict[str, EntryPoint] = {}
    for entry in added_entries(GROUP, "tools"):
        if entry.name in TOOLS:
            log.warning("the tool %s of %s is skipped: a built-in tool has that name", entry.name, entry.value)
        elif entry.name in found and entry.value != found[entry.name].value:
            first = found[entry.name].value
            log.warning("the tool %s of %s is skipped: %s has that name", entry.name, entry.value, first)
        else:
            found[entry.name] = entry
    return found


@cache
def load_added(name: str) -> Tool | None:
    """The added tool of that name; None, with a warning, when it cannot be used."""
    entry = added_tools()[name]
    try:
        tool = entry.load()
        if not isinstance(tool, Tool):
            raise TypeError(f"it is a {type(tool).__name__}, not a Tool")
        if tool.name != name:
            raise ValueError(f"its name is {tool.name!r}, and that of its entry point {name!r}")
        if not isinstance(tool.input_schema.get("properties"), dict):
            raise ValueError("its input_schema has no properties")
        tool.validator()
    except (Exception, SystemExit) as error:
        log.warning("the tool %s of %s is skipped: %s: %s", name, entry.value, type(error).__name__, error)
        return None
    return tool
