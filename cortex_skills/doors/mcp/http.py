"""The endpoint `/mcp`: Streamable HTTP, behind the same middleware and with the same tokens as the rest of the server.

Rules kept here:
- a token needs the permission `read` and the plugin's namespace; without `write` it cannot call tools that write; the
  name of the token is the agent;
- a session belongs to the token that opened it; for any other token it does not exist;
- budgets and rate limits are those of the session, and of the token for requests without a session;
- the method, the type, the size and the duration of a request are checked before the SDK gets it, and so is that its
  body is a message (`unreadable`);
- sessions (`sessions.py`), calls under way and open streams are limited in total and by token, each by itself: a stream
  takes the place of no call;
- an idle session ends, and so does a stream whose token was revoked;
- when a session has ended, the plugin records the outcomes of the skills that were loaded in it; for an idle one at the
  next request of any client;
- when a session opens its stream, it gets the notifications that it has missed;
- at shutdown streams end at once, and calls under way are answered: they are completed or cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from cortex_skills.doors.http.auth import Principal
from cortex_skills.doors.http.bodies import LEAVING_CANCELS, pairs_of
from cortex_skills.doors.http.http_errors import HttpError, method_not_allowed
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.mcp.channels import ReplayedBody, WatchedAnswer, shutting_down
from cortex_skills.doors.mcp.sessions import HttpSession, SessionTable
from cortex_skills.doors.mcp.shares import Shares
from cortex_skills.safe_io.strict_json import without_mark

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from cortex_skills.doors.mcp.mcp_server import BuiltServer

PATH = "/mcp"
# In total, and of one token.
SESSIONS = (256, 64)
CALLS = (512, 128)
STREAMS = (256, 96)
IDLE_S = 900.0
RECHECK_S = 15.0
_MAX_NAME = 256
_AT_ONCE = 1 << 16  # bytes of a body that is read in the event loop
_METHODS = "POST, GET, DELETE"
_LISTEN = "subscriptions/listen"  # a POST that is answered by a stream, since 2026-07-28
_SESSION_ID = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_WITHOUT_SESSIONS = "2026"  # the first protocol version whose requests need no session
_PRINCIPAL = "cortex.principal"
_SESSION = "cortex.mcp"
_LIMITS = "cortex.limits"


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
        self._sessions = SessionTable(*SESSIONS, IDLE_S)
        self._calls = Shares("calls", *CALLS)
        self._open = Shares("streams", *STREAMS)
        self._streams: set[anyio.CancelScope] = set()
        self._is_ending = False
        self._settling: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        service: Service = scope["app"].state.service
        headers = Headers(scope=scope)
        principal = _admitted(service, scope)
        if scope["method"] not in _METHODS.split(", "):
            raise method_not_allowed(scope["method"], _METHODS)
        session = _session_of(scope)
        scope[LEAVING_CANCELS] = True
        body = b""
        if scope["method"] == "POST":
            async with service.bodies.read(headers, receive) as sent:
                body = without_mark(sent)
                receive = ReplayedBody(body, receive)
        if self._is_ending:
            raise shutting_down()
        caller, session_id = principal.key, headers.get(_SESSION_ID)
        is_stream = scope["method"] == "GET" or headers.get("mcp-method") == _LISTEN
        if session_id is None and headers.get(_VERSION, "") < _WITHOUT_SESSIONS:
            self._sessions.check(caller)
        with (self._open if is_stream else self._calls).one(caller):
            manager = self._manager or await self._begin(service)
            if scope["method"] == "POST" and (refusal := await _refusal_of(body, service)) is not None:
                await refusal(scope, receive, send)
                return
            limits = _key_of(caller, session_id) if self._sessions.is_of(session_id, caller) else caller
            scope = {**scope, _PRINCIPAL: principal, _SESSION: session, _LIMITS: limits, "user": _user_called(caller)}
            answer = WatchedAnswer(send)
            answer.before = partial(self._note, manager, caller, scope["method"], session_id)
            with (
                self._sessions.using(session_id, caller, is_stream=is_stream),
                self._notified(scope["method"], session_id, answer),
            ):
                await self._serve(manager, service, scope, receive, answer)

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

                from cortex_skills.doors.mcp.mcp_server import build

                built = self._built = build(
                    service.plugin, service.pools["mcp"], lambda ctx: _caller_of(ctx.request), service.calls
                )
                manager = StreamableHTTPSessionManager(
                    built.server,
                    session_idle_timeout=IDLE_S,
                    max_sessions=None,  # the table limits them
                    max_request_body_size=1 << 30,  # the body was read already, within the limit
                )
                begun = asyncio.Event()
                self._running = asyncio.create_task(_run(manager, built, begun))
                await begun.wait()
                self._manager = manager
                self._sessions.on_end = partial(self._settle, service)
            return self._manager

    def _settle(self, service: Service, session: HttpSession) -> None:
        """Settle a session that has ended; what is not settled when it closes is settled then."""

        async def settle() -> None:
            with suppress(HttpError):  # too many calls wait
                await service.pools["slow"].run(lambda: service.plugin.end_session(_key_of(session.owner, session.id)))

        task = asyncio.create_task(settle())
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    async def _note(
        self,
        manager: StreamableHTTPSessionManager,
        caller: str,
        method: str,
        session_id: str | None,
        status: int,
        headers: Headers,
    ) -> None:
        """Note which session a request opens or ends; if there are too many, another one ends."""
        is_success, opened = status == HTTPStatus.OK, headers.get(_SESSION_ID)
        if session_id is None and is_success and opened is not None:
            for ending in self._sessions.opened(opened, caller):
                await _end_session(manager, ending)
        elif session_id is not None and (status == HTTPStatus.NOT_FOUND or (method == "DELETE" and is_success)):
            self._sessions.ended(session_id, caller)

    @contextmanager
    def _notified(self, method: str, session_id: str | None, answer: WatchedAnswer) -> Iterator[None]:
        """Send notifications to a session during the block, if this request opens its stream."""
        if method != "GET" or session_id is None or self._built is None:
            yield
            return
        changes = self._built.changes
        answer.on_success = partial(changes.stream_begins, session_id)
        try:
            yield
        finally:
            if answer.is_success:  # otherwise there is another stream, or no such session
                changes.stream_ends(session_id)

    async def _serve(
        self,
        manager: StreamableHTTPSessionManager,
        service: Service,
        scope: Scope,
        receive: Receive,
        answer: WatchedAnswer,
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


def _key_of(caller: str, session_id: str | None) -> str:
    """The key of a session, whose budgets and outcomes are its own."""
    return f"{caller} {session_id}"


async def _run(manager: StreamableHTTPSessionManager, built: BuiltServer, begun: asyncio.Event) -> None:
    async with manager.run():
        begun.set()
        await built.changes.watch()


def _load() -> None:
    import mcp.server.streamable_http_manager  # noqa: F401

    import cortex_skills.doors.mcp.mcp_server
    import cortex_skills.doors.mcp.unreadable  # noqa: F401 - loaded here, outside the event loop


async def _refusal_of(body: bytes, service: Service) -> Response | None:
    """The answer to a body that is not passed on; None if it is."""
    from cortex_skills.doors.mcp.unreadable import refusal_of

    refusal = refusal_of(body) if len(body) < _AT_ONCE else await service.pools["slow"].run(lambda: refusal_of(body))
    if refusal is None:
        return None
    return Response(refusal, HTTPStatus.BAD_REQUEST, media_type="application/json")


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


async def _end_session(manager: StreamableHTTPSessionManager, session: HttpSession) -> None:
    """End a session as its client would, with its streams."""

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_: Message) -> None:
        return None

    headers = [(_SESSION_ID.encode(), session.id.encode())]
    scope = {"type": "http", "http_version": "1.1", "method": "DELETE", "path": PATH, "query_string": b""}
    await manager.handle_request({**scope, "headers": headers, "user": _user_called(session.owner)}, receive, send)


@lru_cache(maxsize=SESSIONS[0])
def _user_called(name: str) -> Any:
    """The user that the SDK binds a session to."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))


def _caller_of(request: Any) -> Any:
    from cortex_skills.doors.mcp.caller import SessionCaller

    principal: Principal = request.scope[_PRINCIPAL]
    session: dict[str, str] = request.scope.get(_SESSION, {})
    agent = session.get("agent") if principal.is_host else principal.name
    may_write = "write" in principal.permissions
    limits = request.scope.get(_LIMITS)
    return SessionCaller(
        agent,
        session.get("skill"),
        may_write,
        principal.is_host,
        limits,
        identity=principal.name,
        permissions=principal.permissions,
        person=principal.person,
    )
