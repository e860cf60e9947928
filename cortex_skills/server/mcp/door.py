"""The door `/mcp`: Streamable HTTP, behind the guards and with the tokens of everything else that is served.

Rules kept here:
- a token opens it when it has the permission `read` and the plugin's namespace is one of its own; without `write`,
  tools that write are not its to call; whoever it names is the agent;
- a session belongs to the token that opened it: to any other it is not there;
- what a request may be is checked before the SDK sees it: its method, its type, its size, the time that it takes;
- sessions, and requests at work (streams are that too), are bounded in all and for each token; a session that is not
  used ends, and a stream whose token was revoked;
- a session whose stream begins is told what it has missed;
- when the server ends, streams end at once, and calls under way as they would.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import anyio
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from cortex_skills.server.answers import LEAVING_CANCELS
from cortex_skills.server.auth import Principal
from cortex_skills.server.errors import HttpError
from cortex_skills.server.service import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from cortex_skills.server.mcp.server import Built

PATH = "/mcp"
MAX_SESSIONS = 256
MAX_AT_WORK = 256
MAX_OF_ONE = 64
IDLE_S = 900.0
ASK_AGAIN_S = 15.0
_MAX_NAME = 256
_METHODS = ("POST", "GET", "DELETE")
_SESSION_ID = "mcp-session-id"
_PRINCIPAL = "cortex.principal"
_SESSION = "cortex.mcp"


def mcp_route(door: McpDoor) -> Route:
    """The route of the door."""
    return Route(PATH, endpoint=door, include_in_schema=False)


class McpDoor:
    """Lets requests through to the SDK. Begins with the first of them; whoever serves it calls `end`, and `close`.

    Attributes:
        is_told_to_end: whether `end` is called when the server begins to end; else streams find that out themselves.

    """

    def __init__(self) -> None:
        self.is_told_to_end = False
        self._beginning = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._built: Built | None = None
        self._running: asyncio.Task[None] | None = None
        self._at_work: Counter[str] = Counter()
        self._streams: set[anyio.CancelScope] = set()
        self._is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        service: Service = scope["app"].state.service
        headers = Headers(scope=scope)
        principal = _admitted(service, scope)
        if scope["method"] not in _METHODS:
            message = f"this path has no {scope['method'][:20]}"
            allowed = ", ".join(_METHODS)
            raise HttpError("method_not_allowed", message, hint=f"it has {allowed}", headers={"allow": allowed})
        session = _session_of(scope)
        scope[LEAVING_CANCELS] = True
        if scope["method"] == "POST":
            async with service.bodies.read(headers, receive) as body:
                receive = _Replayed(body, receive)
        if self._is_ending:
            raise HttpError("server_busy", "the server is about to end", hint="try again in a while")
        if self._at_work[principal.name] >= MAX_OF_ONE or self._at_work.total() >= MAX_AT_WORK:
            raise HttpError("server_busy", "too many requests and streams are at work", hint="end some of them")
        manager = self._manager or await self._begin(service)
        scope = {**scope, _PRINCIPAL: principal, _SESSION: session, "user": _user(principal)}
        self._at_work[principal.name] += 1
        try:
            answer = _Answer(send)
            with self._heard(scope["method"], headers.get(_SESSION_ID), answer):
                await self._serve(manager, service, scope, receive, answer)
        finally:
            self._at_work[principal.name] -= 1
            if not self._at_work[principal.name]:
                del self._at_work[principal.name]

    def end(self) -> None:
        """End the streams, and begin none; calls under way go on."""
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
                await service.lanes["slow"].run(_load)  # the SDK is large
                if self.is_told_to_end:
                    _leave_streams_alone()
                from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

                from cortex_skills.server.mcp.server import build

                built = self._built = build(service.plugin, service.lanes["mcp"], lambda ctx: _caller_of(ctx.request))
                manager = StreamableHTTPSessionManager(
                    built.server,
                    session_idle_timeout=IDLE_S,
                    max_sessions=MAX_SESSIONS,
                    max_request_body_size=1 << 30,  # ours are read already, within a limit
                )
                begun = asyncio.Event()
                self._running = asyncio.create_task(_run(manager, built, begun))
                await begun.wait()
                self._manager = manager
            return self._manager

    @contextmanager
    def _heard(self, method: str, session: str | None, answer: _Answer) -> Iterator[None]:
        """Meanwhile a session can be told of changes, when this is the request that opens its stream."""
        if method != "GET" or session is None or self._built is None:
            yield
            return
        changes = self._built.changes
        answer.on_success = lambda: changes.stream_begins(session)
        try:
            yield
        finally:
            if answer.is_success:  # else there is another stream, or no such session
                changes.stream_ends(session)

    async def _serve(
        self, manager: StreamableHTTPSessionManager, service: Service, scope: Scope, receive: Receive, answer: _Answer
    ) -> None:
        """Have a request answered, for as long as whoever sent it may be here."""
        with anyio.CancelScope() as cancel:
            if scope["method"] == "GET":
                self._streams.add(cancel)
            loop = asyncio.get_running_loop()
            asking: asyncio.TimerHandle

            def ask() -> None:
                nonlocal asking
                asking = loop.call_later(ASK_AGAIN_S, ask)
                try:
                    _admitted(service, scope)
                except HttpError:
                    cancel.cancel()

            asking = loop.call_later(ASK_AGAIN_S, ask)
            try:
                await manager.handle_request(scope, receive, answer)
            finally:
                self._streams.discard(cancel)
                asking.cancel()
        if cancel.cancelled_caught:
            await answer.end()


async def _run(manager: StreamableHTTPSessionManager, built: Built, begun: asyncio.Event) -> None:
    async with manager.run():
        begun.set()
        await built.changes.watch()


def _load() -> None:
    import mcp.server.streamable_http_manager  # noqa: F401

    import cortex_skills.server.mcp.server  # noqa: F401 - that it is there when it is needed


def _leave_streams_alone() -> None:
    """What sends streams would cut all of them off at a signal, those of calls under way too."""
    from sse_starlette.sse import AppStatus

    AppStatus.enable_automatic_graceful_drain = False


def _admitted(service: Service, scope: Scope) -> Principal:
    """Who sent a request, when they may use the plugin.

    Raises:
        HttpError: `unauthorized` or `permission_denied`.

    """
    client = scope.get("client")
    principal = service.gate.identify(scope["headers"], client[0] if client else None)
    principal.require("read")
    if not principal.may_use(service.plugin.graph.namespace):
        hint = "ask for a token of the namespace that the skills of this server work in"
        raise HttpError("permission_denied", "this namespace is not yours to use", hint=hint)
    return principal


def _session_of(scope: Scope) -> dict[str, str]:
    """What the URL says for all calls: `skill`, and `agent` for those who may name one."""
    try:
        pairs = parse_qsl(
            scope["query_string"].decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=2
        )
    except ValueError:
        raise HttpError("invalid_arguments", "the query string is malformed") from None
    if any(name not in ("skill", "agent") or not 0 < len(value) <= _MAX_NAME for name, value in pairs):
        hint = f"it may say `skill` and `agent`, each of 1 to {_MAX_NAME} characters"
        raise HttpError("invalid_arguments", "the query string says what is not known here", hint=hint)
    return dict(pairs)


def _user(principal: Principal) -> Any:
    """Whom the SDK takes a session to belong to."""
    kind = "host" if principal.is_host else "token" if principal.has_token else "nobody"
    return _user_called(f"{kind}:{principal.name}")


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


class _Replayed:
    """A body that was read already, and what comes after it: that the client goes away."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class _Answer:
    """Hands an answer on, and can end it before its time."""

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
            raise HttpError("server_busy", "the server is about to end", hint="try again in a while")
        if not self._is_over:
            await self._send({"type": "http.response.body", "body": b""})
