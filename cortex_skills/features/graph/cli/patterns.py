"""`graph query` and `graph verify`: statements by a pattern, and whether they are valid."""

from cortex_skills.doors.cli.operation_command import command_of
from cortex_skills.features.graph.looking.pattern_query import query
from cortex_skills.features.graph.looking.statement_checks import verify

QUERY = command_of(query, without=("one_page", "offset", "acting"))
VERIFY = command_of(verify, without=("limit_ms", "other_forms"))
