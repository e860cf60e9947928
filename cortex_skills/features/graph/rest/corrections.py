"""`/api/v1/triples/{id}/correct` and `/api/v1/resources/merge`: statements in the place of others."""

from __future__ import annotations

from cortex_skills.doors.rest.operations import Operations
from cortex_skills.features.graph.corrections import correct, merge, preview_merge

OPERATIONS = Operations()
_ERRORS = ("not_found", "graph_busy")

OPERATIONS.serve("POST", "/api/v1/triples/{triple}/correct", correct, errors=_ERRORS)
OPERATIONS.serve("POST", "/api/v1/resources/merge", merge, errors=_ERRORS)
OPERATIONS.serve("POST", "/api/v1/resources/merge/preview", preview_merge, errors=_ERRORS)
