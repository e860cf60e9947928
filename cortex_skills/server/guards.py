"""What every request passes before it reaches a door, and every answer before it leaves.

Rules kept here:
- a request must name a host that this server answers to (else a web page could reach it under a name of its own: DNS
  rebinding), and a browser may call only from a page of that same host; there is no CORS;
- a request whose length could be read in two ways is refused and its connection closed;
- so many requests are at work at once; what comes beyond that is refused at once;
- every answer has an id that the log has too, and headers that keep a browser from making something else of it;
- nothing that a client sends is logged but the method, the path and the length; never a header, a query or a body;
- a door that fails answers with an error of ours, without a traceback.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_skills.escaping import one_line
from cortex_skills.server.answers import send_error
from cortex_skills.server.errors import HttpError, as_http

log = logging.getLogger(__name__)

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_AT_WORK = 512
_MAX_TARGET = 28 << 10
_MAX_HEADERS = 100
_MAX_HEAD = 32 << 10
_VERSIONS = frozenset({"1.0", "1.1", "2", "3"})  # the last two: of servers other than ours
_MAX_LOGGED = 200
_SECURITY = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
_SAME_SITE = frozenset({"same-origin", "none"})
_CLOSED = (b"connection", b"close")
_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})


class Guards:
    """Stands around an application.

    Args:
        app: what is guarded.
        hosts: the host names that are answered to, beside those of this machine; without their ports.

    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = LOCAL_NAMES | {host.lower().strip("[]").rstrip(".") for host in hosts}
        self._at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            return
        request_id = secrets.token_hex(8)
        scope["cortex.request_id"] = request_id
        body = _Body(scope, receive)
        answer = _Answer(send, request_id, body)
        began = time.monotonic()
        self._at_work += 1
        try:
            answer.is_last = True  # of whoever does not pass, nothing more is read
            self._check(scope)
            answer.is_last = False
            await self._app(scope, body, answer)
        except Exception as error:
            if answer.status is not None:
                log.error("request %s failed while it was answered", request_id, exc_info=error)
                raise
            await send_error(as_http(error, request_id), request_id, answer)
        finally:
            self._at_work -= 1
            if log.isEnabledFor(logging.INFO):
                path = one_line(scope["path"])[:_MAX_LOGGED]
                took = (time.monotonic() - began) * 1000
                log.info("%s %s %s %s %.1f ms", request_id, scope["method"], path, answer.status, took)

    def _check(self, scope: Scope) -> None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if self._at_work > MAX_AT_WORK:
            raise HttpError("server_busy", "too many requests are at work", hint="try again in a while")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _MAX_TARGET:
            raise HttpError("url_too_long", "the URL is too long", hint="send a pattern with POST /api/v1/query")
        names = [name for name, _ in headers]
        if scope["http_version"] not in _VERSIONS:
            raise HttpError("bad_request", "this version of HTTP is not spoken here", hint="use HTTP/1.1")
        if len(names) > _MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > _MAX_HEAD:
            hint = f"at most {_MAX_HEADERS} headers of {_MAX_HEAD >> 10} KiB together"
            raise HttpError("headers_too_large", "the headers are too many or too large", hint=hint)
        if (b"transfer-encoding" in names and b"content-length" in names) or names.count(b"content-length") > 1:
            raise HttpError("bad_request", "the length of the body is given in two ways", hint="give one of them")
        host = self._check_host([value for name, value in headers if name == b"host"])
        _check_origin(host, scope["scheme"], headers)

    def _check_host(self, given: list[bytes]) -> str:
        if len(given) != 1:
            raise HttpError("bad_request", "a request needs one `Host` header")
        host = given[0].decode("latin-1").lower()
        found = _HOST.fullmatch(host)
        if found is None or (found[1] or found[2]).rstrip(".") not in self._hosts:
            hint = "use the address that the server prints, or name the host in cortex.allowedHosts"
            raise HttpError("host_not_allowed", "this server does not answer to that host name", hint=hint)
        return host


def _check_origin(host: str, scheme: str, headers: list[tuple[bytes, bytes]]) -> None:
    """Refuse a request that a browser sends for a page of another origin (Fetch standard, `Sec-Fetch-Site`)."""
    own = {f"{scheme}://{host}", f"https://{host}"}  # the second: behind a proxy that speaks TLS
    for name, value in headers:
        allowed = own if name == b"origin" else _SAME_SITE if name == b"sec-fetch-site" else None
        if allowed is not None and value.decode("latin-1").lower() not in allowed:
            hint = "this API is for programs, and for pages of its own host"
            raise HttpError("origin_not_allowed", "a page of another origin may not call this server", hint=hint)


class _Body:
    """Hands the request's body on, and knows whether it was read to its end."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        lengths = {name: value for name, value in scope["headers"] if name in _LENGTHS}
        self.ended = lengths.get(b"content-length", b"0").strip(b"0") == b"" and b"transfer-encoding" not in lengths

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self.ended = True
        return message


class _Answer:
    """Hands an answer on, with what every answer has."""

    def __init__(self, send: Send, request_id: str, body: _Body) -> None:
        self._send = send
        self._id = request_id
        self._body = body
        self.status: int | None = None
        self.is_last = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers: list[tuple[bytes, bytes]] = [*message.get("headers", ()), *_SECURITY]
            headers.append((b"x-request-id", self._id.encode()))
            if (
                self.is_last or not self._body.ended
            ):  # what is left of it would be taken for the next request, or waited for
                headers.append(_CLOSED)
            message = dict[str, Any](message) | {"headers": headers}
        await self._send(message)
