"""The caller of a page, and whether a form came from a page of this server.

Rules kept here:
- a caller shows a token in the header `Authorization`, or the cookie of a session; without both, `allowAnonymousReads`
  decides. A session is good below `/explore` only: the cookie has that path, and no other route reads it;
- the rights of a session are those that its token has now; when the token was revoked or has expired, the session ends;
- the cookie is `HttpOnly`, `SameSite=Strict`, and on HTTPS `Secure` with the prefix `__Secure-` (RFC 6265bis, §4.1.3).
  Two cookies of the name are as good as none: which of them is that of this server is unknown;
- a form is accepted with an `Origin` of this server (RFC 6454), and with no other `Sec-Fetch-Site` than `same-origin`.
"""

from __future__ import annotations

import secrets
import string
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil

from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.live_streams import LiveStreams
from cortex_skills.doors.explorer.sessions import LOCAL, BrowserSession, Failures, Sessions
from cortex_skills.doors.http.auth import SHOWN, TOKEN_HEADERS, AccessControl, Principal
from cortex_skills.doors.http.bodies import pairs_of
from cortex_skills.doors.http.http_errors import HttpError, method_not_allowed
from cortex_skills.doors.http.middleware.allowed_hosts import LOCAL_NAMES
from cortex_skills.doors.http.service import Service

COOKIE = "cortex_session"
_AGAIN = "x-cortex-live"  # a header of a page that asks for itself again: no use of the session
_SECURE_COOKIE = f"__Secure-{COOKIE}"
_LABEL = 12
_FORM = frozenset({"application/x-www-form-urlencoded"})
_FIELDS = 40
_MAX_FORM = 64 << 10  # bytes: a form is read before its sender has shown anything
LOCAL_USER = "explorer"


class ExplorerState:
    """What the explorer of one server keeps.

    Attributes:
        sessions: of browsers.
        failures: failed attempts to begin one.
        name: a host name of this server alone, whose cookies go to no other port.
        live: the streams of pages that are open.
        since: since when the store has not answered, as a time of day; None while it does.
    """

    def __init__(self, usual: str) -> None:
        self.sessions = Sessions()
        self.failures = Failures()
        self.name = private_host_name()
        self.since: str | None = None
        self.live = LiveStreams()
        self._usual = usual

    def holder(self, grant: str, access: AccessControl) -> Principal | None:
        """The holder of a grant, if it is valid now."""
        if grant == LOCAL:
            return Principal(LOCAL_USER, (self._usual,), frozenset({"read"}), self._usual)
        return access.holder(grant)

    def session_of(self, scope: Scope, access: AccessControl) -> tuple[BrowserSession, Principal] | None:
        """The session of a request and its holder; it is ended if its grant is no longer valid."""
        text = _session_cookie(scope)
        is_use = _AGAIN not in Headers(scope=scope)
        session = None if text is None else self.sessions.find(text, now(), is_use=is_use)
        if session is None:
            return None
        principal = self.holder(session.grant, access)
        if principal is None:
            self.sessions.end(session)
            return None
        return session, principal


def state_of(scope: Scope) -> ExplorerState:
    """The state of the explorer that a request is for."""
    state: ExplorerState = scope["app"].state.explorer
    return state


def private_host_name() -> str:
    """A new host name below `localhost`, which browsers resolve to this machine (RFC 6761 §6.3)."""
    return f"cortex-{''.join(secrets.choice(string.ascii_lowercase) for _ in range(_LABEL))}.localhost"


@dataclass(frozen=True, slots=True)
class Visitor:
    """The caller of a page.

    Attributes:
        principal: the caller.
        session: the session, if a cookie was shown.
        shows_token: whether the request itself holds the token, which a browser never adds to a followed link.
    """

    principal: Principal
    session: BrowserSession | None = None
    shows_token: bool = False


def visitor_of(scope: Scope) -> Visitor:
    """The caller of a page.

    Raises:
        HttpError: `unauthorized`.
    """
    state, access = state_of(scope), scope["app"].state.service.access
    client = scope.get("client")
    shows_token = any(name in TOKEN_HEADERS for name, _ in scope["headers"])
    found = None if shows_token else state.session_of(scope, access)
    if found is None:
        principal, session = access.identify(scope["headers"], client[0] if client else None), None
    else:
        session, principal = found
    if principal.has_token:
        shown = scope.get("state", {}).get(SHOWN)
        if shown is not None:
            shown(principal.key)
    return Visitor(principal, session, shows_token)


