"""The feature `explorer`. The pages of the graph."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="explorer",
    rank=70,
    pages=(
        "cortex_skills.features.explorer.pages.home",
        "cortex_skills.features.explorer.pages.overview",
        "cortex_skills.features.explorer.pages.triple_list",
        "cortex_skills.features.explorer.pages.change_list",
        "cortex_skills.features.explorer.pages.resource",
        "cortex_skills.features.explorer.pages.used",
        "cortex_skills.features.explorer.pages.find_page",
        "cortex_skills.features.explorer.pages.schema_page",
        "cortex_skills.features.explorer.pages.map_page",
        "cortex_skills.features.explorer.pages.sparql_page",
        "cortex_skills.features.explorer.pages.query_list",
        "cortex_skills.features.explorer.pages.query_page",
        "cortex_skills.features.explorer.pages.assertion",
        "cortex_skills.features.explorer.pages.write_page",
        "cortex_skills.features.explorer.pages.proof_list",
        "cortex_skills.features.explorer.pages.proof_page",
        "cortex_skills.features.explorer.pages.audit_page",
        "cortex_skills.features.explorer.pages.agent_list",
        "cortex_skills.features.explorer.pages.agent_page",
        "cortex_skills.features.explorer.pages.session_list",
        "cortex_skills.features.explorer.pages.session_page",
        "cortex_skills.features.explorer.pages.skill_list",
        "cortex_skills.features.explorer.pages.skill_page",
    ),
    attention=(
        "cortex_skills.features.explorer.attention:attention",
        "cortex_skills.features.explorer.audit_check:attention",
    ),
    tasks=("cortex_skills.features.explorer.audit_check:watch",),
    commands={
        "Keep the graph": {
            "explore": "cortex_skills.features.explorer.explore_command:explore",
        },
    },
)
