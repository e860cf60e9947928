"""The feature `registry`. Skills that are registered and learned."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="registry",
    follows={
        "memory.correct": "cortex_skills.features.registry.skill_changes:degrade_what_was_corrected",
        "memory.forget": "cortex_skills.features.registry.skill_changes:degrade_what_was_made",
    },
    rank=40,
    operations=(
        "cortex_skills.features.registry.skill_changes",
        "cortex_skills.features.registry.skill_previews",
        "cortex_skills.features.registry.skill_reads",
    ),
    tools=("cortex_skills.features.registry.tools",),
    rest=(
        "cortex_skills.features.registry.rest.registered_skills",
        "cortex_skills.features.registry.rest.procedural_skills",
        "cortex_skills.features.registry.rest.reflection_operations",
    ),
    pages=(
        "cortex_skills.features.registry.pages.registry_list",
        "cortex_skills.features.registry.pages.registered_skill",
        "cortex_skills.features.registry.pages.edit_skill",
        "cortex_skills.features.registry.pages.new_skill",
        "cortex_skills.features.registry.pages.skill_folders",
    ),
    attention=("cortex_skills.features.registry.pages.may_rise:attention",),
    attach=("cortex_skills.features.registry.parts:attach",),
    folder_checks=("cortex_skills.features.registry.folders:check_unchanged",),
    commands={
        "Keep skills": {
            "registry": "cortex_skills.features.registry.cli:registry",
        },
    },
    members=("cortex_skills.features.registry.registry_members:RegistryMembers",),
    copies=("cortex_skills.features.registry.records.copied_registry:REGISTRY",),
    settings={
        "registry": "cortex_skills.features.registry.registry_settings:RegistrySettings",
        "learning": "cortex_skills.features.registry.registry_settings:LearningSettings",
    },
    default_tools=(
        "load_skill",
        "skill_find",
        "skill_read",
        "skill_feedback",
        "skill_write",
        "memory_skill_register",
        "memory_skill_list",
        "memory_skill_get",
        "memory_skill_resource",
        "memory_skill_export",
        "memory_skill_promote_from_reflection",
        "memory_skill_compositional_context",
        "skill_learn",
    ),
)
