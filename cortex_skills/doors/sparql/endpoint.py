"""The endpoint `/sparql`.

Rules kept here:
- a query sees the namespaces of the caller's token only, their registered skills, and their memories with the
  permission `memories`; an update needs the permissions `read` and `write`, and changes the graphs of namespaces only;
- a failure before the first byte of an answer is an error with a status; after it the connection is cut off, so that
  no client takes a part of an answer for the whole;
- an answer is streamed in constant memory, and one of less than `SHORT` bytes is sent whole; a query whose client
  closes its side of the connection is cancelled at once, before or while it answers; an update is completed, unless the
  server shuts down before it writes;
- a caller has at most `AT_ONCE` requests under way and `WAITING` that wait, so that no caller uses the whole server; a
  waiting request whose client disconnects is dropped.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyoxigraph import NamedNode, QueryResultsFormat, RdfFormat
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from cortex_graph import NamespacedGraph, QueryAnswer, namespaces_of
from cortex_graph.as_of import PastGraph, as_of_graphs
from cortex_graph.checks.datetimes import date_time
from cortex_graph.sparql import Updated, graphs_beside, query_graphs
from cortex_skills.cancellation import CancelToken
from cortex_skills.doors.http.auth import Principal
from cortex_skills.doors.http.bodies import LEAVING_CANCELS, to_json
from cortex_skills.doors.http.http_errors import HttpError, method_not_allowed
from cortex_skills.doors.http.service import Service
from cortex_skills.doors.rest.operations import ApiCall
from cortex_skills.doors.sparql.cortex_form import ACCEPT, Collected, is_wanted
from cortex_skills.doors.sparql.description import description
from cortex_skills.doors.sparql.negotiation import GRAPHS, RESULTS, chosen
from cortex_skills.doors.sparql.request import KINDS, SparqlRequest, read_get, read_post
from cortex_skills.errors import CortexError
from cortex_skills.operations.namespace_operations import update
from cortex_skills.tokens import ALL_NAMESPACES

PATH = "/sparql"
PATHS = (PATH, "/api/v1/sparql")
AT_ONCE = 2
WAITING = 16
SHORT = 1 << 16
_METHODS = "GET, HEAD, POST"


def sparql_routes() -> list[Route]:
    """The routes of the endpoint."""
    endpoint = SparqlEndpoint()
    return [Route(path, endpoint=endpoint, include_in_schema=False) for path in PATHS]


class SparqlEndpoint:
    """Answers queries, updates and requests for the service description."""

    def __init__(self) -> None:
        self._slots: weakref.WeakValueDictionary[str, _CallerSlots] = weakref.WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI)."""
        service: Service = scope["app"].state.service
        headers = Headers(scope=scope)
        principal = service.access.admit(scope, "read")
        request = await _read(scope, headers, receive, service)
        if request.is_update:
            principal.require("write")
        accept = ",".join(headers.getlist("accept")) or None
        readable = partial(_readable, service, principal, request)
        if request.text is None:
            graphs, beside = await service.pools["sparql"].run(readable)
            may_write = "write" in principal.permissions
            await _describe(scope, receive, send, graphs, beside, accept, may_write=may_write)
            return
        scope[LEAVING_CANCELS] = not request.is_update
        reader = _Reader(receive)
        async with self._slot(principal, reader, _time(service, request)):
            if request.is_update:
                response = await _update(service, principal, request)
                await response(scope, receive, send)
            elif request.is_json and is_wanted(accept):
                began, answer = time.monotonic(), Collected()
                await _query(service, readable, request, ACCEPT, reader, answer, bodiless=False)
                took = round((time.monotonic() - began) * 1000)
                document = await service.pools["sparql"].run(lambda: to_json(answer.document(took)))
                kept = {name: value for name, value in answer.headers.items() if name.startswith("cortex-")}
                headers_of = _content("application/json") | kept
                await Response(document, headers=headers_of)(scope, receive, send)
            else:
                bodiless = scope["method"] == "HEAD"
                await _query(service, readable, request, accept, reader, send, bodiless=bodiless)

    @asynccontextmanager
    async def _slot(self, principal: Principal, reader: _Reader, within_s: float) -> AsyncIterator[None]:
        slots = self._slots.get(principal.key)
        if slots is None:
            slots = self._slots[principal.key] = _CallerSlots()
        await slots.acquire(reader, within_s)
        try:
            yield
        finally:
            slots.release()


