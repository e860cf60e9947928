"""`RequestLog`: an id and a log line for every request.

Rules kept here:
- the id is in the scope (`REQUEST_ID`), in the header `X-Request-Id`, in the body of an error, and in the log;
- of what a client sends, only the method and the path are logged: no header, no query string, no body.
"""

from __future__ import annotations

import logging
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_skills.safe_io.display import one_line

log = logging.getLogger(__name__)

REQUEST_ID = "cortex.request_id"
_MAX_LOGGED = 200


class RequestLog:
    """The outermost middleware; it also ends connections that are not HTTP requests, such as web sockets."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        request_id = scope[REQUEST_ID] = secrets.token_hex(8)
        status: int | None = None

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = request_id
            await send(message)

        began = time.monotonic()
        try:
            await self._app(scope, receive, send_with_id)
        finally:
            if log.isEnabledFor(logging.INFO):
                path = one_line(scope["path"])[:_MAX_LOGGED]
                took = (time.monotonic() - began) * 1000
                log.info("%s %s %s %s %.1f ms", request_id, scope["method"], path, status, took)
