"""The routes of the explorer: the caller of a page, and the form of the answer.

Rules kept here:
- the caller is checked first, then the request; a view and its template run in a worker pool;
- `format=` selects a form by its name, otherwise `Accept` does; what fits none is refused with the list of forms;
- a query ends when its client disconnects or the server shuts down;
- assets are compressed; pages are not, since they hold secrets beside texts of others (BREACH, 2013).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_skills.doors.explorer.acting import act
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.answers import (
    HTML,
    ExplorerEndpoint,
    cancelled_by_leaving,
    prefers_pages,
    surroundings,
)
from cortex_skills.doors.explorer.assets import FOLDER, PREFIX, files
from cortex_skills.doors.explorer.callers import state_of, visitor_of
from cortex_skills.doors.explorer.entrance import entrance_routes
from cortex_skills.doors.explorer.field_text import from_field
from cortex_skills.doors.explorer.following import may_run, unmarked
from cortex_skills.doors.explorer.live import PATH as LIVE
from cortex_skills.doors.explorer.live import live
from cortex_skills.doors.explorer.page import ExplorerPage, Faulty, Form, PageCall, Redirected, not_found
from cortex_skills.doors.explorer.page import pages as all_pages
from cortex_skills.doors.explorer.rendering import Surroundings, render
from cortex_skills.doors.http.http_errors import HttpError, as_http, method_not_allowed, unauthorized
from cortex_skills.doors.http.middleware.response_headers import FOR_PROGRAMS, OWN_HEADERS
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.rest.schemas import parse_query
from cortex_skills.doors.sparql.negotiation import chosen, languages_in

if TYPE_CHECKING:
    from cortex_skills.doors.http.worker_pools import WorkerPool

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}
_READ = ("GET", "HEAD")


def explorer_routes() -> list[Route]:
    """All routes of the explorer; of two that match a path, the one with the later parameters first."""
    pages = sorted(all_pages(), key=lambda page: f"{page.path}\x7f".replace("{", "\x7f"))
    return [
        *entrance_routes(),
        Route(LIVE, endpoint=ExplorerEndpoint(live), include_in_schema=False),
        Route(f"{PREFIX}/{{file}}", endpoint=GZipMiddleware(_StaticFile()), include_in_schema=False),
        *(
            Route(page.path, endpoint=ExplorerEndpoint(partial(_answer, page)), include_in_schema=False)
            for page in pages
        ),
        Route(f"{ROOT}/{{rest:path}}", endpoint=ExplorerEndpoint(_unknown), include_in_schema=False),
    ]


class FrontDoor:
    """`/`: a browser is led to the explorer, a program gets what it got before.

    Args:
        index: the answer to programs.
    """

    def __init__(self, index: ASGIApp) -> None:
        self._index = index

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        names_html = "text/html" in Headers(scope=scope).get("accept", "").lower()
        if scope["method"] in _READ and names_html and prefers_pages(scope):
            response: ASGIApp = RedirectResponse(ROOT, 303, headers={"vary": "Accept"})
            await response(scope, receive, send)
        else:
            await self._index(scope, receive, send)


async def _answer(page: ExplorerPage, scope: Scope, receive: Receive) -> Response:
    """The answer to a request for a page or one of its forms."""
    if scope["method"] == "POST" and page.actions:
        return await act(page, scope, receive)
    if scope["method"] not in _READ:
        raise method_not_allowed(scope["method"], ", ".join([*_READ, *(["POST"] if page.actions else [])]))
    service: Service = scope["app"].state.service
    query, form = _form_of(page, scope)
    visitor = visitor_of(scope)
    if not (visitor.principal.has_token or page.is_public):
        raise unauthorized()
    visitor.principal.require(page.permission)
    parameters = parse_query(page.query, unmarked(query)[0], from_field)
    runs = may_run(scope, shows_token=visitor.shows_token)
    pool = service.pools[page.pool]
    async with AsyncExitStack() as stack:
        cancel = stack.enter_context(service.calls.token())
        await stack.enter_async_context(cancelled_by_leaving(receive, cancel))
        languages = languages_in(Headers(scope=scope).get("accept-language"))
        call = PageCall(service, visitor.principal, parameters, scope["path_params"], runs, cancel, languages)
        if form is None:
            around = surroundings(scope, visitor, page.name, call.namespace)
            response = await pool.run(partial(_shown, page, call, around))
        else:
            response = await _written(page, form, call, pool, stack)
    if "{namespace}" in page.path:
        state_of(scope).since = None
    if form is not None:
        policy = {"content-security-policy": FOR_PROGRAMS["content-security-policy"]}
        scope[OWN_HEADERS] = {**policy, **form.headers}
    return response


def _form_of(page: ExplorerPage, scope: Scope) -> tuple[bytes, Form | None]:
    """The query string without `format`, and the chosen form; None for the page itself.

    Raises:
        HttpError: `not_acceptable` or `invalid_arguments`.
    """
    parts = scope["query_string"].split(b"&")
    named = [part.partition(b"=")[2].decode("latin-1") for part in parts if part.startswith(b"format=")]
    if len(named) > 1:
        raise HttpError("invalid_arguments", "`format` is given twice")
    if named:
        rest = b"&".join(part for part in parts if not part.startswith(b"format="))
        if named[0] != "html" and named[0] not in page.forms:
            raise _not_acceptable(page, f"this page has no form `{named[0][:40]}`")
        return rest, page.forms.get(named[0])
    kinds = {form.media_type.partition(";")[0]: form for form in page.forms.values()}
    offered: dict[str, Form | None] = {HTML: None, **kinds}
    found = chosen(",".join(Headers(scope=scope).getlist("accept")) or None, offered)
    if found is None:
        raise _not_acceptable(page, "this page has none of the accepted forms")
    return scope["query_string"], found[1]


def _not_acceptable(page: ExplorerPage, message: str) -> HttpError:
    offered = ", ".join(["html (text/html)", *(f"{name} ({form.media_type})" for name, form in page.forms.items())])
    return HttpError("not_acceptable", message, hint=f"available: {offered}")


def _shown(page: ExplorerPage, call: PageCall, around: Surroundings) -> Response:
    """The page, from its call to its bytes."""
    try:
        view, status = page.view(call), 200
    except Faulty as fault:
        view, status = fault.view, as_http(fault.error, "").status
    return Response(render(page.template, around, view), status, media_type=HTML)


async def _written(page: ExplorerPage, form: Form, call: PageCall, pool: WorkerPool, stack: AsyncExitStack) -> Response:
    """Another form of the page; a stream takes over what is open for the call."""
    try:
        body = await pool.run(partial(form.write, call))
    except Faulty as fault:
        raise fault.error from None
    is_text = form.media_type.startswith("text/")
    headers = {"content-type": f"{form.media_type}; charset=utf-8" if is_text else form.media_type}
    if form.file_type:
        headers["content-disposition"] = f'attachment; filename="{page.name}.{form.file_type}"'
    if isinstance(body, bytes):
        return Response(body, headers=headers)
    return StreamingResponse(_parts(body, pool, stack.pop_all()), headers=headers)


async def _parts(body: Iterator[bytes], pool: WorkerPool, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    async with stack:
        try:
            while (part := await pool.run(partial(next, body, None))) is not None:
                yield part
        finally:
            with suppress(AttributeError, ValueError):  # ValueError: a worker still runs it
                body.close()  # type: ignore[attr-defined]


async def _unknown(scope: Scope, _: Receive) -> Response:
    """Refuse a path without a page; one with a slash too many leads to the page."""
    path: str = scope["path"]
    if scope["method"] in _READ and path.endswith("/"):
        raise Redirected(quote(path.rstrip("/")))
    raise not_found("there is no such page")


class _StaticFile:
    """A built asset."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path_params"]["file"]
        if name not in files().values():
            raise HttpError("not_found", "there is no such file")
        kind = _KINDS.get(name.rpartition(".")[2], "application/octet-stream")
        scope[OWN_HEADERS] = {"cache-control": "public, max-age=31536000, immutable"}
        await Response((FOLDER / name).read_bytes(), media_type=kind)(scope, receive, send)
