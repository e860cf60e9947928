"""The feature `memory`. Memories of agents."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="memory",
    rank=20,
    tools=("cortex_skills.features.memory.tools",),
    rest=("cortex_skills.features.memory.rest.memory_operations",),
)
