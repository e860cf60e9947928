"""The tools that agents call: one file a tool, with its JSON schema, the permission it needs, and what it does."""

from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.skill_assert import SKILL_ASSERT
from cortex_skills.tools.skill_graph_query import SKILL_GRAPH_QUERY
from cortex_skills.tools.skill_memory_context import SKILL_MEMORY_CONTEXT
from cortex_skills.tools.skill_request_zk_proof import SKILL_REQUEST_ZK_PROOF
from cortex_skills.tools.skill_verify_assertion import SKILL_VERIFY_ASSERTION
from cortex_skills.tools.skill_verify_zk_proof import SKILL_VERIFY_ZK_PROOF

TOOLS = {
    tool.name: tool
    for tool in (
        SKILL_GRAPH_QUERY,
        SKILL_ASSERT,
        SKILL_MEMORY_CONTEXT,
        SKILL_VERIFY_ASSERTION,
        SKILL_REQUEST_ZK_PROOF,
        SKILL_VERIFY_ZK_PROOF,
    )
}

__all__ = ["TOOLS", "Call", "Outcome", "Tool"]
