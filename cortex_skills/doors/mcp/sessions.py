"""`SessionTable`: whose sessions over HTTP are kept when there are too many.

Rules kept here:
- a caller has at most `of_owner` sessions; for one more, the caller's own oldest idle session ends;
- for one more than `most` in total, the oldest idle session of the caller who has most of them ends, so that a caller
  with many sessions cannot keep out one with few;
- a session is idle while no call of it is under way; one without a stream ends before one that has a stream open;
- a session with a call under way never ends for another; if there are only such, none can be opened;
- no input or output: the endpoint ends the session that the table names, and is called for each one that has ended.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cortex_skills.doors.http.http_errors import HttpError


@dataclass(eq=False, slots=True)
class HttpSession:
    """A session over HTTP.

    Attributes:
        id: as clients send it.
        owner: the key of its caller.
        used: when its last request began; the order in which sessions end, because clients know it.
        last: when its last request began or ended; the SDK ends a session by it.
        calls: its requests under way that are not streams.
        streams: its open streams.
    """

    id: str
    owner: str
    used: float
    last: float
    calls: int = 0
    streams: int = 0


class SessionTable:
    """The open sessions.

    Args:
        most: the largest number of sessions.
        of_owner: the largest number of sessions of one caller.
        idle_s: how long a session lasts without a request, in seconds.
        clock: returns seconds, and never goes backwards.

    Attributes:
        on_end: called with each session that has ended, for any reason.
    """

    def __init__(self, most: int, of_owner: int, idle_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._of_owner = of_owner
        self._idle_s = idle_s
        self._clock = clock
        self._sessions: dict[str, HttpSession] = {}
        self.on_end: Callable[[HttpSession], None] = lambda _: None

    def check(self, owner: str) -> None:
        """Check that a caller may open a session.

        Raises:
            HttpError: `server_busy`: another would have to end, and each of them has a call under way.
        """
        self._forget_expired()
        of_whom = self._candidates(owner)
        if of_whom is not None and all(session.calls for session in of_whom):
            hint = "wait for the answers to your calls, or end a session"
            raise HttpError("server_busy", "too many sessions are open, and all of them are in use", hint=hint)

    def opened(self, session_id: str, owner: str) -> list[HttpSession]:
        """Add a session that was opened; returns the one that has to end for it, if any."""
        counts = self._counts()
        idle = [session for session in self._candidates(owner) or () if not session.calls]
        now = self._clock()
        self._sessions[session_id] = HttpSession(session_id, owner, now, now)
        if not idle:
            return []
        ending = min(idle, key=lambda session: (-counts[session.owner], session.streams > 0, session.used))
        self._remove(ending)
        return [ending]

    def ended(self, session_id: str, owner: str) -> None:
        """Forget a session of a caller, if it is known."""
        session = self._sessions.get(session_id)
        if session is not None and session.owner == owner:
            self._remove(session)

    def is_of(self, session_id: str | None, owner: str) -> bool:
        """Whether a caller has opened this session, and it has not ended."""
        session = self._sessions.get(session_id or "")
        return session is not None and session.owner == owner

    @contextmanager
    def using(self, session_id: str | None, owner: str, *, is_stream: bool) -> Iterator[None]:
        """A request of a session, for the block; an unknown session, or one of another caller, is ignored."""
        self._forget_expired()
        session = self._sessions.get(session_id or "")
        if session is None or session.owner != owner:
            yield
            return
        session.used = session.last = self._clock()
        session.calls += not is_stream
        session.streams += is_stream
        try:
            yield
        finally:
            session.last = self._clock()
            session.calls -= not is_stream
            session.streams -= is_stream

    def _candidates(self, owner: str) -> list[HttpSession] | None:
        """The sessions of which one has to end if a caller opens another; None if none has to."""
        counts = self._counts()
        if counts[owner] >= self._of_owner:
            return [session for session in self._sessions.values() if session.owner == owner]
        if len(self._sessions) >= self._most:
            return [session for session in self._sessions.values() if counts[session.owner] >= counts[owner]]
        return None

    def _counts(self) -> Counter[str]:
        return Counter(session.owner for session in self._sessions.values())

    def _forget_expired(self) -> None:
        """Forget the sessions that the SDK has ended because nothing used them."""
        expired = self._clock() - self._idle_s
        for session in tuple(self._sessions.values()):
            if not session.calls and not session.streams and session.last < expired:
                self._remove(session)

    def _remove(self, session: HttpSession) -> None:
        del self._sessions[session.id]
        self.on_end(session)
