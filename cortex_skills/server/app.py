"""`create_app`: everything that is served over HTTP, as one ASGI application.

    from cortex_skills import Config
    from cortex_skills.server import create_app

    app = create_app(Config.load("cortex.yaml"))        # opens its own plugin when it starts, and closes it
    app = create_app(plugin)                            # serves one that is open; whoever opened it closes it

Rules kept here:
- doors are thin: a tool call passes `Plugin.call`, a triple a `NamespacedGraph` of a namespace that the token opens;
- the application may be run by any ASGI server; slow clients are the server's affair (see `protocol.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from cortex_skills.config import Config
from cortex_skills.plugin import Plugin
from cortex_skills.server import changes, proofs, queries, skills, stats, triples, verifying
from cortex_skills.server.auth import Gate
from cortex_skills.server.bodies import BODY_S, Bodies
from cortex_skills.server.doors import NOT_FOUND, routes_of
from cortex_skills.server.errors import HttpError
from cortex_skills.server.guards import LOCAL_NAMES, Guards
from cortex_skills.server.index import index_operations
from cortex_skills.server.mcp.door import McpDoor, mcp_route
from cortex_skills.server.operations import Operation
from cortex_skills.server.service import Service
from cortex_skills.server.sparql import sparql_route

API: tuple[Operation, ...] = (
    *triples.OPERATIONS,
    *changes.OPERATIONS,
    *queries.OPERATIONS,
    *stats.OPERATIONS,
    *verifying.OPERATIONS,
    *proofs.OPERATIONS,
    *skills.OPERATIONS,
)

_SWEEP_S = 5.0
_LAST_SWEEP_S = 10.0


def create_app(source: Plugin | Config, *, host: str | None = None, body_s: float = BODY_S) -> Starlette:
    """The application.

    Args:
        source: an open plugin, or the configuration of one to open.
        host: the address that it will be served at, if it is not the configured one.
        body_s: how long the body of a request may take to arrive, in seconds.

    """
    config = source if isinstance(source, Config) else source.config
    bound = host or config.cortex.host
    names = [*config.cortex.allowed_hosts, *([] if bound in LOCAL_NAMES else [bound])]
    door = McpDoor()
    app = Starlette(
        routes=_routes(door),
        middleware=[Middleware(Guards, hosts=names)],
        lifespan=_lifespan(source, body_s, door),
    )
    app.router.redirect_slashes = False
    app.router.default = NOT_FOUND
    app.state.mcp = door
    if isinstance(source, Plugin):  # a mounted application is never told that it starts
        app.state.service = Service(source, Gate(config), Bodies(body_s))
    return app


def _routes(door: McpDoor) -> Sequence[BaseRoute]:
    # They are tried one after the other: first those of the doors that are asked most.
    return [mcp_route(door), sparql_route(), *routes_of([*API, *index_operations(API)])]


def _lifespan(
    source: Plugin | Config, body_s: float, door: McpDoor
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        plugin = source if isinstance(source, Plugin) else Plugin.open(source)
        try:
            if not hasattr(app.state, "service"):
                app.state.service = Service(plugin, Gate(plugin.config), Bodies(body_s))
            service: Service = app.state.service
            sweeping = asyncio.create_task(_sweep(service))
            yield
            await door.close()
            sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await sweeping
            with suppress(HttpError, TimeoutError):
                async with asyncio.timeout(_LAST_SWEEP_S):
                    await service.lanes["slow"].run(partial(skills.sweep, service, everything=True))
            service.close()
        finally:
            if plugin is not source:
                plugin.close()

    return lifespan


async def _sweep(service: Service) -> None:
    """Empty the sandboxes whose time is over, for as long as the application runs."""
    while True:
        await asyncio.sleep(_SWEEP_S)
        if service.sandboxes.ended():
            with suppress(HttpError):
                await service.lanes["slow"].run(partial(skills.sweep, service))