def check_origin(scope: Scope) -> None:
    """Check that a form came from a page of this server; `allowed_hosts.py` has checked the value of `Origin`.

    Raises:
        HttpError: `origin_not_allowed`.
    """
    headers = Headers(scope=scope)
    if "origin" not in headers or headers.get("sec-fetch-site", "same-origin") != "same-origin":
        hint = "use the form on the page; a program uses the REST API with a token"
        raise HttpError("origin_not_allowed", "a form is accepted from a page of this server only", hint=hint)


async def read_form(
    scope: Scope, receive: Receive, most: int = _MAX_FORM, most_fields: int = _FIELDS
) -> dict[str, str]:
    """The fields of a form from a page of this server, of at most so many bytes.

    Raises:
        HttpError: `origin_not_allowed`, `method_not_allowed`, `invalid_arguments`, or one of `Bodies`.
    """
    check_form(scope, most)
    service: Service = scope["app"].state.service
    async with service.bodies.read(Headers(scope=scope), receive, _FORM) as body:
        pairs = form_pairs(body, most_fields)
    return dict(pairs)


def check_form(scope: Scope, most: int) -> None:
    """Check that a request is a form of a page of this server, of at most so many bytes.

    Raises:
        HttpError: `origin_not_allowed`, `method_not_allowed`, `request_too_large`.
    """
    if scope["method"] != "POST":
        raise method_not_allowed(scope["method"], "GET, HEAD, POST")
    check_origin(scope)
    declared = Headers(scope=scope).get("content-length", "none")
    if not declared.isdecimal() or len(declared) > 9 or int(declared) > most:
        raise HttpError("request_too_large", f"a form has at most {most >> 10} KiB", hint="send less")


def form_pairs(encoded: bytes, most: int = _FIELDS) -> list[tuple[str, str]]:
    """The fields of a form or of a query string, each given once.

    Raises:
        HttpError: `invalid_arguments`.
    """
    try:
        pairs = pairs_of(encoded, most)
    except ValueError:
        raise HttpError("invalid_arguments", "the form is malformed") from None
    check_once(pairs)
    return pairs


def check_once(pairs: Sequence[tuple[str, object]]) -> None:
    """Refuse a form that gives a field twice.

    Raises:
        HttpError: `invalid_arguments`.
    """
    if len({name for name, _ in pairs}) < len(pairs):
        raise HttpError("invalid_arguments", "a field of the form is given twice")


def address_of(scope: Scope) -> str:
    """The address that a request came from."""
    client = scope.get("client")
    return client[0] if client else ""


def check_attempts(scope: Scope) -> None:
    """Check that the address of a request may try a code or a token.

    Raises:
        HttpError: `rate_limited`.
    """
    wait_s = ceil(state_of(scope).failures.wait_s(address_of(scope), now()))
    if wait_s > 0:
        hint, headers = f"try again in {wait_s} s", {"retry-after": str(wait_s)}
        raise HttpError("rate_limited", "too many attempts from this address failed", hint=hint, headers=headers)


def set_cookie(scope: Scope, text: str) -> str:
    """The header that gives a browser its session; an empty text takes it away."""
    is_secure = Headers(scope=scope).get("origin", "").lower().startswith("https://")
    ending = "" if text else "; Max-Age=0"
    name, secure = (_SECURE_COOKIE, "; Secure") if is_secure else (COOKIE, "")
    return f"{name}={text}; Path={ROOT}; HttpOnly; SameSite=Strict{secure}{ending}"


def cookies(scope: Scope) -> list[tuple[str, str]]:
    """The names and values of the cookies of a request."""
    parts = (part.partition("=") for line in Headers(scope=scope).getlist("cookie") for part in line.split(";"))
    return [(name.strip(), value.strip()) for name, _, value in parts]


def host_of(scope: Scope) -> str:
    """The host name of a request, in lower case, without its port."""
    host = Headers(scope=scope).get("host", "").lower()
    return (host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]).rstrip(".")


def shares_cookies(scope: Scope) -> bool:
    """Whether the cookies of a host name go to other ports of this machine, too."""
    return host_of(scope) in LOCAL_NAMES


def clock_time(moment: float) -> str:
    """The time of day of a moment of the clock of sessions."""
    return f"{datetime.now(UTC) + timedelta(seconds=moment - now()):%H:%M} UTC"


def now() -> float:
    """The time of sessions."""
    return time.monotonic()


def _session_cookie(scope: Scope) -> str | None:
    given = cookies(scope)
    for wanted in (_SECURE_COOKIE, COOKIE):
        found = [value for name, value in given if name == wanted]
        if found:
            return found[0] if len(found) == 1 else None
    return None
