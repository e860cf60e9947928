"""The operations as routes.

Rules kept here:
- the caller is checked first, then the request: the body of a caller without the permission is not read;
- what blocks or computes runs in a worker pool, not in the event loop;
- a method that a path does not have is refused with those that it has; HEAD is answered where GET is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_skills.doors.http.auth import Principal
from cortex_skills.doors.http.bodies import parse_json, to_json
from cortex_skills.doors.http.http_errors import HttpError, method_not_allowed
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.rest.operations import ApiCall, ApiOperation
from cortex_skills.doors.rest.schemas import check, parse_query

_MANY = 1000
_LARGE = 1 << 20  # a body takes many times its size as Python objects, so only a few are parsed at once


def routes_of(operations: Iterable[ApiOperation]) -> list[Route]:
    """One route for each path, those without parameters first: `/proofs/stats` is not the proof of an id."""
    by_path: dict[str, list[ApiOperation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    paths = sorted(by_path, key=lambda path: "{" in path)
    return [Route(path, endpoint=Endpoint(by_path[path]), include_in_schema=False) for path in paths]


class Endpoint:
    """All operations of one path, as an ASGI application."""

    def __init__(self, operations: Sequence[ApiOperation]) -> None:
        self._by_method: dict[str, ApiOperation] = {operation.method: operation for operation in operations}
        methods = sorted({*self._by_method, *(["HEAD"] if "GET" in self._by_method else [])})
        self._allow = ", ".join(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        operation = self._by_method.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if operation is None:
            raise method_not_allowed(scope["method"], self._allow)
        response = await _answer(operation, scope, receive)
        await response(scope, receive, send)


async def _answer(operation: ApiOperation, scope: Scope, receive: Receive) -> Response:
    service: Service = scope["app"].state.service
    principal = (
        None if operation.permission is None else service.access.admit(scope, operation.permission, operation.instead)
    )
    query = parse_query(operation.query, scope["query_string"])
    pool = service.pools["slow" if _takes_long(query) else operation.pool]
    work = partial(_perform, operation, service, principal, query, scope["path_params"])
    headers = Headers(scope=scope)
    if operation.body is None or not (operation.needs_body or _has_body(headers)):
        return await pool.run(partial(work, None))
    async with service.bodies.read(headers, receive) as body:
        if len(body) > _LARGE:
            pool = service.pools["slow"]
        return await pool.run(partial(work, body))


def _has_body(headers: Headers) -> bool:
    """Whether a request has a body (RFC 9112 §6.3)."""
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _takes_long(query: dict[str, Any]) -> bool:
    """Whether a call counts everything, or skips or returns many triples."""
    return bool(query.get("exactTotal")) or max(query.get("offset", 0), query.get("limit", 0)) > _MANY


def _perform(
    operation: ApiOperation,
    service: Service,
    principal: Principal | None,
    query: dict[str, Any],
    path: dict[str, str],
    body: bytes | None,
) -> Response:
    """Run an operation, from the bytes of the request to those of the answer."""
    document = None if body is None else check(operation.body, parse_json(body))
    answer = operation.run(ApiCall(service, principal, query, document, path))
    if answer.document is None:
        return Response(status_code=answer.status)
    return Response(to_json(answer.document), answer.status, media_type="application/json")


async def not_found(_: Scope, __: Receive, ___: Send) -> None:
    """Answer a path without a route.

    Raises:
        HttpError: `not_found`.
    """
    raise HttpError("not_found", "there is nothing at this path", hint="see /openapi.json for what there is")


NOT_FOUND: ASGIApp = not_found
