"""The tools of the feature `memory`."""

from cortex_skills.features.memory.tools.skill_memory_context import SKILL_MEMORY_CONTEXT
from cortex_skills.features.memory.tools.skill_memory_reflect import SKILL_MEMORY_REFLECT
from cortex_skills.features.memory.tools.skill_memory_remember import SKILL_MEMORY_REMEMBER

TOOLS = (
    SKILL_MEMORY_CONTEXT,
    SKILL_MEMORY_REMEMBER,
    SKILL_MEMORY_REFLECT,
)
