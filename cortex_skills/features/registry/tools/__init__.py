"""The tools of the feature `registry`."""

from cortex_skills.features.registry.tools.memory_skills import MEMORY_SKILL_TOOLS
from cortex_skills.features.registry.tools.registered_skills import REGISTERED_SKILL_TOOLS
from cortex_skills.features.registry.tools.skill_learn import SKILL_LEARN
from cortex_skills.features.registry.tools.skill_write import SKILL_WRITE
from cortex_skills.features.registry.tools.skills_of_reflections import SKILLS_OF_REFLECTIONS

TOOLS = (
    *REGISTERED_SKILL_TOOLS,
    SKILL_WRITE,
    *MEMORY_SKILL_TOOLS,
    *SKILLS_OF_REFLECTIONS,
    SKILL_LEARN,
)
