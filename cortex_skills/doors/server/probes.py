"""`/livez` and `/readyz`: what an orchestrator asks.

Rules kept here:
- they need no token, accept every `Host`, and tell everybody the same: no name, no path, no number;
- `/livez` is 200 for as long as the event loop turns: a store that hangs is no reason to start the process anew;
- `/readyz` is 503 with what is wrong while the store does not answer, cannot be written to, or the server is ending.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.service import Service

_HEADERS = {"Cache-Control": "no-store"}


def probe_routes() -> list[Route]:
    """The routes of both."""
    return [
        Route("/livez", _live, methods=["GET"], include_in_schema=False),
        Route("/readyz", _ready, methods=["GET"], include_in_schema=False),
    ]


async def _live(_: Request) -> Response:
    return PlainTextResponse("live\n", headers=_HEADERS)


async def _ready(request: Request) -> Response:
    service: Service = request.app.state.service
    try:
        fault = await service.pools["health"].run(lambda: service.store_health.wrong_with(service.plugin))
    except HttpError as error:  # too many ask, or the server is ending
        fault = error.message
    return PlainTextResponse(f"{fault or 'ready'}\n", 503 if fault else 200, headers=_HEADERS)
