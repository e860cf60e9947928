"""The tools that a plugin has: those of its features, of installed distributions, and of its sources.

A distribution adds a tool with an entry point of the group `cortex_skills.tools`, whose name is the tool's name and
whose value is a `Tool`:

    [project.entry-points."cortex_skills.tools"]
    invoice_totals = "my_package.tools:INVOICE_TOTALS"

Rules kept here:
- an added tool passes the same gate as a built-in one: skills must allow it, and it needs their permissions;
- an added tool is imported when it is first called, or when the tools are listed, and not before;
- a source (`Host.tool_sources`) is asked for names that no other tool has, and when the tools are listed;
- one that has the name of a built-in tool, occurs twice, cannot be imported or is not a valid `Tool` is skipped with a
  warning. It never prevents the plugin from starting.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint

from cortex_skills.errors import CortexError
from cortex_skills.feature import added
from cortex_skills.host import ToolSource
from cortex_skills.policy.permissions import nearest_or_list
from cortex_skills.safe_io.added_entries import added_entries
from cortex_skills.safe_io.schemas import did_you_mean, shown
from cortex_skills.tools.base import Tool
from cortex_skills.tools.model_names import tool_id

log = logging.getLogger(__name__)

GROUP = "cortex_skills.tools"


@cache
def own_tools() -> Mapping[str, Tool]:
    """The tools of the features, by name."""
    return {tool.name: tool for tools in added("tools", "TOOLS") for tool in tools}


def find_tool(name: object, sources: Iterable[ToolSource] = ()) -> Tool:
    """The tool of that name.

    Raises:
        CortexError: `tool_not_found`.
    """
    tool = tool_named(name, sources)
    if tool is None:
        known = all_tools(sources)
        listed = [other.name for other in known.values() if other.profile == "core"]
        hint = (did_you_mean(name, known) if isinstance(name, str) else "") or nearest_or_list(None, "known", listed)
        raise CortexError("tool_not_found", f"there is no tool {shown(name)}", hint=hint)
    return tool


def tool_named(name: object, sources: Iterable[ToolSource] = ()) -> Tool | None:
    """The tool of that name, of the plugin or of these sources; None when there is none."""
    if not isinstance(name, str):
        return None
    if name in own_tools():
        return own_tools()[name]
    if name in added_tools():
        return load_added(name)
    for each in dict.fromkeys((name, tool_id(name))):
        for source in sources:
            found: Tool | None = source.find(each)
            if found is not None:
                return found
    return None


def all_tools(sources: Iterable[ToolSource] = ()) -> Mapping[str, Tool]:
    """Every tool by its name: those of features, of distributions, and of these sources."""
    added_ones = {name: tool for name in added_tools() if (tool := load_added(name)) is not None}
    found = {**own_tools(), **added_ones}
    for source in sources:
        found = {**found, **{name: tool for name, tool in source.all().items() if name not in found}}
    return found


def tool_names() -> Collection[str]:
    """The names of all tools but those of sources."""
    return [*own_tools(), *added_tools()]


@cache
def added_tools() -> Mapping[str, EntryPoint]:
    """The entry points of added tools by the tool's name."""
    found: dict[str, EntryPoint] = {}
    for entry in added_entries(GROUP, "tools"):
        if entry.name in own_tools():
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
