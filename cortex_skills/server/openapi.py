"""The OpenAPI 3.1 document, out of the same declarations as the routes and the checks.

Rules kept here:
- what an operation takes and answers is in its declaration and in its shapes; nothing is written here a second time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from cortex_skills import __version__
from cortex_skills.server.errors import HTTP_CODES, HttpError
from cortex_skills.server.operations import Operation
from cortex_skills.server.schemas import component, components, reference

_PATH_PARAMETER = re.compile(r"(\w+)/\{(\w+)\}")
_OF_ALL = (
    "bad_request",
    "headers_too_large",
    "host_not_allowed",
    "origin_not_allowed",
    "server_busy",
    "url_too_long",
)
_OF_GRAPHS = ("invalid_arguments", "graph_unavailable")
_OF_BODIES = ("invalid_arguments", "request_timeout", "request_too_large", "unsupported_media_type")
_DESCRIPTION = (
    "The Cortex REST API, with extensions. Names on the wire are full names (`mayros:agent:a1`); what is written may "
    "leave the namespace's prefix out. Every error is `{error, code, hint?, details?, requestId}`."
)


def document_of(operations: Iterable[Operation]) -> dict[str, Any]:
    """The document that describes these operations."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Cortex Skills", "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation.path), *_query_parameters(operation.query)],
        "responses": {
            **{str(status): _answer(shape) for status, shape in operation.answers.items()},
            **_errors(operation),
        },
        "security": [] if operation.permission is None else [{"token": []}],
    }
    if operation.description:
        described["description"] = operation.description
    if operation.permission is not None:
        described["x-permission"] = operation.permission
    if operation.body is not None:
        content = {"application/json": {"schema": reference(operation.body)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": reference(_PATH_SHAPES[before, name])}
        for before, name in _PATH_PARAMETER.findall(path)
    ]


_PATH_SHAPES = {("triples", "id"): "TripleId", ("sandbox", "id"): "SandboxId", ("proofs", "id"): "ProofId"}


def _query_parameters(shape: str | None) -> list[dict[str, Any]]:
    if shape is None:
        return []
    rules = component(shape)
    return [
        {"name": name, "in": "query", "required": name in rules.get("required", ()), "schema": rule}
        for name, rule in rules["properties"].items()
    ]


def _answer(shape: str | None) -> dict[str, Any]:
    if shape is None:
        return {"description": "Done."}
    return {
        "description": component(shape).get("description", "Done."),
        "content": {"application/json": {"schema": reference(shape)}},
    }


def _errors(operation: Operation) -> dict[str, Any]:
    codes = {*_OF_ALL, *operation.errors, "internal_error"}
    if operation.query is not None or operation.body is not None or "{" in operation.path:
        codes.add("invalid_arguments")
    if operation.permission is not None:
        codes |= {"unauthorized", "permission_denied", *_OF_GRAPHS}
    if operation.body is not None:
        codes.update(_OF_BODIES)
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        by_status.setdefault(HTTP_CODES.get(code) or HttpError(code, "").status, []).append(code)
    return {
        str(status): {
            "description": ", ".join(f"`{code}`" for code in codes_of),
            "content": {"application/json": {"schema": reference("Error")}},
            **(
                {"headers": {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}}
                if status == 401
                else {}
            ),
        }
        for status, codes_of in sorted(by_status.items())
    }