class _CallerSlots:
    """The requests of one caller that are under way or wait."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def acquire(self, reader: _Reader, within_s: float) -> None:
        """Wait for a slot.

        Raises:
            HttpError: `graph_busy`: the wait took too long, or too many wait; `bad_request`: the client disconnected.
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
                raise HttpError("bad_request", "the client disconnected while its request waited")
            if not taking.done():
                raise _busy(AT_ONCE)
        except BaseException:
            if not taking.cancel() and not taking.cancelled():
                self._free.release()
            raise
        finally:
            self._waiting -= 1

    def release(self) -> None:
        """Free a slot."""
        self._free.release()


def _busy(count: int) -> HttpError:
    message = f"{count} requests of this token are under way already"
    return HttpError("graph_busy", message, hint="wait for their answers")


async def _read(scope: Scope, headers: Headers, receive: Receive, service: Service) -> SparqlRequest:
    if scope["method"] in ("GET", "HEAD"):
        return read_get(scope["query_string"])
    if scope["method"] != "POST":
        raise method_not_allowed(scope["method"], _METHODS)
    async with service.bodies.read(headers, receive, KINDS) as body:
        kind = headers["content-type"].partition(";")[0].strip().lower()
        return read_post(kind, scope["query_string"], body)


def _graphs(service: Service, principal: Principal, request: SparqlRequest) -> list[NamespacedGraph]:
    """The graphs of a request: those that it names, or all that its caller may read."""
    if request.namespaces:
        return [service.graph(principal.namespace(name)) for name in dict.fromkeys(request.namespaces)]
    if ALL_NAMESPACES not in principal.namespaces:
        return [service.graph(name) for name in principal.namespaces]
    own = service.plugin.graph
    found = namespaces_of(own.store, own.names.base)
    return [service.graph(name) for name in dict.fromkeys([principal.usual, *found])]


def _readable(
    service: Service, principal: Principal, request: SparqlRequest
) -> tuple[list[NamespacedGraph], list[NamedNode]]:
    """The graphs of a request, and those beside them that its caller may read."""
    graphs = _graphs(service, principal, request)
    store = service.plugin.graph.store
    return graphs, graphs_beside(store, graphs, memories="memories" in principal.permissions)


async def _describe(
    scope: Scope,
    receive: Receive,
    send: Send,
    graphs: Sequence[NamespacedGraph],
    beside: Sequence[NamedNode],
    accept: str | None,
    *,
    may_write: bool,
) -> None:
    kind, form = chosen(accept, GRAPHS) or next(iter(GRAPHS.items()))
    endpoint = f"{scope['scheme']}://{Headers(scope=scope)['host']}{scope.get('root_path', '')}{PATH}"
    body = description(endpoint, graphs, beside, form, may_write=may_write)
    await Response(body, headers=_content(kind))(scope, receive, send)


async def _update(service: Service, principal: Principal, request: SparqlRequest) -> Response:
    def work(cancel: CancelToken) -> Updated:
        graphs = _graphs(service, principal, request)
        call = ApiCall(service, principal, {"namespace": graphs[0].namespace}, door="sparql", cancel=cancel)
        return call.operate(
            update,
            update=request.text or "",
            graphs=graphs,
            using=request.default_graphs,
            using_named=request.named_graphs,
            timeout_s=_time(service, request),
        )

    with service.calls.token() as cancel:
        done = await service.pools["sparql"].run(partial(work, cancel))
    return Response(to_json({"inserted": done.inserted, "removed": done.removed}), media_type="application/json")


@dataclass(frozen=True, slots=True)
class _Begun:
    """A query that is answered, the beginning of its answer, and whether that is all of it."""

    answer: QueryAnswer
    past: PastGraph | None
    beginning: bytes
    is_whole: bool


