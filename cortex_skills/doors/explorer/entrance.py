"""`enter`, `login`, `logout`: how a browser gets a session and how it ends; and the switch of the colours.

Rules kept here:
- a code comes in the fragment of the address, which no server is sent; a script puts it into the form, and without
  scripts a person does. A token is pasted; neither is kept;
- a wrong, used or late code and a wrong token get the same page, 401; after five failures in a minute an address waits;
- showing the token or a new code of the same grant again lets the session act for a while; another grant replaces it;
- `next` is a path below `/explore`, and a query in it is shown, not run;
- these pages hold no data and no state is changed by GET, so a link to them may be followed from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope

from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.answers import ExplorerEndpoint, html, surroundings, theme_of, zone_of
from cortex_skills.doors.explorer.callers import (
    address_of,
    check_attempts,
    clock_time,
    form_pairs,
    host_of,
    now,
    read_form,
    set_cookie,
    shares_cookies,
    state_of,
    visitor_of,
)
from cortex_skills.doors.explorer.following import ENTER, LOGIN, LOGOUT, REACHABLE, THEME, ZONE, marked
from cortex_skills.doors.explorer.policy import page_policy
from cortex_skills.doors.http.http_errors import HttpError, method_not_allowed, unauthorized
from cortex_skills.doors.http.middleware.response_headers import OWN_HEADERS

_MAX_NEXT = 8192
_NEXT = re.compile(rf"{ROOT}(?:[/?][!#-\[\]-~]*)?")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?:[/?]|$)", re.IGNORECASE)
_REASON = "Paste a token of this server."
_REASON_FOR_CODE = "Paste the code that is behind `#` in the address that cortex-skills explore printed."
_FAULT = "This did not open a session: the code or the token is wrong, was used, or has expired."


@dataclass(frozen=True, slots=True)
class EntranceView:
    """The form for a token or a code.

    Attributes:
        reason: what to do.
        next: where to go afterwards.
        fault: why it failed; empty at first.
        private_origin: the address of the private host name; empty when it is in use, or cannot be.
    """

    reason: str
    next: str
    fault: str = ""
    private_origin: str = ""


@dataclass(frozen=True, slots=True)
class SessionView:
    """The session of a browser.

    Attributes:
        name: of its token.
        permissions: of its token, as words.
        namespaces: which the token opens.
        ends: when it ends at the latest.
        has_actions: whether its token permits more than reading.
        acts_until: until when it may act; empty if it only reads.
        shares_cookies: whether other ports of this machine get its cookie.
    """

    name: str
    permissions: str
    namespaces: str
    ends: str
    has_actions: bool
    acts_until: str
    shares_cookies: bool


def entrance_routes() -> list[Route]:
    """The routes of the entrance."""
    endpoints: dict[str, Callable[[Scope, Receive], Awaitable[Response]]] = {
        ENTER: enter,
        LOGIN: login,
        LOGOUT: logout,
        THEME: theme,
        ZONE: zone,
        REACHABLE: reachable,
    }
    return [Route(path, endpoint=ExplorerEndpoint(run), include_in_schema=False) for path, run in endpoints.items()]


async def enter(scope: Scope, receive: Receive) -> Response:
    """The page that takes a code, and the code."""
    if scope["method"] in ("GET", "HEAD"):
        return await _form(scope, "enter.html", _entering(scope, _given_next(scope)))
    fields = await read_form(scope, receive)
    return await _begin(scope, "enter.html", fields, state_of(scope).sessions.redeem)


async def login(scope: Scope, receive: Receive) -> Response:
    """The page that takes a token, and the token."""
    access = scope["app"].state.service.access
    if scope["method"] in ("GET", "HEAD"):
        return await _form(scope, "login.html", EntranceView(_REASON, _given_next(scope)))
    fields = await read_form(scope, receive)
    return await _begin(scope, "login.html", fields, lambda text, _: access.grant_of(text))


async def logout(scope: Scope, receive: Receive) -> Response:
    """The page of the session, and its end."""
    visitor = visitor_of(scope)
    session, principal = visitor.session, visitor.principal
    if session is None:
        raise unauthorized()
    if scope["method"] in ("GET", "HEAD"):
        acts_until = clock_time(session.acts_until) if session.may_act(now()) else ""
        view = SessionView(
            principal.name,
            ", ".join(sorted(principal.permissions)),
            "all" if "*" in principal.namespaces else ", ".join(principal.namespaces),
            clock_time(session.ends),
            not principal.permissions.isdisjoint({"write", "approve"}),
            acts_until,
            shares_cookies(scope),
        )
        return await html(scope, "session.html", view, surroundings(scope, visitor))
    fields = await read_form(scope, receive)
    if not session.is_form_token(fields.get("form", ""), "logout"):
        raise HttpError("permission_denied", "the form is not of this session", hint="open the page again")
    state_of(scope).sessions.end(session)
    response = RedirectResponse(LOGIN, 303)
    response.headers["set-cookie"] = set_cookie(scope, "")
    response.headers["clear-site-data"] = '"cache"'  # W3C Clear Site Data, §3.1
    return response


async def theme(scope: Scope, receive: Receive) -> Response:
    """Keep the chosen colours in a cookie."""
    if scope["method"] != "POST":
        raise method_not_allowed(scope["method"], "POST")
    fields = await read_form(scope, receive)
    chosen = theme_of(fields.get("theme"))
    if chosen is None:
        raise HttpError("invalid_arguments", "`theme` is neither `light` nor `dark`")
    return _kept(fields, "cortex_theme", chosen)


async def zone(scope: Scope, receive: Receive) -> Response:
    """Keep the time zone in which the script of the pages shows times in a cookie."""
    if scope["method"] != "POST":
        raise method_not_allowed(scope["method"], "POST")
    fields = await read_form(scope, receive)
    given = fields.get("zone", "")
    if given != "UTC" and zone_of(given) is None:
        raise HttpError("invalid_arguments", "`zone` is not the name of a time zone", hint="such as Europe/Berlin")
    return _kept(fields, "cortex_zone", quote(given))


def _kept(fields: dict[str, str], name: str, value: str) -> Response:
    """Back to the page, with a choice in a cookie."""
    response = RedirectResponse(local_next(fields.get("next", "")), 303)
    response.headers["set-cookie"] = f"{name}={value}; Path={ROOT}; Max-Age=31536000; HttpOnly; SameSite=Strict"
    return response


async def reachable(scope: Scope, _: Receive) -> Response:
    """Answer that a browser resolves the private host name to this server; without any data."""
    if host_of(scope) != state_of(scope).name:
        raise HttpError("not_found", "there is no such page")
    scope[OWN_HEADERS] = {"cross-origin-resource-policy": "cross-origin"}
    return Response(status_code=204)


def local_next(text: str) -> str:
    """A path below `/explore`, or `/explore` for anything else; a query in it is marked as followed."""
    if len(text) > _MAX_NEXT or not _NEXT.fullmatch(text) or _DOTS.search(text) or "//" in text.partition("?")[0]:
        return ROOT
    return marked(text)


async def _begin(
    scope: Scope, template: str, fields: dict[str, str], grant_of: Callable[[str, float], str | None]
) -> Response:
    """Begin a session with a code or a token, or let the session act that has the same grant."""
    state = state_of(scope)
    check_attempts(scope)
    target = local_next(fields.get("next", ""))
    grant = grant_of(fields.get("code", fields.get("token", "")), now())
    if grant is None or state.holder(grant, scope["app"].state.service.access) is None:
        state.failures.add(address_of(scope), now())
        view = _entering(scope, target, _FAULT) if "code" in fields else EntranceView(_REASON, target, _FAULT)
        return await _form(scope, template, view, 401)
    response = RedirectResponse(target, 303)
    found = state.session_of(scope, scope["app"].state.service.access)
    if found is not None and found[0].grant == grant:
        state.sessions.confirm(found[0], now())
        return response
    if found is not None:
        state.sessions.end(found[0])
    response.headers["set-cookie"] = set_cookie(scope, state.sessions.begin(grant, now()))
    return response


def _given_next(scope: Scope) -> str:
    return local_next(dict(form_pairs(scope["query_string"])).get("next", ""))


def _entering(scope: Scope, target: str, fault: str = "") -> EntranceView:
    """The form for a code; at an address that shares its cookies it names the address that does not."""
    private = ""
    if shares_cookies(scope):
        _, _, port = Headers(scope=scope)["host"].rpartition("]")[2].partition(":")
        private = f"http://{state_of(scope).name}{f':{port}' if port else ''}"
    return EntranceView(_REASON_FOR_CODE, target, fault, private)


async def _form(scope: Scope, template: str, view: EntranceView, status: int = 200) -> Response:
    if view.private_origin:
        scope[OWN_HEADERS] = {"content-security-policy": page_policy(view.private_origin)}
    return await html(scope, template, view, surroundings(scope, None), status)
