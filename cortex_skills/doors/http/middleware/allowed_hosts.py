"""Which host names and origins a request may name.

Rules kept here:
- a request must name a host of this server; otherwise a web page could reach it by a host name of its own (DNS
  rebinding);
- a browser may call only from a page of that same host (Fetch standard, `Sec-Fetch-Site`); there is no CORS;
- a path in `ANY_HOST` is answered whatever host is named: those who probe a container know its address alone;
- a link on a page of another site may be followed to a page: a top-level GET that names no origin passes where
  `may_be_followed` says so; the route answers it without data (`followed_from_elsewhere`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from starlette.types import Scope

from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.middleware.request_checks import Check

ANY_HOST = frozenset({"/livez", "/readyz"})  # they tell everybody the same, and change nothing
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
_SAME_SITE = frozenset({"same-origin", "none"})


def host_check(hosts: Iterable[str] = (), may_be_followed: Callable[[Scope], bool] = lambda _: False) -> Check:
    """The check of `Host`, `Origin` and `Sec-Fetch-Site`.

    Args:
        hosts: the host names of this server, beside `LOCAL_NAMES`; without their ports.
        may_be_followed: whether a request with `Sec-Fetch-Site` of elsewhere is answered.
    """
    allowed = LOCAL_NAMES | {host.lower().strip("[]").rstrip(".") for host in hosts}

    def check(scope: Scope) -> None:
        if scope["path"] in ANY_HOST:
            return
        headers = [(name, value.decode("latin-1").lower()) for name, value in scope["headers"]]
        given = [value for name, value in headers if name == b"host"]
        if len(given) != 1:
            raise HttpError("bad_request", "a request needs one `Host` header")
        found = _HOST.fullmatch(given[0])
        if found is None or (found[1] or found[2]).rstrip(".") not in allowed:
            hint = "use the address that the server prints, or name the host in cortex.allowedHosts"
            raise HttpError("host_not_allowed", "this server does not serve that host name", hint=hint)
        # https: a proxy in front of this server may end TLS
        origins = {f"{scope['scheme']}://{given[0]}", f"https://{given[0]}"}
        from_elsewhere = any(name == b"sec-fetch-site" and value not in _SAME_SITE for name, value in headers)
        if from_elsewhere and may_be_followed(scope):
            from_elsewhere = False
        for name, value in headers:
            if from_elsewhere or (name == b"origin" and value not in origins):
                hint = "this API is for programs, and for pages of its own host"
                raise HttpError("origin_not_allowed", "a page of another origin may not call this server", hint=hint)

    return check


def followed_from_elsewhere(scope: Scope) -> bool:
    """Whether a request is a top-level navigation that a page of another origin began (Fetch Metadata, §2)."""
    given = {name: value.lower() for name, value in scope["headers"] if name.startswith(b"sec-fetch-")}
    return (
        scope["method"] == "GET"
        and given.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
        and given.get(b"sec-fetch-mode") == b"navigate"
        and given.get(b"sec-fetch-dest") == b"document"
        and all(name != b"origin" for name, _ in scope["headers"])
    )