async def _query(
    service: Service,
    readable: Callable[[], tuple[list[NamespacedGraph], list[NamedNode]]],
    request: SparqlRequest,
    accept: str | None,
    reader: _Reader,
    send: Send,
    *,
    bodiless: bool,
) -> None:
    results, triples = chosen(accept, RESULTS), chosen(accept, GRAPHS)
    if results is None and triples is None:
        raise _not_acceptable([*RESULTS, *GRAPHS])

    def begin(cancel: CancelToken) -> _Begun:
        graphs, beside = readable()
        past = None
        if request.as_of is not None:
            past = as_of_graphs(graphs, request.as_of, request.undated or "include")
        answer = query_graphs(
            graphs[0].store if past is None else past[0].store,
            past or graphs,
            request.text or "",
            default_graphs=request.default_graphs,
            named_graphs=request.named_graphs,
            beside=beside if past is None else (),
            results=results[1] if results else QueryResultsFormat.JSON,
            graphs_format=triples[1] if triples else RdfFormat.N_TRIPLES,
            timeout_s=_time(service, request),
            max_bytes=service.plugin.config.cortex.max_answer_bytes,
            cancel=cancel,
        )
        beginning = bytearray()
        for chunk in answer.chunks:
            beginning += chunk
            if len(beginning) >= SHORT:
                return _Begun(answer, past[0] if past else None, bytes(beginning), is_whole=False)
        return _Begun(answer, past[0] if past else None, bytes(beginning), is_whole=True)

    pool = service.pools["sparql"]
    with service.calls.token() as cancel:
        async with reader.watch() as leaving:
            leaving.add_done_callback(lambda _: cancel.cancel())
            try:
                begun = await pool.run(partial(begin, cancel))
                answer = begun.answer
                try:
                    kind = _kind(answer, results, triples)
                    length = len(begun.beginning) if begun.is_whole else None
                    await send(_start(kind, begun.past, answer.warnings, length))
                    chunk: bytes | None = begun.beginning
                    while chunk is not None and not begun.is_whole and not bodiless:
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                        chunk = await pool.run(partial(next, answer.chunks, None))
                    await send({"type": "http.response.body", "body": b"" if bodiless else chunk or b""})
                finally:
                    if not begun.is_whole:
                        await asyncio.shield(asyncio.to_thread(_end, answer))
            except CortexError:
                if not reader.gone:  # otherwise the error is that of the cancellation
                    raise


def _end(answer: QueryAnswer) -> None:
    with suppress(ValueError):  # a thread still reads it, until the cancellation takes effect
        answer.chunks.close()


def _kind(
    answer: QueryAnswer, results: tuple[str, QueryResultsFormat] | None, triples: tuple[str, RdfFormat] | None
) -> str:
    found = triples if isinstance(answer.form, RdfFormat) else results
    if found is None:
        raise _not_acceptable(GRAPHS if isinstance(answer.form, RdfFormat) else RESULTS)
    return found[0]


def _time(service: Service, request: SparqlRequest) -> float:
    longest = service.plugin.config.cortex.query_timeout_ms / 1000
    return longest if request.timeout_s is None else min(longest, request.timeout_s)


class _Reader:
    """Watches whether the client of a request disconnects."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.gone = False

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[asyncio.Task[None]]:
        """A task that is done when the client disconnects during the block."""
        task = asyncio.create_task(self._wait())
        try:
            yield task
        finally:
            task.cancel()

    async def _wait(self) -> None:
        while not self.gone:
            message: Message = await self._receive()
            self.gone = message["type"] == "http.disconnect"


def _start(kind: str, past: PastGraph | None, warnings: Sequence[str], length: int | None) -> dict[str, Any]:
    headers = [(name.encode(), value.encode()) for name, value in _content(kind).items()]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    if past is not None:
        undated = "included" if past.past.records[0].undated else "excluded"
        headers.append((b"cortex-as-of", f"{date_time(past.moment)}; undated={undated}".encode()))
    headers += [(b"cortex-warning", warning.encode()) for warning in warnings]
    return {"type": "http.response.start", "status": 200, "headers": headers}


def _content(kind: str) -> dict[str, str]:
    return {"content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind, "vary": "accept"}


def _not_acceptable(offered: Sequence[str] | Any) -> HttpError:
    hint = f"available: {', '.join(offered)}"
    return HttpError("not_acceptable", "the answer cannot be serialized in any of the accepted formats", hint=hint)
