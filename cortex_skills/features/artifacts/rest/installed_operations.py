"""`/api/v1/artifacts`: what is installed, and whether it runs."""

from __future__ import annotations

from cortex_skills.doors.rest.operations import Operations
from cortex_skills.features.artifacts import artifact_operations as artifacts

OPERATIONS = Operations()
_ONE = "/api/v1/artifacts/{id}"
_ERRORS = ("artifact_not_found", "artifact_invalid")

OPERATIONS.serve("GET", "/api/v1/artifacts", artifacts.list_artifacts)
OPERATIONS.serve("GET", _ONE, artifacts.show_artifact, errors=_ERRORS)
OPERATIONS.serve("GET", f"{_ONE}/description", artifacts.describe, errors=(*_ERRORS, "config_invalid"), pool="slow")
OPERATIONS.serve("POST", f"{_ONE}/quarantine", artifacts.quarantine, errors=(*_ERRORS, "graph_busy"))
OPERATIONS.serve("POST", f"{_ONE}/enable", artifacts.enable, errors=(*_ERRORS, "state_conflict", "graph_busy"))
