"""The ASGI channels of a request at `/mcp`, between this server and the SDK.

Rules kept here:
- the SDK reads the body that was read and checked before;
- an answer can be ended early, once, and whoever waits for its beginning is told of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send

from cortex_skills.doors.http.http_errors import HttpError


def shutting_down() -> HttpError:
    """The error for a request that begins while the server ends."""
    return HttpError("server_busy", "the server is shutting down", hint="try again in a while")


class ReplayedBody:
    """An ASGI channel with a body that was read already, then the messages that follow it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """The next message."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class WatchedAnswer:
    """Passes an answer on, and can end it early.

    Attributes:
        before: awaited with the status and the headers before the answer begins.
        on_success: called when the answer has begun, if its status is 200.
        status: of the answer; None before it begins.
    """

    def __init__(self, send: Send) -> None:
        self.before: Callable[[int, Headers], Awaitable[None]] | None = None
        self.on_success: Callable[[], None] | None = None
        self.status: int | None = None
        self._send = send
        self._is_over = False

    async def __call__(self, message: Message) -> None:
        """Pass a message on."""
        begins = message["type"] == "http.response.start"
        if begins:
            self.status = message["status"]
            if self.before is not None:
                await self.before(message["status"], Headers(raw=message["headers"]))
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)
        if begins and self.is_success and self.on_success is not None:
            self.on_success()

    @property
    def is_success(self) -> bool:
        """Whether the answer began with 200."""
        return self.status == HTTPStatus.OK

    async def end(self) -> None:
        """End the answer, if it has not ended.

        Raises:
            HttpError: `server_busy`: it has not begun.
        """
        if self.status is None:
            raise shutting_down()
        if not self._is_over:
            await self._send({"type": "http.response.body", "body": b""})
