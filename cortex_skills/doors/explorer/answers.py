"""Answers of the explorer: a rendered page, and an error for a browser or a program.

Rules kept here:
- a link that was followed from elsewhere gets a page without data first (`following.py`);
- pages are rendered in a worker: templates are read when the first page is asked for;
- a browser gets an error as a page, a program as the JSON of the REST API; without a session a page leads to the login;
- a browser whose script asks for the session again when it goes back keeps a page for that, and asks for it otherwise
  (RFC 9111, §5.2.2.4); nothing else is stored;
- while the store does not answer, its page says since when.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from cortex_skills.cancellation import CancelToken
from cortex_skills.doors.explorer.addresses import ROOT, namespace_in, namespace_root
from cortex_skills.doors.explorer.callers import Visitor, clock_time, cookies, now, state_of, visitor_of
from cortex_skills.doors.explorer.error_pages import error_view
from cortex_skills.doors.explorer.following import LOGIN, goes_on, here, marked
from cortex_skills.doors.explorer.inbox import inbox_of
from cortex_skills.doors.explorer.page import PageCall, Redirected
from cortex_skills.doors.explorer.page import pages as all_pages
from cortex_skills.doors.explorer.rendering import Surroundings, navigation_of, render
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError, as_http
from cortex_skills.doors.http.middleware.request_log import REQUEST_ID
from cortex_skills.doors.http.middleware.response_headers import OWN_HEADERS
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.sparql.negotiation import chosen

HTML = "text/html"
_AWAY = frozenset({"graph_unavailable", "store_locked"})
_READ = ("GET", "HEAD")
_ZONE = re.compile(r"[A-Za-z][A-Za-z_]{0,31}(?:/[A-Za-z0-9_+-]{1,32}){0,2}", re.ASCII)
_KEEPS = "cortex_keeps"  # a cookie that app.ts sets
_VARY = "Accept, Accept-Language, Cookie"


class ExplorerEndpoint:
    """An address of the explorer, as an ASGI application.

    Args:
        run: answers a request that comes from a page of this server, or was typed.
    """

    def __init__(self, run: Callable[[Scope, Receive], Awaitable[Response]]) -> None:
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        try:
            if goes_on(scope):
                response = await html(scope, "followed.html", marked(here(scope)), surroundings(scope, None))
            else:
                response = await self._run(scope, receive)
        except Redirected as found:
            response = RedirectResponse(found.address, 303)
        except Exception as error:
            response = await _error_answer(scope, error)
        response.headers["vary"] = _VARY
        if response.media_type == HTML and dict(cookies(scope)).get(_KEEPS):
            scope[OWN_HEADERS] = {**scope.get(OWN_HEADERS, {}), "cache-control": "private, no-cache"}
        await response(scope, receive, send)


async def html(scope: Scope, template: str, view: object, around: Surroundings, status: int = 200) -> Response:
    """A page, rendered in a worker."""
    service: Service = scope["app"].state.service
    body = await service.pools["quick"].run(partial(render, template, around, view))
    return Response(body, status, media_type=HTML)


@asynccontextmanager
async def cancelled_by_leaving(receive: Receive, cancel: CancelToken) -> AsyncIterator[None]:
    """Cancel the call if the client disconnects during the block."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        cancel.cancel()

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()


async def _error_answer(scope: Scope, error: Exception) -> Response:
    """The answer to a request that failed."""
    known = as_http(error, scope[REQUEST_ID])
    if not prefers_pages(scope):
        return Response(to_json(known.body(scope[REQUEST_ID])), known.status, known.headers, "application/json")
    if known.code == "unauthorized" and scope["method"] in _READ:
        return RedirectResponse(f"{LOGIN}?next={quote(marked(here(scope)), safe='')}", 303)
    back = quote(scope["path"]) if scope["method"] == "POST" else ""
    if known.code == "unauthorized" and back:
        known = HttpError("unauthorized", "the session has ended, and nothing was done", headers=known.headers)
        back = f"{LOGIN}?next={quote(marked(back), safe='')}"
    view = error_view(known, scope[REQUEST_ID], _since(scope, known), back)
    try:
        visitor = visitor_of(scope)
    except HttpError:
        visitor = None
    response = await html(scope, "error.html", view, around_page(scope, visitor), known.status)
    response.headers.update(known.headers)
    return response


def around_page(scope: Scope, visitor: Visitor | None, page: str = "") -> Surroundings:
    """What is shown around what belongs to the page at an address, in the namespace of that."""
    segment = scope.get("path_params", {}).get("namespace")
    return surroundings(scope, visitor, page, None if segment is None else namespace_in(segment))


def prefers_pages(scope: Scope) -> bool:
    """Whether a client prefers an error as a page."""
    accept = ",".join(Headers(scope=scope).getlist("accept")) or None
    found = chosen(accept, {"application/json": False, HTML: True})
    return found is not None and found[1]


def _since(scope: Scope, error: HttpError) -> str:
    """Since when the store has not answered."""
    if error.code not in _AWAY:
        return ""
    state = state_of(scope)
    state.since = state.since or f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return state.since


def surroundings(scope: Scope, visitor: Visitor | None, page: str = "", namespace: str | None = None) -> Surroundings:
    """What is shown around a view; without a visitor neither navigation nor data."""
    kept = dict(cookies(scope))
    theme, zone = theme_of(kept.get("cortex_theme")), zone_of(unquote(kept.get("cortex_zone", "")))
    address = here(scope) if scope["method"] in _READ else ROOT
    if visitor is None:
        return Surroundings(page, address, scope["path"], theme=theme, zone=zone)
    principal, session = visitor.principal, visitor.session
    if namespace is None or not principal.may_use(namespace):
        namespace = principal.usual if principal.may_use(principal.usual) else None
    service: Service = scope["app"].state.service
    call = PageCall(service, principal)
    has_find = any(each.name == "find" for each in all_pages())
    return Surroundings(
        page,
        address,
        scope["path"],
        namespace,
        navigation_of(all_pages(), page, namespace, principal.permissions),
        None if namespace is None or not has_find else f"{namespace_root(namespace)}/find",
        principal.name,
        ", ".join(sorted(principal.permissions)),
        None if session is None else clock_time(session.ends),
        theme,
        None if session is None else session.form_token,
        session is not None and not session.may_act(now()),
        f"{scope['scheme']}://{Headers(scope=scope).get('host', '')}",
        partial(inbox_of, call) if principal.has_token else tuple,
        next((each.live for each in all_pages() if each.name == page), "") if session is not None else None,
        zone,
    )


def theme_of(given: Any) -> str | None:
    """`light` or `dark`; None for anything else."""
    return given if given in ("light", "dark") else None


def zone_of(given: str) -> str | None:
    """A name of a time zone by its form (IANA); whether there is one, and its clocks, only the browser knows."""
    return given if given != "UTC" and _ZONE.fullmatch(given) else None
