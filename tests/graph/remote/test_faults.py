"""Servers that lie, stall, break off, refuse and die."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, QuerySolutions

from cortex_graph import GraphError, GraphUnavailable, Pattern, QueryTimeout
from cortex_graph.exceptions import UnknownOutcome
from cortex_graph.store import Dataset
from cortex_graph.stores.http import CircuitBreaker
from cortex_graph.stores.http.client import HttpClient
from cortex_graph.stores.remote.endpoints import read_endpoints
from cortex_graph.stores.remote.sparql_store import RemoteStore
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from tests.graph.remote.hostile import JSON, TRUE, Answer, Hostile, hostile, response, says
from tests.ports import quiet_port
from tests.services.oxigraph import oxigraph

G, S = NamedNode("urn:g"), NamedNode("urn:s")
QUAD = Quad(S, S, Literal(1), G)
SECRET = "hunter2-of-the-tests"
NO_ROWS = b'{"head":{"vars":["s"]},"results":{"bindings":[]}}'
WAIT_S = 60.0  # generous: only so that a test ends


def store_of(url: str, timeout_s: float = WAIT_S) -> RemoteStore:
    return RemoteStore(read_endpoints(url), timeout_s=timeout_s)


def problem_of(answer: Answer, timeout_s: float = WAIT_S) -> tuple[GraphError, Hostile]:
    """What a server that answers like this makes of the simplest question, which ends within a generous time."""
    with hostile(answer) as server, closing(store_of(server.url, timeout_s)) as store:
        start = time.monotonic()
        with pytest.raises(GraphError) as caught:
            store.contains(QUAD)
        assert time.monotonic() - start < WAIT_S
        assert isinstance(caught.value, GraphUnavailable | QueryTimeout)
        assert server.url in caught.value.message
        assert len(str(caught.value)) < 1_000
        return caught.value, server


@pytest.mark.parametrize("form", [QueryResultsFormat.CSV, QueryResultsFormat.TSV, QueryResultsFormat.JSON])
@pytest.mark.parametrize("charset", ["", ";charset=UTF-8", '; header=present; charset="utf-8"'])
def test_rows_are_read_whatever_parameters_their_media_type_has(form: QueryResultsFormat, charset: str) -> None:
    body = NO_ROWS if form == QueryResultsFormat.JSON else b"?s\r\n"
    kind = form.media_type.partition(";")[0] + charset

    def answer(connection: socket.socket, request: bytes) -> None:  # and to what the store asks about the server
        if f"Accept: {form.media_type}".lower().encode() in request.lower() and b"ASK" not in request:
            connection.sendall(response(body=body, kind=kind))
        else:
            connection.sendall(response(body=TRUE if b"ASK" in request else NO_ROWS))

    with hostile(answer) as server, closing(store_of(server.url)) as store:
        found = store.query("SELECT ?s { ?s ?p ?o }", Dataset((G,)), results=form)
        assert (found.form, b"".join(found.chunks)) == (form, body)


def bomb() -> bytes:
    """A gibibyte of blanks, compressed, and never here as a whole; the checksum at its end is left out."""
    packing = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    first, again = (packing.compress(b" " * (1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * 1023


@pytest.mark.parametrize(
    "answer",
    [
        response(body=b"garbage"),
        response(body=b""),
        response(body=b"[]"),
        response(body=b'{"head":{},"boolean":"yes"}'),
        response(body=b'{"head":{"vars":[]},"results":{"bindings":[{}]}}'),
        response(body=TRUE, kind="text/html"),
        response(body=TRUE, kind=""),
        response(body=TRUE, length=10_000),
        response(body=b" " * (2 << 20)),
        response(body=gzip.compress(TRUE, mtime=0), extra="Content-Encoding: gzip\r\n"),
        response(body=bomb(), extra="Content-Encoding: gzip, gzip\r\n"),
        response(status=500, body=b"\x1b[31mboom\x00" * 1_000, kind="text/plain"),
        response(status=404),
        response(status=413),
        response(status=418),
        b"HTTP/1.1 200 OK\r\nContent-Type: " + JSON.encode() + b"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000,
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00" * 1_000,
        b"",
    ],
)
def test_an_answer_that_is_none_is_a_clear_error(answer: bytes) -> None:
    problem, _ = problem_of(says(answer))
    assert problem.hint
    assert "\x1b" not in problem.message
    assert problem.details["endpoint"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_are_reported(status: int) -> None:
    problem, server = problem_of(says(response(status=status)))
    assert f"it answers {status}" in problem.message
    assert "auth" in problem.hint
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed_and_gets_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TOKEN", SECRET)
    with hostile(says(response())) as other:
        answer = says(response(status=307, extra=f"Location: {other.url}/query\r\n"))
        with hostile(answer) as server:
            auth = {"type": "bearer", "token": "${TEST_TOKEN}"}
            store = RemoteStore(read_endpoints({"query": server.url, "auth": auth}))
            with pytest.raises(GraphUnavailable, match=r"redirects to 127\.0\.0\.1") as caught:
                store.contains(QUAD)
            assert SECRET.encode() in server.requests[0]
            assert SECRET not in str(caught.value) + repr(caught.value.details) + repr(store)
            store.close()
        assert other.requests == []


@pytest.mark.parametrize("host", [f"xn--{'a' * 300}", f"{'a' * 300}.xn--a", "[", "a:x"])
def test_a_redirect_to_no_host_is_a_problem_of_the_server(host: str) -> None:
    problem, _ = problem_of(says(response(status=302, extra=f"Location: https://{host}/\r\n")))
    assert "broke off" in problem.message or "redirects to" in problem.message


def drip(connection: socket.socket, request: bytes, piece: bytes, head: bytes = b"") -> None:
    """Write a piece again and again, until the client goes."""
    connection.sendall(head)
    connection.settimeout(0.05)
    while True:
        connection.sendall(piece)
        with suppress(TimeoutError):
            if not connection.recv(1):
                return


@pytest.mark.parametrize("where", ["silent", "head", "body"])
def test_a_server_that_drips_is_left_when_the_time_is_over(where: str) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: " + JSON.encode() + b"\r\nContent-Length: 100000\r\n"
    piece = {"silent": b"", "head": b"X", "body": b" "}[where]
    problem, server = problem_of(
        lambda connection, request: drip(connection, request, piece, head + (b"\r\n" if where == "body" else b"")), 1.0
    )
    assert isinstance(problem, QueryTimeout)
    assert len(server.requests) <= 1  # none, when the connection alone took the time; never a second one


def test_a_write_that_is_not_answered_is_not_known_to_have_failed() -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        if b"POST /query" in request:
            connection.sendall(response(body=b'{"head":{},"boolean":false}'))
        else:
            drip(connection, request, b"")

    with hostile(answer) as server:
        store = store_of(server.url, 3.0)  # the question before the write has to be answered in it
        with pytest.raises(UnknownOutcome, match="did not answer") as caught:
            store.bulk_insert([Quad(S, S, S, G)])
        assert "made or not" in caught.value.hint
        store.close()


def test_an_endless_row_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.stores.remote.sparql_protocol.MAX_ROW", 1 << 20)

    def answer(connection: socket.socket, request: bytes) -> None:
        if b"ASK" in request:
            connection.sendall(response())
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: " + JSON.encode() + b"\r\nConnection: close\r\n\r\n")
        connection.sendall(b'{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"literal","value":"')
        while True:
            connection.sendall(b"x" * 65536)

    with hostile(answer) as server:
        store = store_of(server.url)
        with pytest.raises(GraphUnavailable, match="a row of more than"):
            list(store.quads(Pattern(G)))
        store.close()


@pytest.mark.parametrize(
    "row",
    [
        '{"s":{"type":"literal","value":"1"},"p":{"type":"uri","value":"urn:p"},"o":{"type":"uri","value":"urn:o"}}',
        '{"s":{"type":"uri","value":"urn:s"},"p":{"type":"bnode","value":"b"},"o":{"type":"uri","value":"urn:o"}}',
        '{"s":{"type":"uri","value":"urn:s"},"p":{"type":"uri","value":"urn:p"}}',
        '{"s":{"type":"uri","value":"no iri"},"p":{"type":"uri","value":"urn:p"},"o":{"type":"uri","value":"urn:o"}}',
        '{"s":{"type":"what","value":"x"}}',
        "{}",
    ],
)
def test_a_row_without_its_terms_is_refused(row: str) -> None:
    body = f'{{"head":{{"vars":["s","p","o"]}},"results":{{"bindings":[{row}]}}}}'.encode()
    with hostile(says(response(), response(body=body))) as server:
        store = store_of(server.url)
        with pytest.raises(GraphUnavailable):
            list(store.quads(Pattern(G)))
        store.close()


@pytest.mark.parametrize(
    ("ask", "body"),
    [
        (lambda store: store._protocol.ask("ASK {}"), b'{"head":{"vars":[]},"results":{"bindings":[{}]}}'),
        (lambda store: list(store._protocol.rows("")), b'{"head":{"vars":[]},"results":{"bindings":[{}, what'),
    ],
)
def test_an_error_keeps_no_rows_that_another_thread_could_come_to_collect(
    ask: Callable[[RemoteStore], object], body: bytes
) -> None:
    def kept(error: BaseException | None) -> Iterator[object]:
        while error is not None:
            for frame, _ in traceback.walk_tb(error.__traceback__):
                yield from frame.f_locals.values()
            error = error.__cause__

    with hostile(says(response(body=body))) as server, closing(store_of(server.url)) as store:
        with pytest.raises(GraphUnavailable) as caught:
            ask(store)
        assert not any(isinstance(value, QuerySolutions) for value in kept(caught.value))


@pytest.mark.parametrize("number", ["-1", "1e3", "many", "9" * 30, "\u0661"])
def test_a_count_that_is_no_number_is_refused(number: str) -> None:
    row = f'{{"n":{{"type":"literal","value":"{number}"}}}}'
    body = f'{{"head":{{"vars":["n"]}},"results":{{"bindings":[{row}]}}}}'.encode()
    with hostile(says(response(), response(body=body))) as server:
        store = store_of(server.url)
        with pytest.raises(GraphUnavailable):
            store.count(Pattern(G))
        store.close()


@pytest.mark.parametrize("number", ["-1", "1e3", "many", "9" * 30])
def test_a_page_with_a_total_that_is_no_number_is_refused(number: str) -> None:
    row = f'{{"n":{{"type":"literal","value":"{number}"}}}}'
    body = f'{{"head":{{"vars":["s","p","o","n"]}},"results":{{"bindings":[{row}]}}}}'.encode()
    with hostile(says(response(), response(body=body))) as server:
        store = store_of(server.url)
        with pytest.raises(GraphUnavailable):
            store.match_counted(Pattern(G), 20, None, 101)
        store.close()


def test_a_row_of_no_pattern_is_refused() -> None:
    row = '{"i":{"type":"literal","value":"2"},"o":{"type":"uri","value":"urn:o"}}'
    body = f'{{"head":{{"vars":["i","s","p","o"]}},"results":{{"bindings":[{row}]}}}}'.encode()
    with hostile(says(response(), response(body=body))) as server:
        store = store_of(server.url)
        with pytest.raises(GraphUnavailable, match="index of a pattern"):
            store.gather([Pattern(G, S), Pattern(G, S, S)])
        store.close()


@pytest.mark.parametrize("node", ["", ',"x":{"type":"uri","value":"urn:else"}', ',"x":{"type":"literal","value":"s"}'])
def test_a_row_of_a_node_that_was_not_asked_for_is_refused(node: str) -> None:
    row = '{"i":{"type":"literal","value":"0"},"p":{"type":"uri","value":"urn:p"},"o":{"type":"uri","value":"urn:o"}'
    body = f'{{"head":{{"vars":["i","x","s","p","o"]}},"results":{{"bindings":[{row}{node}}}]}}}}'.encode()
    with hostile(says(response(), response(body=body))) as server:
        store = store_of(server.url)
        with pytest.raises(GraphUnavailable, match="the node of a pattern"):
            store.gather([Pattern(G, S), Pattern(G, NamedNode("urn:s2"))])
        store.close()


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_a_server_did_not_do_is_asked_again(status: int) -> None:
    with hostile(says(response(status=status), response(status=status), response())) as server:
        store = store_of(server.url)
        assert store._protocol.ask("ASK {}")
        assert len(server.requests) == 3
        store.close()


def test_a_connection_that_breaks_is_tried_again_and_then_given_up() -> None:
    problem, server = problem_of(says(b""))
    assert isinstance(problem, GraphUnavailable)
    assert len(server.requests) == 3


def test_a_request_with_status_500_is_not_repeated() -> None:
    _, server = problem_of(says(response(status=500, body=b"boom", kind="text/plain")))
    assert len(server.requests) == 1


def test_a_server_that_fails_is_left_in_peace_and_asked_again_later() -> None:
    now = [100.0]
    with hostile(says(response(status=503))) as server:
        store = store_of(server.url)
        store._client.breaker = CircuitBreaker(threshold=5, rest_s=10, clock=lambda: now[0])
        for _ in range(4):
            with pytest.raises(GraphUnavailable):
                store.contains(QUAD)
        assert len(server.requests) == 5
        with pytest.raises(GraphUnavailable, match=r"not contacted for 10\.0 s; the last time: answers 503"):
            store.contains(QUAD)
        assert len(server.requests) == 5
        now[0] += 10
        with pytest.raises(GraphUnavailable):
            store.contains(QUAD)
        assert len(server.requests) == 6
        now[0] += 10
        server.answer = says(response())
        assert store.contains(QUAD)
        assert store.contains(QUAD)
        store.close()


def test_a_dead_server_is_named() -> None:
    url = f"http://127.0.0.1:{quiet_port()}"
    store = store_of(url)
    for operation in (store.graph_names, lambda: store.insert([[QUAD]]), store.flush, lambda: store.count(Pattern(G))):
        with pytest.raises(GraphUnavailable, match=url) as caught:
            operation()
        assert caught.value.code == "graph_unavailable"
    store.close()


def test_a_server_that_is_killed_while_it_answers_breaks_the_stream_with_an_error() -> None:
    with oxigraph() as server:
        store = store_of(server.url)
        store.bulk_insert(Quad(S, S, Literal(f"{number}{'x' * 2_000}"), G) for number in range(8_000))
        quads = store.quads(Pattern(G))
        next(quads)
        server.process.kill()
        with pytest.raises(GraphUnavailable, match=server.url):
            list(quads)
        with pytest.raises(GraphUnavailable, match=server.url):
            store.insert([[QUAD]])
        store.close()


def test_a_query_that_the_server_ends_is_a_timeout() -> None:
    with oxigraph("--timeout-s", "1") as server:
        store = store_of(server.url)
        store.bulk_insert(Quad(S, S, Literal(number), G) for number in range(3_000))
        join = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
        with pytest.raises(QueryTimeout, match=server.url):
            b"".join(store.query(join, Dataset((G,))).chunks)
        counted = None
        while counted is None:  # this server's limit holds for every query
            with suppress(QueryTimeout):
                counted = store.count(Pattern(G))
        assert counted == 3_000
        store.close()


def test_a_query_that_takes_longer_than_it_may_is_a_timeout() -> None:
    with oxigraph() as server:
        store = store_of(server.url)
        store.bulk_insert(Quad(S, S, Literal(number), G) for number in range(1_000))
        join = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
        with pytest.raises(QueryTimeout):
            for _ in store.query(join, Dataset((G,)), timeout_s=1.0).chunks:
                pass
        store.close()


def test_a_server_that_ignores_the_dataset_gets_no_query_of_a_user() -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        if b"SELECT" in request:
            row = b'{"g":{"type":"uri","value":"urn:other"}}'
            connection.sendall(response(body=b'{"head":{"vars":["g"]},"results":{"bindings":[' + row + b"]}}"))
        else:
            connection.sendall(response())

    with hostile(answer) as server:
        store = store_of(server.url)
        with pytest.raises(GraphUnavailable, match="graphs outside the dataset"):
            store.query("SELECT * { ?s ?p ?secret }", Dataset((G,)))
        assert not any(b"secret" in request for request in server.requests)
        store.close()


def test_an_unread_response_releases_its_connection() -> None:
    with oxigraph() as server:
        store = store_of(server.url)
        store.bulk_insert([QUAD])
        for _ in range(40):  # more than there are connections
            store.query("SELECT * { ?s ?p ?o }", Dataset((G,))).chunks.close()
            store.quads(Pattern(G)).close()  # type: ignore[attr-defined]
            next(store.quads(Pattern(G)))
        assert store.count(Pattern(G)) == 1
        store.close()


def test_a_closed_store_answers_nothing() -> None:
    with hostile(says(response())) as server:
        store = store_of(server.url)
        store.close()
        store.close()
        with pytest.raises(GraphUnavailable, match="closed"):
            store.contains(QUAD)
        assert server.requests == []


def test_a_call_that_is_stopped_is_cut_off_asked_once_and_no_failure_of_the_server() -> None:
    asked = threading.Event()

    def stalls(connection: socket.socket, request: bytes) -> None:
        asked.set()
        server.over.wait()

    with hostile(stalls) as server:
        breaker = CircuitBreaker()
        client = HttpClient(server.url, breaker=breaker, timeout_s=600)
        cancel = CancelToken()
        threading.Thread(target=lambda: (asked.wait(), cancel.cancel())).start()
        with pytest.raises(CortexError, match="cancelled"):
            client.send("GET", server.url, cancel=cancel)
        assert (breaker.failures, len(server.requests)) == (0, 1)
        server.answer = says(response())
        assert client.send("GET", server.url, cancel=CancelToken()).read(1000) == TRUE
        client.close()


def test_a_body_that_stalls_is_cut_off_when_its_call_is_stopped() -> None:
    def drips(connection: socket.socket, request: bytes) -> None:
        connection.sendall(response(body=b"[", length=10_000))
        server.over.wait()

    with hostile(drips) as server:
        client = HttpClient(server.url, timeout_s=600)
        cancel = CancelToken()
        chunks = client.send("GET", server.url, cancel=cancel).chunks()
        assert next(chunks) == b"["
        threading.Timer(0.05, cancel.cancel).start()
        with pytest.raises(CortexError, match="cancelled"):
            next(chunks)
        client.close()
