"""The feature `memory`. Memories of agents."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="memory",
    rank=20,
    operations=("cortex_skills.features.memory.remembering",),
    attach=("cortex_skills.features.memory.memories:open_memories",),
    host_functions=("cortex_skills.features.memory.skill_functions:memory_functions",),
    tools=("cortex_skills.features.memory.tools",),
    rest=("cortex_skills.features.memory.rest.memory_operations",),
    members=("cortex_skills.features.memory.memory_members:MemoryMembers",),
)
