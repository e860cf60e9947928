"""The endpoint `/mcp`: Streamable HTTP, behind the same middleware and with the same tokens as the rest of the server.

Rules kept here:
- a token needs the permission `read` and the plugin's namespace; without `write` it cannot call tools that write; the
  name of the token is the agent;
- a session belongs to the token that opened it; for any other token it does not exist;
- the method, the type, the size and the duration of a request are checked before the SDK gets it;
- sessions, and requests under way including streams, are limited in total and by token; an idle session ends, and so
  does a stream whose token was revoked;
- when a session opens its stream, it gets the notifications that it has missed;
- at shutdown streams end at once, and calls under way are completed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import anyio
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from cortex_skills.server.auth import Principal
from cortex_skills.server.bodies import LEAVING_CANCELS, pairs_of
from cortex_skills.server.http_errors import HttpError, method_not_allowed
from cortex_skills.server.service import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from cortex_skills.server.mcp.server import BuiltServer

PATH = "/mcp"
MAX_SESSIONS = 256
MAX_UNDER_WAY = 256
MAX_OF_TOKEN = 64
IDLE_S = 900.0
RECHECK_S = 15.0
_MAX_NAME = 256
_METHODS = "POST, GET, DELETE"
_SESSION_ID = "mcp-session-id"
_PRINCIPAL = "cortex.principal"
_SESSION = "cortex.mcp"


def mcp_route(endpoint: McpEndpoint) -> Route:
    """The route of the endpoint."""
    return Route(PATH, endpoint=endpoint, include_in_schema=False)


class McpEndpoint:
    """Checks requests and passes them to the SDK, which is loaded for the first of them.

    Attributes:
        is_ended_by_server: whether the server calls `end` when it begins to shut down; otherwise the SDK's streams
            watch for signals themselves.

    """

    def __init__(self) -> None:
        self.is_ended_by_server = False
        self._beginning = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._built: BuiltServer | None = None
        self._running: asyncio.Task[None] | None = None
        self._under_way: Counter[str] = Counter()
        self._streams: set[anyio.CancelScope] = set()
        self._is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        service: Service = scope["app"].state.service
        headers = Headers(scope=scope)
        principal = _admitted(service, scope)
        if scope["method"] not in _METHODS.split(", "):
            raise method_not_allowed(scope["method"], _METHODS)
        session = _session_of(scope)
        scope[LEAVING_CANCELS] = True
        if scope["method"] == "POST":
            async with service.bodies.read(headers, receive) as body:
                receive = _Replayed(body, receive)
        if self._is_ending:
            raise _shutting_down()
        if self._under_way[principal.name] >= MAX_OF_TOKEN or self._under_way.total() >= MAX_UNDER_WAY:
            raise HttpError("server_busy", "too many requests and streams are under way", hint="end some of them")
        manager = self._manager or await self._begin(service)
        scope = {**scope, _PRINCIPAL: principal, _SESSION: session, "user": _user(principal)}
        self._under_way[principal.name] += 1
        try:
            answer = _Answer(send)
            with self._notified(scope["method"], headers.get(_SESSION_ID), answer):
                await self._serve(manager, service, scope, receive, answer)
        finally:
            self._under_way[principal.name] -= 1
            if not self._under_way[principal.name]:
                del self._under_way[principal.name]

    def end(self) -> None:
        """End the streams, and begin no others; calls under way go on."""
        self._is_ending = True
        if self._built is not None:
            self._built.changes.listen.close()
        for stream in tuple(self._streams):
            stream.cancel()

    async def close(self) -> None:
        """End everything."""
        self.end()
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def _begin(self, service: Service) -> StreamableHTTPSessionManager:
        async with self._beginning:
            if self._manager is None:
                await service.pools["slow"].run(_load)  # the SDK is large
                if self.is_ended_by_server:
                    _leave_streams_alone()
                from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

                from cortex_skills.server.mcp.server import build

                built = self._built = build(service.plugin, service.pools["mcp"], lambda ctx: _caller_of(ctx.request))
                manager = StreamableHTTPSessionManager(
                    built.server,
                    session_idle_timeout=IDLE_S,
                    max_sessions=MAX_SESSIONS,
                    max_request_body_size=1 << 30,  # the body was read already, within the limit
                )
                begun = asyncio.Event()
                self._running = asyncio.create_task(_run(manager, built, begun))
                await begun.wait()
                self._manager = manager
            return self._manager

    @contextmanager
    def _notified(self, method: str, session: str | None, answer: _Answer) -> Iterator[None]:
        """Send notifications to a session during the block, if this request opens its stream."""
        if method != "GET" or session is None or self._built is None:
            yield
            return
        changes = self._built.changes
        answer.on_success = lambda: changes.stream_begins(session)
        try:
            yield
        finally:
            if answer.is_success:  # otherwise there is another stream, or no such session
                changes.stream_ends(session)

    async def _serve(
        self, manager: StreamableHTTPSessionManager, service: Service, scope: Scope, receive: Receive, answer: _Answer
    ) -> None:
        """Pass a request to the SDK, and cancel it once its token is no longer valid."""
        with anyio.CancelScope() as cancel:
            if scope["method"] == "GET":
                self._streams.add(cancel)
            loop = asyncio.get_running_loop()
            timer: asyncio.TimerHandle

            def recheck() -> None:
                nonlocal timer
                timer = loop.call_later(RECHECK_S, recheck)
                try:
                    _admitted(service, scope)
                except HttpError:
                    cancel.cancel()

            timer = loop.call_later(RECHECK_S, recheck)
            try:
                await manager.handle_request(scope, receive, answer)
            finally:
                self._streams.discard(cancel)
                timer.cancel()
        if cancel.cancelled_caught:
            await answer.end()


async def _run(manager: StreamableHTTPSessionManager, built: BuiltServer, begun: asyncio.Event) -> None:
    async with manager.run():
        begun.set()
        await built.changes.watch()


def _load() -> None:
    import mcp.server.streamable_http_manager  # noqa: F401

    import cortex_skills.server.mcp.server  # noqa: F401 - loaded here, outside the event loop


def _leave_streams_alone() -> None:
    """Stop sse-starlette from cutting all streams off at a signal, also those of calls under way."""
    from sse_starlette.sse import AppStatus

    AppStatus.enable_automatic_graceful_drain = False


def _admitted(service: Service, scope: Scope) -> Principal:
    """The caller of a request, who may use the plugin.

    Raises:
        HttpError: `unauthorized` or `permission_denied`.

    """
    principal = service.access.admit(scope, "read")
    if not principal.may_use(service.plugin.graph.namespace):
        hint = "ask for a token for the namespace of this server's skills"
        raise HttpError("permission_denied", "your token does not open this namespace", hint=hint)
    return principal


def _session_of(scope: Scope) -> dict[str, str]:
    """The parameters of the URL, which apply to all calls: `skill`, and `agent` for a caller who may name one."""
    try:
        pairs = pairs_of(scope["query_string"], 2)
    except ValueError:
        raise HttpError("invalid_arguments", "the query string is malformed") from None
    if any(name not in ("skill", "agent") or not 0 < len(value) <= _MAX_NAME for name, value in pairs):
        hint = f"known: `skill` and `agent`, each of 1 to {_MAX_NAME} characters"
        raise HttpError("invalid_arguments", "the query string has a parameter that is not valid", hint=hint)
    return dict(pairs)


def _user(principal: Principal) -> Any:
    """The user that the SDK binds a session to."""
    return _user_called(principal.key)


@lru_cache(maxsize=MAX_SESSIONS)
def _user_called(name: str) -> Any:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))


def _caller_of(request: Any) -> Any:
    from cortex_skills.server.mcp.caller import Caller

    principal: Principal = request.scope[_PRINCIPAL]
    session: dict[str, str] = request.scope.get(_SESSION, {})
    agent = session.get("agent") if principal.is_host else principal.name
    return Caller(agent, session.get("skill"), "write" in principal.permissions, may_name_agent=principal.is_host)


def _shutting_down() -> HttpError:
    return HttpError("server_busy", "the server is shutting down", hint="try again in a while")


class _Replayed:
    """An ASGI channel with a body that was read already, then the messages that follow it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Answer:
    """Passes an answer on, and can end it early."""

    def __init__(self, send: Send) -> None:
        self.on_success: Callable[[], None] | None = None
        self.is_success = False
        self._send = send
        self._has_begun = self._is_over = False

    async def __call__(self, message: Message) -> None:
        self._has_begun = True
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
            self.is_success = True
            if self.on_success is not None:
                self.on_success()

    async def end(self) -> None:
        if not self._has_begun:
            raise _shutting_down()
        if not self._is_over:
            await self._send({"type": "http.response.body", "body": b""})
