"""`UnreadBodies`: what happens to the rest of a body when its request was answered before it was read.

Rules kept here:
- the rest of an unread body would be parsed as the next request, or waited for, so the answer says `Connection: close`;
- closing a socket with unread bytes resets the connection (RFC 1122 §4.2.2.13), and a client that sends everything
  before it reads would lose its answer (RFC 9112 §9.6): after the answer is sent, the rest is read and dropped;
- at most `MAX_DROPPED` bytes are, within `LINGER_S` seconds and while the client pauses for `PAUSE_S` at most; a client
  that has used up the time for its body (408) gets no more;
- this happens outside the limits on requests under way.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_DROPPED = 64 << 20
LINGER_S = 10.0
PAUSE_S = 2.0


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
        may_send = all(name != b"expect" for name, _ in scope["headers"])  # otherwise the client waits to be asked
        lingers = False

        async def watched_receive() -> Message:
            nonlocal is_read, may_send
            message = await receive()
            may_send = True
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                is_read = True
            return message

        async def closing_send(message: Message) -> None:
            nonlocal may_send, lingers
            if message["type"] == "http.response.start":
                may_send = may_send and message["status"] != HTTPStatus.REQUEST_TIMEOUT
                if not is_read:
                    MutableHeaders(scope=message)["connection"] = "close"
            elif not message.get("more_body", False) and not is_read and may_send:
                lingers = True
                message = {**message, "more_body": True}  # the server closes the connection after the last part
            await send(message)

        await self._app(scope, watched_receive, closing_send)
        if lingers:
            await _drop(receive)
            await send({"type": "http.response.body", "body": b""})


async def _drop(receive: Receive) -> None:
    """Read the rest of a body, within the limits."""
    left = MAX_DROPPED
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while left > 0:
                async with asyncio.timeout(PAUSE_S):
                    message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
