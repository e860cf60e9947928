"""What an agent that starts reads of the graph: its overview, where no skill declares queries.

Rules kept here:
- the overview passes the gate like every call, and uses no budget, as the declared queries do; an empty graph adds
  nothing;
- it is one element of XML, whole and escaped.
"""

from __future__ import annotations

import logging
from functools import partial
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cortex_skills.gate.gate import Gate

log = logging.getLogger(__name__)

_TOOL = "graph_overview"


def attach(gate: Gate) -> None:
    """Add the overview to the context of a plugin."""
    gate.host.contexts.append(partial(_overview, gate))


def _overview(gate: Gate, agent: str) -> str:
    from cortex_graph.store import Pattern
    from cortex_skills.features.graph.tools.looking_tools import LOOKING_TOOLS
    from cortex_skills.tools.offered import acting_for, of_profiles

    skills, graph = gate.active.skills, gate.host.graph
    if not skills or any(skill.semantic.queries for skill in skills.values()):
        return ""
    tool = next(each for each in LOOKING_TOOLS if each.name == _TOOL)
    acting = acting_for(tool, skills)
    if not acting or not of_profiles([tool], gate.host.config.tools.profiles, skills):
        return ""
    if not graph.store.count(Pattern(graph.names.graph), 1):
        return ""
    result = gate.call(_TOOL, {}, acting[0], agent, None, None)
    if result.is_error:
        log.warning("the context lacks the overview of the graph: %s", result.text)
        return ""
    return f"<graph-overview>\n{escape(result.text, quote=False)}\n</graph-overview>"
