"""`ResponseHeaders`: headers that restrict what a browser does with an answer, by route.

Rules kept here:
- the headers of a request are those of the longest prefix of its path, a whole number of segments; the prefix `` holds
  for every path;
- the headers for programs are the default: nothing is cached, framed, sniffed, or allowed to load anything;
- a route that serves pages has a policy of its own (`Content-Security-Policy`, CSP Level 3), which names what it loads;
- an answer that differs from its route sets its headers in the scope (`OWN_HEADERS`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A key of an ASGI scope: headers of one answer, which replace those of its route.
OWN_HEADERS = "cortex.own_headers"

FOR_PROGRAMS: Mapping[str, str] = MappingProxyType(
    {
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
)


class ResponseHeaders:
    """Adds headers to every answer.

    Args:
        app: the application.
        by_prefix: headers by path prefix, such as `/explorer`; they replace single headers of `FOR_PROGRAMS`.
    """

    def __init__(self, app: ASGIApp, by_prefix: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> None:
        self._app = app
        self._rules = sorted(by_prefix.items(), key=lambda rule: len(rule[0]), reverse=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        added = self._headers_of(scope["path"].removeprefix(scope.get("root_path", "")))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {**added, **scope.get(OWN_HEADERS, {})}.items()
                own = {name.lower().encode("latin-1"): value.encode("latin-1") for name, value in given}
                message["headers"] = [*(each for each in message["headers"] if each[0] not in own), *own.items()]
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _headers_of(self, path: str) -> Mapping[str, str]:
        for prefix, headers in self._rules:
            if path == prefix or path.startswith(f"{prefix}/"):
                return {**FOR_PROGRAMS, **headers}
        return FOR_PROGRAMS
