"""HTTP/1.1 on a connection, with limits for clients that are slow, broken or many.

Rules kept here:
- the parser is h11: pure Python, strict (`strict_lines.py`) and memory-safe (docs/decisions/0012-h11-reads-http.md);
- a connection is cut off if the head of a request takes too long, or if the client stops reading an answer; the time
  for a body is limited by the application (`bodies.py`);
- the number of connections is limited; who has shown a valid token keeps the connection (`connection_places.py`);
- bytes that are not HTTP are answered with an error like any other, and the connection is closed.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cortex_skills.doors.http.auth import SHOWN
from cortex_skills.doors.http.bodies import LEAVING_CANCELS, to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.server.connection_places import ConnectionPlaces
from cortex_skills.doors.server.strict_lines import StrictLines

MAX_HEAD = 32 << 10
_TOO_LARGE = 431


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of connections; times in seconds.

    Attributes:
        head_s: for the head of a request.
        stall_s: in which the client reads nothing of an answer.
        idle_s: between two requests.
        shutdown_s: for requests under way when the server shuts down.
        connections: the largest number of connections.
        of_token: how many of them one token keeps, when there are too many.
    """

    head_s: float = 10.0
    stall_s: float = 30.0
    idle_s: int = 15
    shutdown_s: int = 20
    connections: int = 1024
    of_token: int = 256


class LimitedProtocol(H11Protocol):
    """One connection.

    Args:
        limits: its limits.
        places: the places of all connections of the server.
    """

    def __init__(
        self, *args: Any, limits: ConnectionLimits, places: ConnectionPlaces[LimitedProtocol], **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.app_state = {**self.app_state, SHOWN: partial(places.show, self)}
        self._places = places
        self.conn._receive_buffer = StrictLines()  # h11 has no public name for it
        self.access_log = False  # `RequestLog` logs no query strings, which may be confidential
        self._limits = limits
        self._every = min(limits.head_s, limits.stall_s) / 4
        self._has_finished = False
        self._watching: asyncio.TimerHandle | None = None
        self._head_since = self.loop.time()
        self._unsent = 0
        self._unsent_since = self._head_since

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and cut another one off if there are too many."""
        super().connection_made(transport)
        displaced = self._places.enter(self)
        if displaced is not None:
            displaced.transport.abort()
        self._watching = self.loop.call_later(self._every, self._watch)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching the connection."""
        self._places.leave(self)
        if self._watching is not None:
            self._watching.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data."""
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # no answer can be sent any more
            self.transport.abort()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection open to answer, unless closing its side means that the client cancels the request."""
        self._has_finished = True
        if self.cycle is not None and self.cycle.scope.get(LEAVING_CANCELS):
            return False
        return self._is_answering()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._head_since = self.loop.time()
        super().on_response_complete()
        if self._has_finished and not self._is_answering() and not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - this answer has a code
        """Answer bytes that are not HTTP."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        problem = sys.exc_info()[1]  # this is called while the parser's error is handled
        too_large = getattr(problem, "error_status_hint", 400) == _TOO_LARGE
        error = HttpError("bad_request", "this is not HTTP/1.1")
        if too_large:
            error = HttpError("headers_too_large", "the headers are too large")
        body = to_json(error.body(secrets.token_hex(8)))
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        for event in (
            h11.Response(status_code=error.status, headers=headers, reason=b""),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_answering(self) -> bool:
        """Whether a request that was received completely is being answered."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _watch(self) -> None:
        """Cut the connection off if the client has stalled; called periodically."""
        now = self.loop.time()
        unsent = self.transport.get_write_buffer_size()
        if unsent != self._unsent or not unsent:
            self._unsent, self._unsent_since = unsent, now
        waits = self.conn.their_state is h11.IDLE and now - self._head_since > self._limits.head_s
        stalls = bool(unsent) and now - self._unsent_since > self._limits.stall_s
        if waits or stalls:
            self.transport.abort()
            return
        self._watching = self.loop.call_later(self._every, self._watch)
