"""`/` and `/openapi.json`: the OpenAPI 3.1 document, from the declarations that also make the routes and the checks.

Rules kept here:
- what an operation takes and answers is in its declaration and in its models; nothing is written here a second time;
- an optional member of a request may be `null`, which is the same as none: the checks take it, and the schemas say so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_origin

from cortex_skills.doors.http.http_errors import HTTP_CODES, HttpError
from cortex_skills.doors.rest.model_types import (
    ApprovalId,
    ArtifactId,
    CallId,
    MemoryId,
    ProofId,
    SandboxId,
    SkillVersionId,
    TripleId,
)
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, ApiOperation, Operations
from cortex_skills.doors.rest.schemas import parameters_of, references, required_parameters
from cortex_skills.doors.rest.server_models import ApiIndex, ErrorBody
from cortex_skills.version import __version__

_REFERENCE = re.compile(r"#/components/schemas/([^\"/]+)\"")
_PATH_PARAMETER = re.compile(r"(\w+)/\{(\w+)\}")
_PATH_TYPES = {
    ("triples", "id"): TripleId,
    ("sandbox", "id"): SandboxId,
    ("proofs", "id"): ProofId,
    ("audit", "id"): CallId,
    ("events", "id"): CallId,
    ("memory", "id"): MemoryId,
    ("skill", "id"): SkillVersionId,
    ("approvals", "id"): ApprovalId,
    ("artifacts", "id"): ArtifactId,
}
_OF_ALL = (
    "bad_request",
    "headers_too_large",
    "host_not_allowed",
    "internal_error",
    "origin_not_allowed",
    "server_busy",
    "url_too_long",
)
_OF_TOKENS = ("unauthorized", "permission_denied", "invalid_arguments", "graph_unavailable")
_OF_BODIES = ("invalid_arguments", "request_timeout", "request_too_large", "unsupported_media_type")
_DESCRIPTION = (
    "The Cortex REST API, with extensions. Names in answers are full names (`mayros:agent:a1`); names in requests may "
    "leave out the prefix of the namespace. Every error is `{error, code, hint?, details?, requestId}`."
)

Schemas = dict[Any, dict[str, Any]]


def index_operations(others: Sequence[ApiOperation]) -> Operations:
    """The operations that describe the others, and themselves."""
    described = Operations()

    @cache
    def document() -> dict[str, object]:
        return document_of([*others, *described])

    @described.add("GET", "/", {200: ApiIndex}, permission=None)
    def get_index(_: ApiCall) -> ApiAnswer:
        """Return the name, the version and links."""
        links = {"openapi": "/openapi.json", "health": "/api/v1/health"}
        return ApiAnswer(200, {"name": "cortex-skills", "version": __version__, "links": links})

    @described.add("GET", "/openapi.json", {200: dict[str, Any]}, permission=None)
    def get_open_api(_: ApiCall) -> ApiAnswer:
        """Return this document."""
        return ApiAnswer(200, document())

    return described


def document_of(operations: Iterable[ApiOperation]) -> dict[str, Any]:
    """The document that describes these operations."""
    operations = list(operations)
    used = {model: None for each in operations for model in (*each.answers.values(), each.body) if model is not None}
    in_paths = [model for each in operations for model in each.path_types.values()]
    schemas, components = references([*dict.fromkeys([*used, ErrorBody, *_PATH_TYPES.values(), *in_paths])])
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, schemas)
    answered = _reached([schemas[model] for each in operations for model in each.answers.values() if model], components)
    for name in _reached([schemas[each.body] for each in operations if each.body], components) - answered:
        _take_null(components[name])
    return {
        "openapi": "3.1.0",
        "info": {"title": "Cortex Skills", "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _reached(schemas: Iterable[Any], components: Mapping[str, Any]) -> set[str]:
    """The names of the components that schemas refer to, directly or not."""
    found: set[str] = set()
    pending = list(schemas)
    while pending:
        new = set(_REFERENCE.findall(json.dumps(pending.pop()))) - found
        found |= new
        pending += [components[name] for name in new]
    return found


def _take_null(component: dict[str, Any]) -> None:
    """Allow null for the optional members of a request."""
    optional = component.get("properties", {}).keys() - component.get("required", [])
    for name in optional:
        schema = component["properties"][name]
        forms = schema.get("anyOf", [{key: value for key, value in schema.items() if key != "description"}])
        if {"type": "null"} not in forms:
            about = {"description": schema["description"]} if "description" in schema else {}
            component["properties"][name] = {"anyOf": [*forms, {"type": "null"}], **about}


def _described(operation: ApiOperation, schemas: Schemas) -> dict[str, Any]:
    query = {} if operation.query is None else parameters_of(operation.query)
    required = required_parameters(operation.query)
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": schemas[_path_type(operation, before, name)]}
                for before, name in _PATH_PARAMETER.findall(operation.path)
            ),
            *(
                {"name": name, "in": "query", "required": name in required, "schema": schema}
                for name, schema in query.items()
            ),
        ],
        "responses": {
            **{str(status): _answer(model, schemas) for status, model in operation.answers.items()},
            **_errors(operation, schemas),
        },
        "security": [] if operation.permission is None else [{"token": []}],
    }
    if operation.description:
        described["description"] = operation.description
    if operation.permission is not None:
        described["x-permission"] = operation.permission
    if operation.body is not None:
        content = {"application/json": {"schema": schemas[operation.body]}}
        described["requestBody"] = {"required": operation.needs_body, "content": content}
    return described


def _path_type(operation: ApiOperation, before: str, name: str) -> Any:
    return operation.path_types.get(name) or _PATH_TYPES[before, name]


def _answer(model: Any, schemas: Schemas) -> dict[str, Any]:
    if model is None:
        return {"description": "Done."}
    description = "The list." if get_origin(model) is list else model.__doc__
    return {"description": description, "content": {"application/json": {"schema": schemas[model]}}}


def _errors(operation: ApiOperation, schemas: Schemas) -> dict[str, Any]:
    codes = {*_OF_ALL, *operation.errors}
    if operation.query is not None or operation.body is not None or "{" in operation.path:
        codes.add("invalid_arguments")
    if operation.permission is not None:
        codes.update(_OF_TOKENS)
    if operation.body is not None:
        codes.update(_OF_BODIES)
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        by_status.setdefault(HTTP_CODES.get(code) or HttpError(code, "").status, []).append(code)
    header = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}
    return {
        str(status): {
            "description": ", ".join(f"`{code}`" for code in codes_of),
            "content": {"application/json": {"schema": schemas[ErrorBody]}},
            **({"headers": header} if status == 401 else {}),
        }
        for status, codes_of in sorted(by_status.items())
    }
