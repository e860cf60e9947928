"""`/api/v1/skills`: is a manifest valid, and sandboxes to try a skill in.

Rules kept here:
- a manifest is read by the rules that load one, and nothing of it is run;
- the declarations alone, as some clients send them, are checked as far as they say anything;
- a sandbox is a part of a namespace that the caller may write to.
"""

from __future__ import annotations

import logging
from typing import Any

from cortex_graph import GraphError
from cortex_skills.errors import CortexError
from cortex_skills.manifest import ManifestError, parse_manifest
from cortex_skills.server.bodies import check
from cortex_skills.server.operations import Answer, Call, Operation
from cortex_skills.server.sandboxes import empty
from cortex_skills.server.service import Service

log = logging.getLogger(__name__)

_LIFETIME_S = 300


def _validate(call: Call) -> Answer:
    body = call.body
    if "manifest" in body:
        problems = _problems_of(body["manifest"], body.get("name"), body.get("semantic"))
    else:
        problems = _problems_of_declarations(call, body)
    errors = [f"{problem['field']}: {problem['message']}" for problem in problems]
    return Answer(200, {"valid": not problems, "errors": errors, "problems": problems})


def _problems_of(text: str, folder: str | None, companion: str | None) -> list[dict[str, Any]]:
    try:
        parse_manifest(text, folder_name=folder, companion=companion)
    except ManifestError as error:
        problems: list[dict[str, Any]] = error.details["errors"]
        return problems
    return []


def _problems_of_declarations(call: Call, body: dict[str, Any]) -> list[dict[str, Any]]:
    graph = call.service.graph(call.caller.namespace(body["namespace"]))
    problems = []
    for place, assertion in enumerate(body["assertions"]):
        where = f"assertions[{place}].predicate"
        try:
            graph.names.node(assertion["predicate"], where)
        except GraphError as error:
            problems.append(_problem(where, error.message, error.hint))
        is_on = call.service.plugin.config.verification.pol_validation
        if assertion.get("requireProof", assertion.get("require_proof")) and not is_on:
            message = "requires a proof, and this server has no rules to prove it by"
            problems.append(_problem(where, message, "its verification.polValidation is off"))
    return problems


def _problem(field: str, message: str, hint: str) -> dict[str, Any]:
    return {"field": field, "message": message, "hint": hint, "file": "", "line": None}


def _create_sandbox(call: Call) -> Answer:
    namespace = call.caller.namespace(call.body["namespace"])
    sandbox = call.service.sandboxes.create(namespace, float(call.body.get("ttl_seconds") or _LIFETIME_S))
    return Answer(201, {"id": sandbox.id, "namespace": sandbox.prefix})


def _delete_sandbox(call: Call) -> Answer:
    service, sandbox_id = call.service, check("SandboxId", call.path["id"])
    sandbox = service.sandboxes.find(sandbox_id)
    if sandbox is None:  # of an earlier run, perhaps
        namespace = call.caller.namespace(call.query.get("namespace"))
    elif not call.caller.may_use(sandbox.namespace):
        return Answer(200, {"deleted": False, "error": "sandbox not found"})
    else:
        namespace = sandbox.namespace
    removed = empty(service.graph(namespace), sandbox_id)
    service.sandboxes.forget(sandbox_id)
    if sandbox is None and not removed:
        return Answer(200, {"deleted": False, "error": "sandbox not found"})
    return Answer(200, {"deleted": True, "namespace": f"{namespace}:{sandbox_id}", "triples_removed": removed})


def sweep(service: Service, *, everything: bool = False) -> None:
    """Empty the sandboxes whose time is over, or all of them; what cannot be emptied now is for the next time."""
    for sandbox in service.sandboxes.ended(everything=everything):
        try:
            empty(service.graph(sandbox.namespace), sandbox.id)
        except (CortexError, GraphError) as error:
            log.warning("the sandbox %s could not be emptied: %s", sandbox.id, error)
        else:
            service.sandboxes.forget(sandbox.id)


OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/skills/validate",
        "validateSkill",
        "Say what is wrong with a SKILL.md, or with the declarations of one.",
        _validate,
        {200: "Verdict"},
        body="SkillToValidate",
    ),
    Operation(
        "POST",
        "/api/v1/skills/sandbox",
        "createSandbox",
        "Make a part of a namespace that goes away by itself.",
        _create_sandbox,
        {201: "Sandbox"},
        permission="write",
        body="NewSandbox",
        description="Triples about names that begin with `namespace` of the answer go when it ends.",
    ),
    Operation(
        "DELETE",
        "/api/v1/skills/sandbox/{id}",
        "deleteSandbox",
        "End a sandbox, with its triples.",
        _delete_sandbox,
        {200: "SandboxEnd"},
        permission="write",
        query="NamespaceQuery",
        errors=("query_timeout",),
        lane="slow",
    ),
)
