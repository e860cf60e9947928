"""The door `/sparql`.

Rules kept here:
- the namespaces of the caller's token are all that a text sees; an update takes the permissions `read` and `write`;
- what fails before the first byte of an answer is an error with a status; later, the connection is cut off, so that
  nobody takes half an answer for a whole one;
- an answer is sent as it comes, in flat memory. A query whose client goes away, closing its side of the connection, is
  ended at once, whether it has begun to answer or not; an update is done all the same;
- nobody has more than `AT_ONCE` requests at work, so that nobody has all of what evaluates queries, and no more than
  `WAITING` that wait for it, so that nobody has all of what the server does at once. Who goes away waits no longer.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from pyoxigraph import QueryResultsFormat, RdfFormat
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from cortex_graph import Answer, NamespacedGraph, Provenance, namespaces_of
from cortex_graph.sparql import query_graphs, update_graphs
from cortex_skills.errors import CortexError
from cortex_skills.server.answers import LEAVING_CANCELS, send_bytes, to_json
from cortex_skills.server.auth import Principal
from cortex_skills.server.errors import HttpError
from cortex_skills.server.service import Service
from cortex_skills.server.sparql.description import description
from cortex_skills.server.sparql.negotiation import GRAPHS, RESULTS, chosen
from cortex_skills.server.sparql.request import KINDS, Request, read_get, read_post
from cortex_skills.stopping import Stop
from cortex_skills.tokens import ALL_NAMESPACES

PATH = "/sparql"
AT_ONCE = 2
WAITING = 16
_METHODS = "GET, HEAD, POST"


def sparql_route() -> Route:
    """The route of the door."""
    return Route(PATH, endpoint=_Door(), include_in_schema=False)


class _Door:
    """Queries, updates and the description of the service."""

    def __init__(self) -> None:
        self._turns: weakref.WeakValueDictionary[str, _Turns] = weakref.WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        service: Service = scope["app"].state.service
        headers = Headers(scope=scope)
        client = scope.get("client")
        principal = service.gate.identify(scope["headers"], client[0] if client else None)
        principal.require("read")
        request = await _read(scope, headers, receive, service)
        if request.is_update:
            principal.require("write")
        graphs = await service.lanes["sparql"].run(partial(_graphs, service, principal, request))
        accept = ",".join(headers.getlist("accept")) or None
        if request.text is None:
            await _describe(scope, send, graphs, accept, may_write="write" in principal.permissions)
            return
        scope[LEAVING_CANCELS] = not request.is_update
        reader = _Reader(receive)
        async with self._turn(principal, reader, _time(service, request)):
            if request.is_update:
                await _update(service, principal, graphs, request, send)
            else:
                await _query(service, graphs, request, accept, reader, send, bodiless=scope["method"] == "HEAD")

    @asynccontextmanager
    async def _turn(self, principal: Principal, reader: _Reader, within_s: float) -> AsyncIterator[None]:
        turns = self._turns.get(principal.name)
        if turns is None:
            turns = self._turns[principal.name] = _Turns()
        await turns.take(reader, within_s)
        try:
            yield
        finally:
            turns.give_back()


class _Turns:
    """What one caller may have at work, and those requests that wait for it."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def take(self, reader: _Reader, within_s: float) -> None:
        """Wait for a turn.

        Raises:
            HttpError: `graph_busy`: none came in time, or too many wait; `bad_request`: the client has gone.

        """
        if not self._free.locked():
            await self._free.acquire()
            return
        if self._waiting >= WAITING:
            raise _busy(AT_ONCE + self._waiting)
        self._waiting += 1
        taking = asyncio.create_task(self._free.acquire())
        try:
            async with reader.watch() as leaving:
                await asyncio.wait({taking, leaving}, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            if reader.gone:
                raise HttpError("bad_request", "the client went away before its turn came")
            if not taking.done():
                raise _busy(AT_ONCE)
        except BaseException:
            if not taking.cancel() and not taking.cancelled():
                self._free.release()
            raise
        finally:
            self._waiting -= 1

    def give_back(self) -> None:
        """End a turn."""
        self._free.release()


def _busy(count: int) -> HttpError:
    return HttpError("graph_busy", f"{count} requests of yours are at work already", hint="wait for their answers")


async def _read(scope: Scope, headers: Headers, receive: Receive, service: Service) -> Request:
    if scope["method"] in ("GET", "HEAD"):
        return read_get(scope["query_string"])
    if scope["method"] != "POST":
        raise HttpError(
            "method_not_allowed",
            f"this path has no {scope['method'][:20]}",
            hint=f"it has {_METHODS}",
            headers={"allow": _METHODS},
        )
    async with service.bodies.read(headers, receive, KINDS) as body:
        kind = headers["content-type"].partition(";")[0].strip().lower()
        return read_post(kind, scope["query_string"], body)


def _graphs(service: Service, principal: Principal, request: Request) -> list[NamespacedGraph]:
    """The graphs that a request is about: those that it names, else all of its caller."""
    if request.namespaces:
        return [service.graph(principal.namespace(name)) for name in dict.fromkeys(request.namespaces)]
    if ALL_NAMESPACES not in principal.namespaces:
        return [service.graph(name) for name in principal.namespaces]
    own = service.plugin.graph
    found = namespaces_of(own.store, own.names.base)
    return [service.graph(name) for name in dict.fromkeys([principal.usual, *found])]


async def _describe(
    scope: Scope, send: Send, graphs: Sequence[NamespacedGraph], accept: str | None, *, may_write: bool
) -> None:
    kind, form = chosen(accept, GRAPHS) or next(iter(GRAPHS.items()))
    endpoint = f"{scope['scheme']}://{Headers(scope=scope)['host']}{scope.get('root_path', '')}{PATH}"
    body = description(endpoint, graphs, form, may_write=may_write)
    await send_bytes(200, body, send, headers=_content(kind) | {"content-length": str(len(body))})


async def _update(
    service: Service, principal: Principal, graphs: Sequence[NamespacedGraph], request: Request, send: Send
) -> None:
    work = partial(
        update_graphs,
        service.plugin.graph.store,
        graphs,
        request.text or "",
        using_graphs=request.default_graphs,
        using_named_graphs=request.named_graphs,
        provenance=Provenance(agent=principal.name),
        timeout_s=_time(service, request),
    )
    done = await service.lanes["sparql"].run(work)
    await send_bytes(200, to_json({"inserted": done.inserted, "removed": done.removed}), send)


async def _query(
    service: Service,
    graphs: Sequence[NamespacedGraph],
    request: Request,
    accept: str | None,
    reader: _Reader,
    send: Send,
    *,
    bodiless: bool,
) -> None:
    results, triples = chosen(accept, RESULTS), chosen(accept, GRAPHS)
    if results is None and triples is None:
        raise _not_acceptable([*RESULTS, *GRAPHS])
    lane, stop = service.lanes["sparql"], Stop()
    work = partial(
        query_graphs,
        service.plugin.graph.store,
        graphs,
        request.text or "",
        default_graphs=request.default_graphs,
        named_graphs=request.named_graphs,
        results=results[1] if results else QueryResultsFormat.JSON,
        graphs_format=triples[1] if triples else RdfFormat.N_TRIPLES,
        timeout_s=_time(service, request),
        max_bytes=service.plugin.config.cortex.max_answer_bytes,
        stop=stop,
    )
    async with reader.watch() as leaving:
        leaving.add_done_callback(lambda _: stop.set())
        try:
            answer: Answer = await lane.run(work)
            try:
                kind = _kind(answer, results, triples)
                following = partial(lane.run, partial(next, answer.chunks, None))
                chunk: bytes | None = await following()
                await send(_start(kind))
                while chunk is not None and not bodiless:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    chunk = await following()
                await send({"type": "http.response.body", "body": b""})
            finally:
                await asyncio.shield(asyncio.to_thread(_end, answer))
        except CortexError:
            if not reader.gone:  # else it is that of the stop, and nobody is there to hear it
                raise


def _end(answer: Answer) -> None:
    with suppress(ValueError):  # it is being read still, by a thread that its stop will end
        answer.chunks.close()


def _kind(answer: Answer, results: tuple[str, QueryResultsFormat] | None, triples: tuple[str, RdfFormat] | None) -> str:
    found = triples if isinstance(answer.form, RdfFormat) else results
    if found is None:
        raise _not_acceptable(GRAPHS if isinstance(answer.form, RdfFormat) else RESULTS)
    return found[0]


def _time(service: Service, request: Request) -> float:
    longest = service.plugin.config.cortex.query_timeout_ms / 1000
    return longest if request.timeout_s is None else min(longest, request.timeout_s)


class _Reader:
    """The client that an answer is sent to."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.gone = False

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[asyncio.Task[None]]:
        """Know, during the block, when the client goes away: then the task is done."""
        task = asyncio.create_task(self._wait())
        try:
            yield task
        finally:
            task.cancel()

    async def _wait(self) -> None:
        while not self.gone:
            message: Message = await self._receive()
            self.gone = message["type"] == "http.disconnect"


def _start(kind: str) -> dict[str, Any]:
    headers = [(name.encode(), value.encode()) for name, value in _content(kind).items()]
    return {"type": "http.response.start", "status": 200, "headers": headers}


def _content(kind: str) -> dict[str, str]:
    return {"content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind, "vary": "accept"}


def _not_acceptable(offered: Sequence[str] | Any) -> HttpError:
    hint = f"there are {', '.join(offered)}"
    return HttpError("not_acceptable", "the answer cannot be written in any format that is accepted", hint=hint)
