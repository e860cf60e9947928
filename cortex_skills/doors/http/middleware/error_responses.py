"""`ErrorResponses`: every exception becomes an error in JSON.

Rules kept here:
- an exception after the answer has begun is logged and raised: the ASGI server cuts the connection off.
"""

from __future__ import annotations

import logging

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import as_http
from cortex_skills.doors.http.middleware.request_log import REQUEST_ID

log = logging.getLogger(__name__)


class ErrorResponses:
    """Answers with the error when the application fails."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        has_begun = False

        async def watched_send(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched_send)
        except Exception as error:
            if scope["type"] != "http":
                raise
            request_id = scope[REQUEST_ID]
            if has_begun:
                log.error("request %s failed while it was answered", request_id, exc_info=error)
                raise
            known = as_http(error, request_id)
            body = to_json(known.body(request_id))
            await Response(body, known.status, known.headers, "application/json")(scope, receive, send)
