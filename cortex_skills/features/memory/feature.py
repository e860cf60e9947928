"""The feature `memory`. Memories of agents."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="memory",
    rank=20,
    operations=(
        "cortex_skills.features.memory.remembering",
        "cortex_skills.features.memory.memory_reading",
        "cortex_skills.features.memory.recalls",
    ),
    attach=("cortex_skills.features.memory.memories:open_memories",),
    host_functions=("cortex_skills.features.memory.skill_functions:memory_functions",),
    tools=("cortex_skills.features.memory.tools",),
    rest=("cortex_skills.features.memory.rest.memory_operations",),
    members=("cortex_skills.features.memory.memory_members:MemoryMembers",),
    pages=("cortex_skills.features.memory.pages.memory_list", "cortex_skills.features.memory.pages.memory_page"),
    commands={"Keep the graph": {"memory": "cortex_skills.features.memory.cli:MEMORY"}},
    settings={
        "finder": "cortex_skills.features.finder.finder_settings:FinderSettings",
    },
    default_tools=(
        "skill_memory_context",
        "skill_memory_remember",
        "skill_memory_reflect",
    ),
)
