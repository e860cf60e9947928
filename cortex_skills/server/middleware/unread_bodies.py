"""`UnreadBodies`: closes a connection whose request was answered before its body was read.

Rules kept here:
- the rest of an unread body would be parsed as the next request, or waited for, so the answer says `Connection: close`.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class UnreadBodies:
    """Watches whether the body of a request was read to its end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        lengths = {value.strip(b"0") for name, value in scope["headers"] if name == b"content-length"}
        is_read = lengths <= {b""} and all(name != b"transfer-encoding" for name, _ in scope["headers"])

        async def watched_receive() -> Message:
            nonlocal is_read
            message = await receive()
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                is_read = True
            return message

        async def closing_send(message: Message) -> None:
            if message["type"] == "http.response.start" and not is_read:
                MutableHeaders(scope=message)["connection"] = "close"
            await send(message)

        await self._app(scope, watched_receive, closing_send)
