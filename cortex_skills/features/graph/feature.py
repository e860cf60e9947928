"""The feature `graph`. What agents, programs and people do with the graph."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="graph",
    rank=10,
    operations=(
        "cortex_skills.features.graph.looking.schema_overview",
        "cortex_skills.features.graph.looking.entity_search",
        "cortex_skills.features.graph.looking.description",
        "cortex_skills.features.graph.looking.sparql_rows",
        "cortex_skills.features.graph.looking.moment_difference",
        "cortex_skills.features.graph.looking.pattern_query",
        "cortex_skills.features.graph.looking.statement_checks",
        "cortex_skills.features.graph.saved_query_operations",
        "cortex_skills.features.graph.statement_changes",
        "cortex_skills.features.graph.consistency",
        "cortex_skills.features.graph.transfer_operations",
    ),
    attach=("cortex_skills.features.graph.starting_agents:attach",),
    tools=("cortex_skills.features.graph.tools",),
    host_functions=("cortex_skills.features.graph.skill_functions:graph_functions",),
    rest=(
        "cortex_skills.features.graph.rest.triples",
        "cortex_skills.features.graph.rest.replication",
        "cortex_skills.features.graph.rest.queries",
        "cortex_skills.features.graph.rest.stats",
        "cortex_skills.features.graph.rest.overview",
        "cortex_skills.features.graph.rest.looking",
        "cortex_skills.features.graph.rest.statement_checks",
        "cortex_skills.features.graph.rest.agents",
        "cortex_skills.features.graph.rest.events",
        "cortex_skills.features.graph.rest.dag",
    ),
    routes=("cortex_skills.features.graph.rest.dag:absent_routes",),
    commands={
        "Keep the graph": {
            "graph": "cortex_skills.features.graph.cli:graph",
        },
        "Inspect": {
            "graph overview": "cortex_skills.features.graph.looking.schema_overview:overview",
            "graph find": "cortex_skills.features.graph.looking.entity_search:find_things",
            "graph describe": "cortex_skills.features.graph.looking.description:describe",
            "graph diff": "cortex_skills.features.graph.looking.moment_difference:compare",
            "graph queries": "cortex_skills.features.graph.saved_query_operations:list_queries",
            "graph save-query": "cortex_skills.features.graph.saved_query_operations:save_query",
            "graph run-query": "cortex_skills.features.graph.saved_query_operations:run_query",
            "graph forget-query": "cortex_skills.features.graph.saved_query_operations:forget_query",
            "graph query": "cortex_skills.features.graph.cli.patterns:QUERY",
            "graph verify": "cortex_skills.features.graph.cli.patterns:VERIFY",
        },
    },
    settings={
        "graph": "cortex_skills.features.graph.graph_settings:GraphSettings",
    },
    default_tools=(
        "skill_graph_query",
        "skill_assert",
        "skill_retract",
        "graph_overview",
        "graph_find",
        "graph_describe",
        "graph_sparql",
        "skill_verify_assertion",
    ),
)
