"""The tools of the feature `graph`."""

from cortex_skills.features.graph.tools.looking_tools import LOOKING_TOOLS
from cortex_skills.features.graph.tools.skill_assert import SKILL_ASSERT
from cortex_skills.features.graph.tools.skill_graph_query import SKILL_GRAPH_QUERY
from cortex_skills.features.graph.tools.skill_retract import SKILL_RETRACT
from cortex_skills.features.graph.tools.skill_verify_assertion import SKILL_VERIFY_ASSERTION

TOOLS = (
    SKILL_GRAPH_QUERY,
    SKILL_ASSERT,
    SKILL_RETRACT,
    *LOOKING_TOOLS,
    SKILL_VERIFY_ASSERTION,
)
