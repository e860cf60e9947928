"""Sessions of browsers, the codes that begin them, and the tokens of forms; without input or output.

    sessions = Sessions()
    code = sessions.new_code(grant, now)               # 128 bits, for one use within a minute
    cookie = sessions.begin(sessions.redeem(code, now), now)
    session = sessions.find(cookie, now)               # until 8 h, 30 min unused, or `end`

Rules kept here:
- a grant is a token, by the digest of its text, or the rights of the user of this machine (`LOCAL`). A session holds no
  rights: they are those that the token has when a request is made;
- the text of a cookie or a code is random and not kept: its SHA-256 is. A code is used once, whether or not in time;
- a session ends `LIFETIME_S` after its beginning, after `IDLE_S` without a request, or when it is ended; a grant has at
  most `SESSIONS_OF_GRANT`: a further one ends the one that was not used for longest;
- a session reads. It may act for `ACTING_S` after its token or a new code of the same grant was shown again;
- the token of a form is an HMAC of its action and its object under a key of the session: another session, action or
  object needs another one;
- an address may fail `FAILURES` times in `FAILURE_S`.

Times are seconds of a monotonic clock, given by the caller.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field, replace

LOCAL = "local"
LIFETIME_S = 8 * 3600.0
IDLE_S = 30 * 60.0
ACTING_S = 10 * 60.0
CODE_S = 60.0
SESSIONS_OF_GRANT = 64
FAILURES = 5
FAILURE_S = 60.0

_MAX_SESSIONS = 4096
_MAX_CODES = 256
_MAX_ADDRESSES = 4096
_MAX_TEXT = 128


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A session.

    Attributes:
        digest: the SHA-256 of the text of its cookie.
        grant: the digest of its token, or `LOCAL`.
        began: when it began.
        used: when it was used last.
        acts_until: until when it may act; 0 if it only reads.
        form_key: the key of the tokens of its forms.
    """

    digest: str
    grant: str
    began: float
    used: float
    acts_until: float = 0.0
    form_key: bytes = field(default=b"", repr=False)

    @property
    def ends(self) -> float:
        """When it ends, if it is not used again."""
        return min(self.began + LIFETIME_S, self.used + IDLE_S)

    def may_act(self, now: float) -> bool:
        """Whether its token or a new code was shown again a short while ago."""
        return now < self.acts_until

    def form_token(self, action: str, subject: str = "") -> str:
        """The token of a form for an action on an object."""
        text = f"{len(action)}:{action}{subject}".encode("utf-8", "surrogatepass")
        return hmac.new(self.form_key, text, hashlib.sha256).hexdigest()

    def is_form_token(self, given: str, action: str, subject: str = "") -> bool:
        """Whether a token belongs to this session, action and object."""
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.form_token(action, subject).encode())


class Sessions:
    """All sessions and codes of a server; used from one thread."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, BrowserSession] = OrderedDict()  # the one that was not used for longest first
        self._codes: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def new_code(self, grant: str, now: float) -> str:
        """A code that begins one session of a grant within `CODE_S`."""
        for digest, (_, ends) in list(self._codes.items()):
            if ends <= now:
                del self._codes[digest]
        while len(self._codes) >= _MAX_CODES:
            self._codes.popitem(last=False)
        code = secrets.token_hex(16)
        self._codes[_digest(code)] = (grant, now + CODE_S)
        return code

    def redeem(self, code: str, now: float) -> str | None:
        """The grant of a code, which cannot be used again; None if it is wrong, used or late."""
        grant, ends = self._codes.pop(_digest(code), ("", 0.0))
        return grant if now < ends else None

    def is_waiting(self, code: str, now: float) -> bool:
        """Whether a code can still be used."""
        return self._codes.get(_digest(code), ("", 0.0))[1] > now

    def begin(self, grant: str, now: float) -> str:
        """Begin a session; the text of its cookie."""
        own = [session.digest for session in self._sessions.values() if session.grant == grant]
        for digest in own[: max(0, len(own) - SESSIONS_OF_GRANT + 1)]:
            del self._sessions[digest]
        while len(self._sessions) >= _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        text = secrets.token_urlsafe(32)
        digest = _digest(text)
        self._sessions[digest] = BrowserSession(digest, grant, now, now, form_key=secrets.token_bytes(32))
        return text

    def find(self, text: str, now: float, *, is_use: bool = True) -> BrowserSession | None:
        """The session of a cookie, which counts as used now; None if there is none or it has ended."""
        digest = _digest(text)
        session = self._sessions.get(digest)
        if session is None or session.ends <= now:
            self._sessions.pop(digest, None)
            return None
        if not is_use:
            return session
        del self._sessions[digest]
        session = self._sessions[digest] = replace(session, used=now)
        return session

    def is_open(self, session: BrowserSession, now: float) -> bool:
        """Whether a session has not ended; does not count as a use."""
        kept = self._sessions.get(session.digest)
        return kept is not None and now < kept.ends

    def confirm(self, session: BrowserSession, now: float) -> BrowserSession:
        """Let a session act for a while, because its grant was shown again."""
        confirmed = replace(session, acts_until=now + ACTING_S)
        if session.digest in self._sessions:
            self._sessions[session.digest] = confirmed
        return confirmed

    def end(self, session: BrowserSession) -> None:
        """End a session."""
        self._sessions.pop(session.digest, None)

    def __len__(self) -> int:
        """How many sessions are kept."""
        return len(self._sessions)


class Failures:
    """Counts failed attempts to begin a session, by address."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, list[float]] = OrderedDict()

    def wait_s(self, address: str, now: float) -> float:
        """How long an address has to wait before it may try again; 0 if it may."""
        recent = [time for time in self._times.get(address, ()) if time > now - FAILURE_S]
        return recent[-FAILURES] + FAILURE_S - now if len(recent) >= FAILURES else 0.0

    def add(self, address: str, now: float) -> None:
        """Count a failed attempt."""
        recent = [time for time in self._times.pop(address, ()) if time > now - FAILURE_S]
        self._times[address] = [*recent, now][-FAILURES:]
        if len(self._times) > _MAX_ADDRESSES:
            self._times.popitem(last=False)


def _digest(text: str) -> str:
    """The SHA-256 of a cookie or a code; that of a text that is longer than any is of its beginning."""
    return hashlib.sha256(text[:_MAX_TEXT].encode("utf-8", "surrogatepass")).hexdigest()
