"""`graph overview`, `graph find` and `graph describe`: what agents see of the graph, at the command line."""

from cortex_skills.doors.cli.operation_command import command_of
from cortex_skills.features.graph.looking.description import describe
from cortex_skills.features.graph.looking.entity_search import find_things
from cortex_skills.features.graph.looking.schema_overview import overview

OVERVIEW = command_of(overview)
FIND = command_of(find_things)
DESCRIBE = command_of(describe)
