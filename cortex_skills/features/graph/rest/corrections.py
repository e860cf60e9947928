"""`/api/v1/triples/{id}/correct`, `/api/v1/resources/merge`: statements in the place of others, and checking them."""

from __future__ import annotations

from cortex_skills.doors.rest.operations import Operations
from cortex_skills.features.graph.change_checks import check_change
from cortex_skills.features.graph.corrections import correct, merge, preview_merge

OPERATIONS = Operations()
_ERRORS = ("not_found", "graph_busy")

OPERATIONS.serve("POST", "/api/v1/triples/{triple}/correct", correct, errors=_ERRORS)
OPERATIONS.serve("POST", "/api/v1/triples/check", check_change, errors=("not_found",), pool="slow")
OPERATIONS.serve("POST", "/api/v1/resources/merge", merge, errors=_ERRORS)
OPERATIONS.serve("POST", "/api/v1/resources/merge/preview", preview_merge, errors=_ERRORS)
