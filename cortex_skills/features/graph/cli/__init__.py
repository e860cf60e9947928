"""The `graph` commands."""

from cortex_skills.doors.cli.commands import Group
from cortex_skills.features.graph.cli.inspect import namespaces, show
from cortex_skills.features.graph.cli.sparql import sparql
from cortex_skills.features.graph.cli.summaries import recent, stats
from cortex_skills.features.graph.cli.transfer import export, import_
from cortex_skills.features.graph.cli.whole_stores import backup, check, copy, restore

__all__ = ["graph"]

graph = Group(
    "graph",
    help="Import, export, back up and inspect the graph.",
    sections={
        "Files": [import_, export],
        "Whole stores": [backup, restore, copy, check],
        "Inspect": [namespaces, stats, recent, show, sparql],
    },
)
