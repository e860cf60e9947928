"""`create_app`: everything that is served over HTTP, as one ASGI application.

    from cortex_skills import Config
    from cortex_skills.doors.server import create_app

    app = create_app(Config.load("cortex.yaml"))        # opens its own plugin at start-up, and closes it
    app = create_app(plugin)                            # serves an open plugin, and leaves it open

Rules kept here:
- no policy: a tool call passes `Plugin.call`, a triple a `NamespacedGraph` of a namespace that the token opens;
- any ASGI server may run the application; time-outs for slow clients are the server's (see `protocol.py`).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import cache, partial
from itertools import chain

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_skills.config.settings import Config
from cortex_skills.doors.explorer.callers import ExplorerState
from cortex_skills.doors.explorer.following import may_be_followed, resource_address, to_resource
from cortex_skills.doors.explorer.policy import PAGE_HEADERS
from cortex_skills.doors.explorer.routes import FrontDoor, explorer_routes
from cortex_skills.doors.http.auth import AccessControl
from cortex_skills.doors.http.bodies import BODY_S, Bodies
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.middleware.allowed_hosts import LOCAL_NAMES, host_check
from cortex_skills.doors.http.middleware.error_responses import ErrorResponses
from cortex_skills.doors.http.middleware.request_checks import RequestChecks
from cortex_skills.doors.http.middleware.request_log import RequestLog
from cortex_skills.doors.http.middleware.response_headers import ResponseHeaders
from cortex_skills.doors.http.middleware.unread_bodies import UnreadBodies
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.mcp.http import McpEndpoint, mcp_route
from cortex_skills.doors.rest import audit_log, skills
from cortex_skills.doors.rest.openapi import index_operations
from cortex_skills.doors.rest.operations import ApiOperation
from cortex_skills.doors.rest.routes import NOT_FOUND, routes_of
from cortex_skills.doors.server.metrics import metrics_route, started
from cortex_skills.doors.server.probes import probe_routes
from cortex_skills.doors.sparql import sparql_routes
from cortex_skills.feature import added, functions
from cortex_skills.plugin import Plugin


@cache
def api() -> tuple[ApiOperation, ...]:
    """The operations of the REST API: those of the features, then those of the plugin itself."""
    return (*chain.from_iterable(added("rest", "OPERATIONS")), *skills.OPERATIONS, *audit_log.OPERATIONS)


# Headers by path prefix, beside those for programs: a route that serves pages names its policy here.
HEADERS: dict[str, dict[str, str]] = {**PAGE_HEADERS}

_SWEEP_S = 5.0
_LAST_SWEEP_S = 10.0


def create_app(
    source: Plugin | Config, *, host: str | None = None, body_s: float = BODY_S, explorer: ExplorerState | None = None
) -> Starlette:
    """The application.

    Args:
        source: an open plugin, or the configuration of one to open.
        host: the address that it is served at, if it is not the configured one.
        body_s: how long the body of a request may take to arrive, in seconds.
        explorer: the state of its explorer, if the caller makes codes for it.
    """
    config = source if isinstance(source, Config) else source.config
    address = host or config.serving.host
    hosts = [*config.cortex.allowed_hosts, *([] if address in LOCAL_NAMES else [address])]
    mcp, explorer = McpEndpoint(), explorer or ExplorerState(config.agent_namespace)
    check = host_check([*hosts, explorer.name], may_be_followed(config, explorer.name))
    operations = routes_of([*api(), *index_operations(api())])
    files = [route for routes in functions("routes") for route in routes(config)]
    app = Starlette(
        # In the order in which they are tried: the most frequent first.
        routes=[
            mcp_route(mcp),
            *sparql_routes(),
            *_with_front_door(operations),
            *files,
            *explorer_routes(),
            *probe_routes(),
            metrics_route(),
        ],
        middleware=[
            Middleware(RequestLog),
            Middleware(ResponseHeaders, by_prefix=HEADERS),
            Middleware(UnreadBodies),
            Middleware(ErrorResponses),
            Middleware(RequestChecks, checks=[check]),
        ],
        lifespan=_lifespan(source, body_s, mcp),
    )
    app.router.redirect_slashes = False
    app.router.default = _resource_or(config, NOT_FOUND)
    app.state.mcp = mcp
    app.state.explorer = explorer
    if isinstance(source, Plugin):  # a mounted application gets no lifespan events
        app.state.service = Service(source, AccessControl(config), Bodies(body_s))
        app.state.metrics = started(app.state.service)
    return app


def _with_front_door(routes: list[Route]) -> list[Route]:
    """The routes, with a way for browsers from `/` to the explorer."""
    return [
        Route("/", endpoint=FrontDoor(route.endpoint), include_in_schema=False) if route.path == "/" else route
        for route in routes
    ]


def _resource_or(config: Config, otherwise: ASGIApp) -> ASGIApp:
    """The answer to a path without a route: the page of the resource whose IRI it is, if there may be one."""
    address_of = resource_address(config)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        address = address_of(scope) if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else None
        if address is None:
            await otherwise(scope, receive, send)
        else:
            await to_resource(scope, address)(scope, receive, send)

    return answer


def _lifespan(
    source: Plugin | Config, body_s: float, mcp: McpEndpoint
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        plugin = source if isinstance(source, Plugin) else Plugin.open(source)
        try:
            if not hasattr(app.state, "service"):
                app.state.service = Service(plugin, AccessControl(plugin.config), Bodies(body_s))
                app.state.metrics = started(app.state.service)
            service: Service = app.state.service
            sweeping = asyncio.create_task(_sweep(service))
            ending = threading.Event()
            tasks = [asyncio.create_task(task(service, ending)) for task in functions("tasks")]
            yield
            ending.set()
            for task in tasks:
                task.cancel()
            service.cancel_calls()
            await mcp.close()
            sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await sweeping
            with suppress(HttpError, TimeoutError):
                async with asyncio.timeout(_LAST_SWEEP_S):
                    await service.pools["slow"].run(partial(service.empty_sandboxes, everything=True))
            service.close()
            if app.state.metrics is not None:
                app.state.metrics.close()
        finally:
            if plugin is not source:
                plugin.close()

    return lifespan


async def _sweep(service: Service) -> None:
    """Empty expired sandboxes for as long as the application runs."""
    while True:
        await asyncio.sleep(_SWEEP_S)
        if service.sandboxes.ended():
            with suppress(HttpError):
                await service.pools["slow"].run(service.empty_sandboxes)
