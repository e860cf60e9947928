"""`/api/v1/skills`: the skills of the plugin, validating manifests, and sandboxes for trying a skill.

Rules kept here:
- the skills are those of the plugin's namespace, and their state is `Plugin.status`, without folders of this machine;
- a manifest is parsed by the same rules as when a skill is loaded, and nothing is run;
- the declarations alone, as some clients send them, are checked too;
- a sandbox is a part of a namespace that the caller may write to.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cortex_graph import GraphError
from cortex_skills.doors.rest import server_models as models
from cortex_skills.doors.rest.model_types import NamespaceQuery, SandboxId
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.doors.rest.schemas import check
from cortex_skills.manifest import ManifestError, parse_manifest
from cortex_skills.operations.sandbox_operations import empty_sandbox

_LIFETIME_S = 300

OPERATIONS = Operations()


@OPERATIONS.add("GET", "/api/v1/skills", {200: models.SkillList}, query=NamespaceQuery)
def list_skills(call: ApiCall) -> ApiAnswer:
    """List the skills that are loaded, and those that were refused."""
    namespace, plugin = call.caller.namespace(call.query.get("namespace")), call.service.plugin
    if namespace != plugin.graph.namespace:
        return ApiAnswer(200, {"namespace": namespace, "skills": [], "rejected": []})
    status = plugin.status()
    for skill in status["skills"]:
        del skill["folder"]
        for fault in ("fault", "degraded"):
            skill[fault] = skill[fault] and _reason(skill[fault])
    rejected = [
        {
            "name": each.name,
            "answering": each.answering,
            "at": each.at,
            "error": _reason(each.error.to_json(), each.folder),
        }
        for each in plugin.rejected
    ]
    return ApiAnswer(200, {"namespace": namespace, "skills": status["skills"], "rejected": rejected})


def _reason(error: dict[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The code, the message and the hint of an error, with the folder of a skill by its name."""
    texts = {name: error[name] for name in ("code", "message", "hint")}
    if folder is None:
        return texts
    return {name: text.replace(str(folder), folder.name) for name, text in texts.items()}


@OPERATIONS.add("POST", "/api/v1/skills/validate", {200: models.ManifestReport}, body=models.SkillToValidate)
def validate_skill(call: ApiCall) -> ApiAnswer:
    """Validate a SKILL.md, or the declarations of one."""
    body = call.body
    if "manifest" in body:
        problems = _problems_of(body["manifest"], body.get("name"), body.get("semantic"))
    else:
        problems = _problems_of_declarations(call, body)
    errors = [f"{problem['field']}: {problem['message']}" for problem in problems]
    return ApiAnswer(200, {"valid": not problems, "errors": errors, "problems": problems})


def _problems_of(text: str, folder: str | None, companion: str | None) -> list[dict[str, Any]]:
    try:
        parse_manifest(text, folder_name=folder, companion=companion)
    except ManifestError as error:
        problems: list[dict[str, Any]] = error.details["errors"]
        return problems
    return []


def _problems_of_declarations(call: ApiCall, body: dict[str, Any]) -> list[dict[str, Any]]:
    graph = call.service.graph(call.caller.namespace(body["namespace"].partition(":")[0]))
    problems = []
    for place, assertion in enumerate(body["assertions"]):
        where = f"assertions[{place}].predicate"
        try:
            graph.names.node(assertion["predicate"], where)
        except GraphError as error:
            problems.append(_problem(where, error.message, error.hint))
        is_on = call.service.plugin.config.verification.pol_validation
        if assertion.get("requireProof", assertion.get("require_proof")) and not is_on:
            message = "requires a proof, and this server evaluates no rules"
            problems.append(_problem(where, message, "its verification.polValidation is off"))
    return problems


def _problem(field: str, message: str, hint: str) -> dict[str, Any]:
    return {"field": field, "message": message, "hint": hint, "file": "", "line": None}


@OPERATIONS.add(
    "POST", "/api/v1/skills/sandbox", {201: models.CreatedSandbox}, permission="write", body=models.NewSandbox
)
def create_sandbox(call: ApiCall) -> ApiAnswer:
    """Create a part of a namespace that is emptied later.

    Triples about names that begin with `namespace` of the answer are deleted when it ends.
    """
    namespace, _, part = call.body["namespace"].partition(":")
    call.caller.namespace(namespace)
    sandbox = call.service.sandboxes.create(namespace, part, float(call.body.get("ttl_seconds") or _LIFETIME_S))
    return ApiAnswer(201, {"id": sandbox.id, "namespace": sandbox.prefix})


@OPERATIONS.add(
    "DELETE",
    "/api/v1/skills/sandbox/{id}",
    {200: models.DeletedSandbox},
    permission="write",
    query=NamespaceQuery,
    errors=("query_timeout",),
    pool="slow",
)
def delete_sandbox(call: ApiCall) -> ApiAnswer:
    """Delete a sandbox and its triples."""
    service, sandbox_id = call.service, check(SandboxId, call.path["id"])
    sandbox = service.sandboxes.find(sandbox_id)
    if sandbox is None:  # perhaps of an earlier run of the server
        namespace = call.caller.namespace(call.query.get("namespace"))
    elif not call.caller.may_use(sandbox.namespace):
        return ApiAnswer(200, {"deleted": False, "error": "sandbox not found"})
    else:
        namespace = sandbox.namespace
    prefix = f"{namespace}:{sandbox_id}" if sandbox is None else sandbox.prefix
    removed = replace(call, query={"namespace": namespace}).operate(empty_sandbox, prefix=prefix)
    service.sandboxes.forget(sandbox_id)
    if sandbox is None and not removed:
        return ApiAnswer(200, {"deleted": False, "error": "sandbox not found"})
    return ApiAnswer(200, {"deleted": True, "namespace": prefix, "triples_removed": removed})
