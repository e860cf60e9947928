"""HTTP/1.1 on a connection, for clients that are slow, broken or many.

Rules kept here:
- the parser is h11: pure Python, strict, and without a memory to corrupt; see docs/decisions/0012-h11-reads-http.md;
- a connection has so many seconds to send the head of a request, and so many in which nothing of an answer is taken;
  then it is cut off. How long a body may take is the application's affair (`bodies.py`);
- there are so many connections, and no more;
- what is no HTTP is answered with an error like any other, and its connection closed.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cortex_skills.server.answers import JSON, LEAVING_CANCELS, to_json
from cortex_skills.server.errors import HttpError

MAX_HEAD = 32 << 10
_TOO_LARGE = 431


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client may take; times in seconds.

    Attributes:
        head_s: for the head of a request.
        stall_s: without taking anything of an answer.
        idle_s: between two requests.
        shutdown_s: for what is under way when the server ends.
        connections: how many there may be.

    """

    head_s: float = 10.0
    stall_s: float = 30.0
    idle_s: int = 15
    shutdown_s: int = 20
    connections: int = 1024


class PatientProtocol(H11Protocol):
    """One connection.

    Args:
        patience: what it may take.

    """

    def __init__(self, *args: Any, patience: Patience, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.access_log = False  # ours says less: a query string may hold what is nobody's business
        self._patience = patience
        self._every = min(patience.head_s, patience.stall_s) / 4
        self._asks_no_more = False
        self._watching: asyncio.TimerHandle | None = None
        self._head_since = self.loop.time()
        self._unsent = 0
        self._unsent_since = self._head_since

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._patience.connections:
            transport.abort()
            return
        self._watching = self.loop.call_later(self._every, self._watch)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._watching is not None:
            self._watching.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # nothing can be answered any more
            self.transport.abort()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer what was asked, though the client has said that it asks no more; unless that takes it back."""
        self._asks_no_more = True
        if self.cycle is not None and self.cycle.scope.get(LEAVING_CANCELS):
            return False
        return self._is_answering()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._head_since = self.loop.time()
        super().on_response_complete()
        if self._asks_no_more and not self._is_answering() and not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - ours says more
        """Answer what is no HTTP."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        problem = sys.exc_info()[1]  # this is called while the parser's error is handled
        too_large = getattr(problem, "error_status_hint", 400) == _TOO_LARGE
        code, text = ("headers_too_large", "the headers are too large") if too_large else ("bad_request", "no HTTP/1.1")
        error = HttpError(code, text)
        body = to_json(error.body(secrets.token_hex(8)))
        headers = [("content-type", JSON), ("content-length", str(len(body))), ("connection", "close")]
        for event in (
            h11.Response(status_code=error.status, headers=headers, reason=b""),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_answering(self) -> bool:
        """Whether a request is at work that was sent to its end."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _watch(self) -> None:
        """Look every now and then whether the client still does its part."""
        now = self.loop.time()
        unsent = self.transport.get_write_buffer_size()
        if unsent != self._unsent or not unsent:
            self._unsent, self._unsent_since = unsent, now
        waits = self.conn.their_state is h11.IDLE and now - self._head_since > self._patience.head_s
        stalls = bool(unsent) and now - self._unsent_since > self._patience.stall_s
        if waits or stalls:
            self.transport.abort()
            return
        self._watching = self.loop.call_later(self._every, self._watch)
