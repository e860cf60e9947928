"""Links to the explorer that are followed from elsewhere.

Rules kept here:
- a top-level navigation from another origin gets a page without data that goes on to the same address: the second
  request comes from this origin, with the cookie of the session;
- a query in such an address is marked as followed, so that it is shown and not run; only the button on the page of this
  server, or a request that holds its token itself, runs a query;
- `enter` and `login` hold no data and are answered at once, so that a fragment stays;
- an IRI of the graph that is an address of this server leads to its page or its Turtle, whether or not it exists (303,
  Cool URIs for the Semantic Web, §4.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from cortex_graph.naming.names import namespace_of
from cortex_skills.config.settings import Config
from cortex_skills.doors.explorer.addresses import ROOT, Addresses
from cortex_skills.doors.explorer.assets import PREFIX
from cortex_skills.doors.http.middleware.allowed_hosts import followed_from_elsewhere
from cortex_skills.doors.sparql.negotiation import GRAPHS, chosen

ENTER, LOGIN, LOGOUT, THEME, ZONE = (f"{ROOT}/{name}" for name in ("enter", "login", "logout", "theme", "zone"))
# Answered at the private host name, to the page that asks whether the browser can reach that name.
REACHABLE = f"{ENTER}/reachable"
FOLLOWED = "followed"

_OPEN = frozenset({ENTER, LOGIN})
_MARK = f"{FOLLOWED}=1"
_MAX_PARAMETERS = 64


def marked(address: str) -> str:
    """An address whose query, if it has one, is shown and not run."""
    path, _, query = address.partition("?")
    try:
        has_query = any(name == "query" for name, _ in parse_qsl(query, True, max_num_fields=_MAX_PARAMETERS))
    except ValueError:
        has_query = True
    return f"{path}?{query}&{_MARK}" if has_query and _MARK not in query.split("&") else address


def unmarked(query: bytes) -> tuple[bytes, bool]:
    """A query string without the mark, and whether it had it."""
    parts = query.split(b"&")
    kept = [part for part in parts if part != _MARK.encode()]
    return b"&".join(kept), len(kept) < len(parts)


def may_run(scope: Scope, *, shows_token: bool) -> bool:
    """Whether a query in the address is run: the request holds its token, or comes from a page of this server."""
    site = Headers(scope=scope).get("sec-fetch-site", "same-origin")
    return shows_token or (site == "same-origin" and not unmarked(scope["query_string"])[1])


def here(scope: Scope) -> str:
    """The path and the query string of a request."""
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"]) + (f"?{query}" if query else "")


def goes_on(scope: Scope) -> bool:
    """Whether a request gets the page without data."""
    return scope["path"] not in _OPEN and followed_from_elsewhere(scope)


def may_be_followed(config: Config, private_name: str) -> Callable[[Scope], bool]:
    """Which requests from elsewhere are answered: navigations to pages and to IRIs of the graph, and `REACHABLE`."""
    resource = resource_address(config)

    def check(scope: Scope) -> bool:
        path: str = scope["path"]
        if path == REACHABLE:
            return scope["method"] == "GET" and Headers(scope=scope).get("host", "").startswith(private_name)
        is_page = path in ("/", ROOT) or (path.startswith(f"{ROOT}/") and not path.startswith(f"{PREFIX}/"))
        return (is_page or resource(scope) is not None) and followed_from_elsewhere(scope)

    return check


def resource_address(config: Config) -> Callable[[Scope], str | None]:
    """A function that gives the page of the resource whose IRI is the address of a request; None for other requests."""
    base = urlsplit(config.base_iri)
    hosts = {host.lower() for host in config.cortex.allowed_hosts}
    if base.scheme != "https" or (base.hostname or "") not in hosts or config.base_iri.endswith("#") or base.query:
        return lambda _: None  # what is behind `#` is in no request
    shape = re.compile(rf"{re.escape(base.path)}([A-Za-z][A-Za-z0-9_.%-]*):(.+)", re.DOTALL)

    def address_of(scope: Scope) -> str | None:
        raw = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        found = shape.fullmatch(raw)
        namespace = None if found is None else namespace_of(found[1])
        if found is None or namespace is None:
            return None
        if Headers(scope=scope).get("host", "").lower().partition(":")[0] != base.hostname:
            return None
        return Addresses(namespace).resource(f"{namespace}:{unquote(found[2])}")

    return address_of


def to_resource(scope: Scope, address: str) -> Response:
    """The redirection from the IRI of a resource to its page, or to its Turtle for a client that prefers that."""
    offered: dict[str, bool] = {"text/html": False, **dict.fromkeys(GRAPHS, True)}
    found = chosen(",".join(Headers(scope=scope).getlist("accept")) or None, offered)
    target = f"{address}&format=turtle" if found is not None and found[1] else address
    return RedirectResponse(target, 303, headers={"vary": "Accept"})
