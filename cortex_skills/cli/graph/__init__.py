"""The `graph` commands: the triples themselves. A command is a file's, and is listed here."""

from cortex_skills.cli.commands import Group
from cortex_skills.cli.graph.backups import backup, restore
from cortex_skills.cli.graph.copies import copy
from cortex_skills.cli.graph.files import export, import_
from cortex_skills.cli.graph.namespaces import namespaces
from cortex_skills.cli.graph.records import show
from cortex_skills.cli.graph.sparql import sparql

__all__ = ["graph"]

graph = Group(
    "graph",
    help="Import, export, back up and look at what is in the graph.",
    sections={
        "Files": [import_, export],
        "Whole stores": [backup, restore, copy],
        "Look": [namespaces, show, sparql],
    },
)
