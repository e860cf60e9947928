"""The tools that look at the graph: each is an operation that reads."""

from __future__ import annotations

from cortex_skills.tools.operation_tools import operation_tool

_LOOKING = "cortex_skills.features.graph.looking"

LOOKING_TOOLS = (
    operation_tool(
        f"{_LOOKING}.schema_overview:overview",
        "graph_overview",
        "What the knowledge graph holds: its classes with their predicates as used, prefixes, languages and authors. "
        "Look here first.",
    ),
    operation_tool(
        f"{_LOOKING}.entity_search:find_things",
        "graph_find",
        "Find things in the knowledge graph by words of their names, labels or texts.",
    ),
    operation_tool(
        f"{_LOOKING}.description:describe",
        "graph_describe",
        "Everything about one thing: its values, where it is used, and who asserted what, when, with which proof.",
        leaves_out=("undated",),
    ),
    operation_tool(
        f"{_LOOKING}.sparql_rows:sparql",
        "graph_sparql",
        "Query the knowledge graph with SPARQL 1.1 (read-only): joins, filters, counts, sums. The prefixes of "
        "graph_overview are declared.",
        leaves_out=("undated",),
    ),
    operation_tool(
        f"{_LOOKING}.moment_difference:compare",
        "graph_difference",
        "What changed in the knowledge graph between two moments: statements that were added or withdrawn, by whom, "
        "the latest first; or rows of a SPARQL query.",
        profile="operator",
    ),
)
