"""`RequestChecks`: refuses requests by their head, before anything else is done for them.

Rules kept here:
- a check is a function of the scope that raises an `HttpError`; the connection of a refused request is closed;
- a request whose length could be read in two ways is refused (request smuggling, RFC 9112 §6.3);
- a path that is not UTF-8 is refused: it would be read as another one;
- the URL, the number of headers and their size are limited, and so are the requests under way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_skills.doors.http.http_errors import HttpError

MAX_UNDER_WAY = 1024
_MAX_TARGET = 28 << 10
_MAX_HEADERS = 100
_MAX_HEAD = 32 << 10
_VERSIONS = frozenset({"1.0", "1.1", "2", "3"})  # 2 and 3 under another ASGI server

Check = Callable[[Scope], None]


class RequestChecks:
    """Runs the checks.

    Args:
        app: the application.
        checks: run in their order, after those of this module.
    """

    def __init__(self, app: ASGIApp, checks: Sequence[Check]) -> None:
        self._app = app
        self._checks = (check_head, *checks)
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._under_way += 1
        try:
            try:
                if self._under_way > MAX_UNDER_WAY:
                    raise HttpError("server_busy", "too many requests are under way", hint="try again in a while")
                for check in self._checks:
                    check(scope)
            except HttpError as error:
                error.headers["connection"] = "close"
                raise
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1


def check_head(scope: Scope) -> None:
    """Check the version, the URL and the headers of a request.

    Raises:
        HttpError: `url_too_long`, `headers_too_large`, `invalid_arguments` or `bad_request`.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    names = [name for name, _ in headers]
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _MAX_TARGET:
        raise HttpError("url_too_long", "the URL is too long", hint="send a pattern with POST /api/v1/query")
    try:
        unquote_to_bytes(scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError:  # `path` has other characters in its place
        raise HttpError("invalid_arguments", "the path is not UTF-8", hint="percent-encode it, in UTF-8") from None
    if scope["http_version"] not in _VERSIONS:
        raise HttpError("bad_request", "this version of HTTP is not supported", hint="use HTTP/1.1")
    if len(names) > _MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > _MAX_HEAD:
        hint = f"at most {_MAX_HEADERS} headers of {_MAX_HEAD >> 10} KiB together"
        raise HttpError("headers_too_large", "the headers are too many or too large", hint=hint)
    if (b"transfer-encoding" in names and b"content-length" in names) or names.count(b"content-length") > 1:
        raise HttpError("bad_request", "the length of the body is given twice", hint="give it once")
