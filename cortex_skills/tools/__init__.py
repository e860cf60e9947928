"""The tools that agents call: one file a tool, with its JSON schema, the permission it needs, and what it does."""

from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.skill_assert import SKILL_ASSERT
from cortex_skills.tools.skill_graph_query import SKILL_GRAPH_QUERY

TOOLS = {tool.name: tool for tool in (SKILL_GRAPH_QUERY, SKILL_ASSERT)}

__all__ = ["TOOLS", "Call", "Outcome", "Tool"]
