"""The REST operations, opened as routes.

Rules kept here:
- first who asks and whether they may, then what they send: nobody's body is read who may not come in;
- everything that blocks or computes runs in a lane, not in the event loop;
- a method that a path has not is refused with those that it has; HEAD is answered where GET is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_skills.server.answers import send_bytes, to_json
from cortex_skills.server.auth import Principal
from cortex_skills.server.bodies import check, parse_json, parse_query
from cortex_skills.server.errors import HttpError
from cortex_skills.server.operations import Answer, Call, Operation
from cortex_skills.server.service import Service

_FAR = 1000
_LARGE = 1 << 20  # as Python's objects a body takes many times its size, so that few of these are read at once


def routes_of(operations: Iterable[Operation]) -> list[Route]:
    """One route for each path, in the order of the operations."""
    by_path: dict[str, list[Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    return [Route(path, endpoint=_Door(group), include_in_schema=False) for path, group in by_path.items()]


class _Door:
    """All operations of one path."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._by_method: dict[str, Operation] = {operation.method: operation for operation in operations}
        methods = sorted({*self._by_method, *(["HEAD"] if "GET" in self._by_method else [])})
        self._allow = ", ".join(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        operation = self._by_method.get(method)
        if operation is None:
            raise HttpError(
                "method_not_allowed",
                f"this path has no {scope['method'][:20]}",
                hint=f"it has {self._allow}",
                headers={"allow": self._allow},
            )
        status, body = await _answer(operation, scope, receive)
        await send_bytes(status, body, send)


async def _answer(operation: Operation, scope: Scope, receive: Receive) -> tuple[int, bytes]:
    service: Service = scope["app"].state.service
    headers = Headers(scope=scope)
    principal = admit(scope, operation.permission)
    query = parse_query(operation.query, scope["query_string"])
    lane = service.lanes["slow" if _takes_long(query) else operation.lane]
    work = partial(_perform, operation, service, principal, query, scope["path_params"])
    if operation.body is None:
        return await lane.run(partial(work, None))
    async with service.bodies.read(headers, receive) as body:
        if len(body) > _LARGE:
            lane = service.lanes["slow"]
        return await lane.run(partial(work, body))


def _takes_long(query: dict[str, Any]) -> bool:
    """Whether a call counts everything, passes over much, or asks for much."""
    return bool(query.get("exactTotal")) or max(query.get("offset", 0), query.get("limit", 0)) > _FAR


def admit(scope: Scope, permission: str | None) -> Principal | None:
    """Who sent a request, if they may do what it takes; None when everybody may.

    Raises:
        HttpError: `unauthorized` or `permission_denied`.

    """
    if permission is None:
        return None
    service: Service = scope["app"].state.service
    client = scope.get("client")
    principal = service.gate.identify(scope["headers"], client[0] if client else None)
    principal.require(permission)
    return principal


def _perform(
    operation: Operation,
    service: Service,
    principal: Principal | None,
    query: dict[str, Any],
    path: dict[str, str],
    body: bytes | None,
) -> tuple[int, bytes]:
    """An operation from bytes to bytes."""
    document: Any = None
    if operation.body is not None:
        document = check(operation.body, parse_json(body or b""))
    answer: Answer = operation.run(Call(service, principal, query, document, path))
    return answer.status, b"" if answer.document is None else to_json(answer.document)


async def not_found(scope: Scope, _: Receive, __: Send) -> None:
    """Every path that has no door.

    Raises:
        HttpError: `not_found`.

    """
    later = next((word for prefix, word in _LATER.items() if scope["path"].startswith(prefix)), None)
    if later is not None:
        raise HttpError("not_found", f"{later} are not built in yet", hint="see /openapi.json for what is there")
    raise HttpError("not_found", "there is nothing at this path", hint="see /openapi.json for what is there")


_LATER = {
    "/api/v1/agents": "the scores of agents",
    "/api/v1/memory": "memories",
}

NOT_FOUND: ASGIApp = not_found
