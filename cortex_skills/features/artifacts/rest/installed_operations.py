"""`/api/v1/artifacts`: what is installed, and whether it runs.

Rules kept here:
- reading and changing need the permission `approve`; the name of the token is recorded with a change;
- a quarantined version is enabled only with `override: true` and a reason;
- artifacts are those of the namespace of the plugin; another namespace has none.
"""

from __future__ import annotations

from cortex_skills.doors.rest.model_types import NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.artifacts.installed.installed_artifacts import not_found
from cortex_skills.features.artifacts.rest import artifact_models as models

OPERATIONS = Operations()
_ERRORS = ("artifact_not_found", "artifact_invalid")


@OPERATIONS.add(
    "GET", "/api/v1/artifacts", {200: models.InstalledList}, permission="approve", query=models.InstalledQuery
)
def list_artifacts(call: ApiCall) -> ApiAnswer:
    """List the installed versions with their status."""
    if _is_elsewhere(call):
        return ApiAnswer(200, {"artifacts": [], "damaged": [], "count": 0})
    listed, query = call.service.plugin.installed.index.everything(), call.query
    found = [
        each.to_json()
        for artifact in listed.artifacts
        for each in artifact.versions
        if query.get("publisher") in (None, each.publisher)
        and query.get("status") in (None, each.status)
        and (each.current or not query.get("currentOnly"))
    ]
    return ApiAnswer(200, {"artifacts": found, "damaged": list(listed.damaged), "count": len(found)})


@OPERATIONS.add(
    "GET",
    "/api/v1/artifacts/{id}",
    {200: models.InstalledOne},
    permission="approve",
    query=NamespaceQuery,
    errors=_ERRORS,
)
def get_artifact(call: ApiCall) -> ApiAnswer:
    """Return all versions of one artifact."""
    skill_id = _id(call)
    versions = call.service.plugin.installed.index.versions(skill_id).versions
    if not versions:
        raise not_found(skill_id)
    return ApiAnswer(200, {"skillId": skill_id, "versions": [each.to_json() for each in versions]})


@OPERATIONS.add(
    "POST",
    "/api/v1/artifacts/{id}/quarantine",
    {200: models.InstalledVersion},
    permission="approve",
    query=NamespaceQuery,
    body=models.QuarantineRequest,
    errors=(*_ERRORS, "graph_busy"),
)
def quarantine_artifact(call: ApiCall) -> ApiAnswer:
    """Stop a version, until it is enabled with an override."""
    installed, body = call.service.plugin.installed, call.body
    found = installed.quarantine(_id(call), body["version"], actor=call.caller.name, reason=body["reason"])
    return ApiAnswer(200, found.to_json())


@OPERATIONS.add(
    "POST",
    "/api/v1/artifacts/{id}/enable",
    {200: models.InstalledVersion},
    permission="approve",
    query=NamespaceQuery,
    body=models.EnableRequest,
    errors=(*_ERRORS, "state_conflict", "graph_busy"),
)
def enable_artifact(call: ApiCall) -> ApiAnswer:
    """Let a version run; a quarantined one needs `override: true` and a reason."""
    installed, body = call.service.plugin.installed, call.body
    found = installed.enable(
        _id(call),
        body["version"],
        actor=call.caller.name,
        override=body.get("override", False),
        reason=body.get("reason", ""),
    )
    return ApiAnswer(200, found.to_json())


def _is_elsewhere(call: ApiCall) -> bool:
    return call.caller.namespace(call.query.get("namespace")) != call.service.plugin.graph.namespace


def _id(call: ApiCall) -> str:
    skill_id = call.path["id"]
    if _is_elsewhere(call):
        raise not_found(skill_id)
    return skill_id
