"""Actions on pages: who may, with which form, and with the token shown again.

Rules kept here:
- an action is a form of a page of this server, with the token of the session, the action and the address of the page;
- it needs the permission of the action and, if it changes anything, a session whose token, or a new code of the same
  token, was shown again in the last ten minutes; otherwise nothing is done, and the form is shown again with what was
  typed and a field for the token;
- an action gets the texts that the fields stand for, also those of invisible characters (`field_text.py`);
- what is done is an operation, with its checks, and leaves the record of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope

from cortex_skills.doors.explorer.answers import around_page, html
from cortex_skills.doors.explorer.callers import (
    Visitor,
    address_of,
    check_attempts,
    check_origin,
    now,
    read_form,
    state_of,
    visitor_of,
)
from cortex_skills.doors.explorer.display import shown_name, shown_text
from cortex_skills.doors.explorer.field_text import from_field, typed_in
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, PageCall, Repeated
from cortex_skills.doors.explorer.sessions import BrowserSession
from cortex_skills.doors.explorer.uploads import has_file, read_with_file
from cortex_skills.doors.http.http_errors import HttpError, as_http
from cortex_skills.doors.http.middleware.request_log import REQUEST_ID
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.rest.schemas import parse_query
from cortex_skills.doors.sparql.negotiation import languages_in

Answer = TypeVar("Answer")
_OWN_FIELDS = frozenset({"form", "token"})
_OLD = "The form is old, or of another session. Nothing was done."
_WRONG = "This is not the token of the session. Nothing was done."


@dataclass(frozen=True, slots=True)
class ConfirmView:
    """The form of an action again.

    Attributes:
        label: the word on its button.
        path: the address of the page.
        shown_path: the address, as text.
        fields: what was typed, and how it is shown.
        form: the token of the form.
        needs_token: whether the token of the session has to be shown again.
        fault: why nothing was done; empty if only the token is missing.
        takes_away: whether the action takes something away, stops or refuses it.
        repeated: what the action does.
    """

    label: str
    path: str
    shown_path: str
    fields: tuple[tuple[str, str, str], ...]
    form: str
    needs_token: bool
    fault: str
    takes_away: bool = False
    repeated: Repeated | None = None


async def act(page: ExplorerPage, scope: Scope, receive: Receive) -> Response:
    """Do what a form asks for.

    Raises:
        HttpError: `origin_not_allowed`, `permission_denied`, `unauthorized`, `rate_limited`, `invalid_arguments`, or an
            error of the action.
    """
    check_origin(scope)
    visitor = visitor_of(scope)
    session = visitor.session
    files: dict[str, bytes] = {}
    if session is not None and has_file(page, scope):
        visitor.principal.require(page.permission)
        fields, files = await read_with_file(page, scope, receive)
    elif session is not None:
        fields = await read_form(scope, receive, page.longest_form, page.most_fields)
    else:
        fields = await read_form(scope, receive)
    if session is None:
        hint = "sign in with a token; a program uses the REST API"
        raise HttpError("permission_denied", "an action needs a session", hint=hint)
    name = fields.get("action", "")
    action = page.actions.get(name)
    if action is None:
        raise HttpError("invalid_arguments", "this page has no such action", hint=", ".join(page.actions))
    visitor.principal.require(page.permission)
    visitor.principal.require(action.permission)
    path: str = scope["path"]
    if not session.is_form_token(fields.get("form", ""), action.form or name, path):
        return await _again(page, scope, visitor, session, action, fields, _OLD, 403)
    given = fields.get("token", "")
    if given:
        check_attempts(scope)
        if scope["app"].state.service.access.grant_of(given) != session.grant:
            state_of(scope).failures.add(address_of(scope), now())
            return await _again(page, scope, visitor, session, action, fields, _WRONG, 401)
        session = state_of(scope).sessions.confirm(session, now())
        visitor = replace(visitor, session=session)
    if action.changes and not session.may_act(now()):
        return await _again(page, scope, visitor, session, action, fields, "", 401)
    typed = {key: value for key, value in fields.items() if key not in _OWN_FIELDS}
    return await _run(page, scope, visitor, action, typed, files)


async def _run(
    page: ExplorerPage,
    scope: Scope,
    visitor: Visitor,
    action: Action,
    fields: dict[str, str],
    files: Mapping[str, bytes],
) -> Response:
    status = 200
    try:
        done = await _called(page, scope, visitor, action, action.run, fields, files)
    except Faulty as fault:
        done, status = fault.view, as_http(fault.error, scope[REQUEST_ID]).status
    if isinstance(done, str):
        return RedirectResponse(done, 303)
    return await html(scope, page.template, done, around_page(scope, visitor, page.name), status)


async def _called(
    page: ExplorerPage,
    scope: Scope,
    visitor: Visitor,
    action: Action,
    run: Callable[[PageCall, Mapping[str, str]], Answer],
    fields: Mapping[str, str],
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> Answer:
    """What a function of a page answers, in the pool of the page."""
    service: Service = scope["app"].state.service
    query = parse_query(page.query, scope["query_string"], from_field)
    if action.decodes:
        fields = typed_in(fields)
    languages = languages_in(Headers(scope=scope).get("accept-language"))
    with service.calls.token() as cancel:
        call = PageCall(
            service, visitor.principal, query, scope["path_params"], cancel=cancel, languages=languages, files=files
        )
        return await service.pools[page.pool].run(partial(run, call, fields))


async def _again(
    page: ExplorerPage,
    scope: Scope,
    visitor: Visitor,
    session: BrowserSession,
    action: Action,
    fields: dict[str, str],
    fault: str,
    status: int,
) -> Response:
    repeated = None
    if action.repeats is not None and fault != _OLD:
        try:
            repeated = await _called(page, scope, visitor, action, action.repeats, fields)
        except Faulty as refused:  # what was typed is shown again, before a token is asked for
            status = as_http(refused.error, scope[REQUEST_ID]).status
            return await html(scope, page.template, refused.view, around_page(scope, visitor, page.name), status)
    elif named := [value for key, value in scope["path_params"].items() if key != "namespace"]:
        repeated = Repeated(shown_name(named[-1]))
    typed = [(key, value) for key, value in fields.items() if key not in _OWN_FIELDS]
    kept = tuple((key, value, f"{shown_text(key).plain}: {shown_text(value).plain}") for key, value in typed)
    form = session.form_token(action.form or fields["action"], scope["path"])
    path = quote(scope["path"])
    shown = shown_text(scope["path"]).plain
    view = ConfirmView(
        action.label, path, shown, kept, form, not session.may_act(now()), fault, action.takes_away, repeated
    )
    return await html(scope, "confirm.html", view, around_page(scope, visitor), status)
