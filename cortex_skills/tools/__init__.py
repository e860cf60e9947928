"""The tools that agents call: one file for each, with its JSON schema, the permission it needs, and what it does."""

from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.catalog import all_tools, find_tool, own_tools, tool_named

__all__ = ["Call", "Outcome", "Tool", "all_tools", "find_tool", "own_tools", "tool_named"]
