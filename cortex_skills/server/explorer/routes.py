"""The routes of the explorer: the caller, the form of the answer, errors as pages.

Rules kept here:
- the caller is checked first, then the request; a view runs in a worker pool;
- `format=` selects a form by its name, otherwise `Accept` does; what fits none is refused with the list of forms;
- a browser gets an error as a page, a program as the JSON of the REST API; without a session a page leads to the login;
- a page does not cost its caller more than the view: templates are rendered in the same worker.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cortex_skills.server.auth import Principal
from cortex_skills.server.bodies import to_json
from cortex_skills.server.explorer.assets import FOLDER, PREFIX, files
from cortex_skills.server.explorer.error_pages import ErrorView, error_view
from cortex_skills.server.explorer.page import ROOT, ExplorerPage, Faulty, Form, PageCall, Redirected, not_found
from cortex_skills.server.explorer.pages import PAGES
from cortex_skills.server.explorer.rendering import Surroundings, navigation_of, render
from cortex_skills.server.http_errors import HttpError, as_http, method_not_allowed
from cortex_skills.server.middleware.request_log import REQUEST_ID
from cortex_skills.server.rest.schemas import parse_query
from cortex_skills.server.service import Service
from cortex_skills.server.sparql.negotiation import chosen

HTML = "text/html"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
# By path prefix, for `ResponseHeaders`.
PAGE_HEADERS: dict[str, dict[str, str]] = {
    ROOT: {"content-security-policy": _POLICY, "cross-origin-opener-policy": "same-origin"},
    PREFIX: {"cache-control": "public, max-age=31536000, immutable"},
}
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}


def explorer_routes() -> list[Route]:
    """All routes of the explorer; of two that match a path, the one with the later parameters first."""
    pages = sorted(PAGES, key=lambda page: f"{page.path}\x7f".replace("{", "\x7f"))
    return [
        Route(f"{PREFIX}/{{file}}", endpoint=_StaticFile(), include_in_schema=False),
        *(Route(page.path, endpoint=PageEndpoint(page), include_in_schema=False) for page in pages),
        Route(f"{ROOT}/{{rest:path}}", endpoint=_Unknown(), include_in_schema=False),
    ]


class PageEndpoint:
    """Answers one page in all its forms, as an ASGI application."""

    def __init__(self, page: ExplorerPage) -> None:
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        page = self._page
        form: Form | None = None
        try:
            if scope["method"] not in ("GET", "HEAD"):
                raise method_not_allowed(scope["method"], "GET, HEAD")
            query, form = _form_of(page, scope)
            caller = _caller(scope)
            caller.require(page.permission)
            service: Service = scope["app"].state.service
            with service.calls.token() as cancel:
                call = PageCall(
                    service, caller, parse_query(page.query, query), scope["path_params"], may_run=True, cancel=cancel
                )
                pool = service.pools[page.pool]
                if form is None:
                    response = await pool.run(partial(_shown, page, call, _around(page, call, scope)))
                else:
                    response = await _written(page, form, call, pool.run)
        except Redirected as found:
            response = RedirectResponse(found.address, 303)
        except Exception as error:
            response = _failed(error, scope, as_page=form is None)
        response.headers["vary"] = "Accept, Cookie"
        await response(scope, receive, send)


def _caller(scope: Scope) -> Principal:
    service: Service = scope["app"].state.service
    client = scope.get("client")
    return service.access.identify(scope["headers"], client[0] if client else None)


def _form_of(page: ExplorerPage, scope: Scope) -> tuple[bytes, Form | None]:
    """The query string without `format`, and the chosen form; None for the page itself.

    Raises:
        HttpError: `not_acceptable` or `invalid_arguments`.

    """
    accept = ",".join(Headers(scope=scope).getlist("accept")) or None
    named: list[bytes] = []
    rest: list[bytes] = []
    for part in scope["query_string"].split(b"&"):
        (named if part.startswith(b"format=") else rest).append(part)
    if len(named) == 1:
        name = named[0].partition(b"=")[2].decode("latin-1")
        if name == "html":
            return b"&".join(rest), None
        if name in page.forms:
            return b"&".join(rest), page.forms[name]
        raise _not_acceptable(page, f"this page has no form `{name[:40]}`")
    if named:
        raise HttpError("invalid_arguments", "`format` is given twice")
    offered: dict[str, Form | None] = {HTML: None, **{form.media_type: form for form in page.forms.values()}}
    found = chosen(accept, offered)
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


async def _written(page: ExplorerPage, form: Form, call: PageCall, run: Any) -> Response:
    """Another form of the page."""
    try:
        body = await run(partial(form.write, call))
    except Faulty as fault:
        raise fault.error from None
    headers = dict(form.headers)
    if form.file_type:
        headers["content-disposition"] = f'attachment; filename="{page.name}.{form.file_type}"'
    kind = f"{form.media_type}; charset=utf-8" if form.media_type.startswith("text/") else form.media_type
    headers["content-type"] = kind
    if isinstance(body, bytes):
        return Response(body, headers=headers)
    return StreamingResponse(_parts(body, run), headers=headers)


async def _parts(body: Iterator[bytes], run: Any) -> AsyncIterator[bytes]:
    try:
        while (part := await run(partial(next, body, None))) is not None:
            yield part
    finally:
        with suppress(AttributeError, ValueError):
            body.close()  # type: ignore[attr-defined]


def _around(page: ExplorerPage | None, call: PageCall | None, scope: Scope) -> Surroundings:
    here = quote(scope["path"]) + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
    theme = _cookies(scope).get("cortex_theme")
    if page is None or call is None:
        return Surroundings("", here, theme=theme if theme in ("light", "dark") else None)
    principal = call.principal
    namespace = call.path.get("namespace") or (principal.usual if principal.may_use(principal.usual) else None)
    has_find = namespace is not None and any(each.name == "find" for each in PAGES)
    return Surroundings(
        page.name,
        here,
        namespace,
        navigation_of(PAGES, page.name, namespace, principal.permissions),
        f"{ROOT}/{namespace}/find" if has_find else None,
        principal.name,
        ", ".join(sorted(principal.permissions)),
        theme=theme if theme in ("light", "dark") else None,
    )


def _cookies(scope: Scope) -> Mapping[str, str]:
    from starlette.requests import cookie_parser

    return cookie_parser("; ".join(Headers(scope=scope).getlist("cookie")))


def _failed(error: Exception, scope: Scope, *, as_page: bool) -> Response:
    """The answer to a request that failed."""
    known = as_http(error, scope[REQUEST_ID])
    wants_page = chosen(",".join(Headers(scope=scope).getlist("accept")) or None, {"application/json": 0, HTML: 1})
    if not as_page or (wants_page is not None and wants_page[1] == 0):
        return Response(to_json(known.body(scope[REQUEST_ID])), known.status, known.headers, "application/json")
    if known.code == "unauthorized" and scope["method"] in ("GET", "HEAD"):
        here = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
        return RedirectResponse(f"{ROOT}/login?next={quote(here, safe='')}", 303)
    view: ErrorView = error_view(known, scope[REQUEST_ID])
    return Response(render("error.html", _around(None, None, scope), view), known.status, known.headers, HTML)


class _Unknown:
    """The answer to paths without a page."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = _failed(not_found("there is no such page"), scope, as_page=True)
        await response(scope, receive, send)


class _StaticFile:
    """A built asset."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path_params"]["file"]
        if name not in files().values():
            raise HttpError("not_found", "there is no such file")
        kind = _KINDS.get(name.rpartition(".")[2], "application/octet-stream")
        await Response((FOLDER / name).read_bytes(), media_type=kind)(scope, receive, send)
