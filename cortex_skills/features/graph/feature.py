"""The feature `graph`. What agents, programs and people do with the graph."""

from cortex_skills.feature import Feature

FEATURE = Feature(
    name="graph",
    rank=10,
    tools=("cortex_skills.features.graph.tools",),
    rest=(
        "cortex_skills.features.graph.rest.triples",
        "cortex_skills.features.graph.rest.replication",
        "cortex_skills.features.graph.rest.queries",
        "cortex_skills.features.graph.rest.stats",
        "cortex_skills.features.graph.rest.overview",
    ),
    commands={
        "Keep the graph": {
            "graph": "cortex_skills.features.graph.cli:graph",
        },
    },
)
