"""`/explore/live`: events that announce a change of what a page shows (server-sent events: HTML, §9.2).

    data: {"graph": 3, "audit": "…", "waiting": {"overview": 2, "approvals": 2}}

Rules kept here:
- an event has counters and the numbers of the inbox, and no data: the page asks for itself again, as its reader may;
- a stream belongs to a session, or to a token, and ends with it, with the server, and after `LONGEST_S`. It does not
  count as a use of the session;
- the number of streams is bounded (`live_streams.py`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope

from cortex_skills.doors.explorer.answers import cancelled_by_leaving
from cortex_skills.doors.explorer.callers import Visitor, now, state_of, visitor_of
from cortex_skills.doors.explorer.inbox import inbox_of, numbers_of
from cortex_skills.doors.explorer.live_streams import LiveStreams, WrittenSoFar
from cortex_skills.doors.explorer.page import PageCall, not_found
from cortex_skills.doors.http.bodies import LEAVING_CANCELS
from cortex_skills.doors.http.http_errors import HttpError, method_not_allowed
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.rest.model_types import ApiModel
from cortex_skills.doors.rest.schemas import parse_query

PATH = "/explore/live"
LONGEST_S = 15 * 60.0
_TICK_S = 0.5


class LiveQuery(ApiModel, total=False):
    """Of the stream: the namespace of the page."""

    namespace: str


async def live(scope: Scope, receive: Receive) -> Response:
    """The stream of a page."""
    if scope["method"] != "GET":
        raise method_not_allowed(scope["method"], "GET")
    service: Service = scope["app"].state.service
    visitor = visitor_of(scope)
    visitor.principal.require("read")
    namespace = parse_query(LiveQuery, scope["query_string"]).get("namespace", service.plugin.graph.namespace)
    if not visitor.principal.may_use(namespace):
        raise not_found("there is no such namespace, or it is not open to you")
    streams = state_of(scope).live
    reader = visitor.session.digest if visitor.session is not None else visitor.principal.key
    if not streams.has_room(reader):
        raise HttpError("rate_limited", "too many pages are live", hint="close some; they work without it")
    scope[LEAVING_CANCELS] = True
    events = _events(scope, receive, visitor, namespace, reader)
    return StreamingResponse(events, media_type="text/event-stream")


async def _events(scope: Scope, receive: Receive, visitor: Visitor, namespace: str, reader: str) -> AsyncIterator[str]:
    """The events until the reader leaves, the session or the server ends."""
    service: Service = scope["app"].state.service
    streams: LiveStreams = state_of(scope).live
    began = time.monotonic()
    sent: dict[str, Any] = {}
    last: WrittenSoFar | None = None
    if not streams.has_room(reader):
        return
    with streams.entered(reader), service.calls.token() as cancel:
        async with cancelled_by_leaving(receive, cancel):
            while not cancel.is_cancelled and time.monotonic() - began < LONGEST_S and _is_let_in(scope, visitor):
                seen = await streams.seen(service, namespace)
                if seen != last:
                    last = seen
                    event = await _event_of(service, visitor, seen)
                    if event != sent:
                        sent = event
                        yield f"data: {json.dumps(event)}\n\n"
                await asyncio.sleep(_TICK_S)


async def _event_of(service: Service, visitor: Visitor, seen: WrittenSoFar) -> dict[str, Any]:
    call = PageCall(service, visitor.principal)
    waiting = numbers_of(await service.pools["quick"].run(partial(inbox_of, call)))
    audit = {"audit": seen.audit} if "audit" in visitor.principal.permissions else {}
    return {"graph": seen.graph, **audit, "waiting": waiting}


def _is_let_in(scope: Scope, visitor: Visitor) -> bool:
    """Whether the session, or the token, is valid and has the rights that it had."""
    access = scope["app"].state.service.access
    if visitor.session is None:
        client = scope.get("client")
        try:
            return bool(access.identify(scope["headers"], client[0] if client else None) == visitor.principal)
        except HttpError:
            return False
    state = state_of(scope)
    return state.sessions.is_open(visitor.session, now()) and state.holder(visitor.session.grant, access) == (
        visitor.principal
    )
