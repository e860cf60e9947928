"""The limits of `/sparql`; a client that reaches them does not block others."""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from tests.server.serving import Running

JOIN = "SELECT (COUNT(*) AS ?n) { ?a <urn:x:p> ?b . ?c <urn:x:p> ?d . ?e <urn:x:p> ?f . FILTER(?b + ?d + ?f = -1) }"
ROWS = 3_000_000
LONG_S = 60  # operations that take about a second must have ended by then


def filled(running: Running, count: int) -> httpx.Client:
    """A client of a server whose namespace holds so many triples of one predicate."""
    graph = running.plugin.graph
    predicate = NamedNode("urn:x:p")
    graph.store.bulk_insert(
        Quad(NamedNode(f"urn:x:s{n}"), predicate, Literal(n), graph.names.graph) for n in range(count)
    )
    return running.client(running.token("all", permissions=("read", "write")))


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_join_ends_at_its_time_and_others_are_answered_meanwhile(
    serve: Callable[..., Running], tmp_path: Path, kind: str
) -> None:
    store = "memory:" if kind == "memory" else str(tmp_path / "store")
    running = serve(store=store, cortex={"queryTimeoutMs": 600_000})
    client = filled(running, 3_000)
    other = running.client(running.token("other", permissions=("read", "write")))

    def answered_during_a_join(seconds: float) -> int:
        joined: list[httpx.Response] = []
        took: list[float] = []

        def join() -> None:
            begun = time.monotonic()
            joined.append(client.get("/sparql", params={"query": JOIN, "timeout": str(seconds)}))
            took.append(time.monotonic() - begun)

        thread = threading.Thread(target=join)
        thread.start()
        answered = 0
        while thread.is_alive():
            assert other.get("/sparql", params={"query": "ASK {}"}).status_code == 200
            assert other.post("/api/v1/triples", json={"subject": "a", "predicate": "p", "object": answered}).is_success
            answered += 1
        thread.join()
        assert (joined[0].status_code, joined[0].json()["code"]) == (504, "query_timeout")
        assert 0.9 * seconds < took[0] < LONG_S
        return answered

    # Longer if the machine is so busy that no request is answered within a second.
    assert any(answered_during_a_join(seconds) >= 2 for seconds in (1.0, 6.0, 30.0))


def test_a_request_may_ask_for_less_time_and_never_for_more(serve: Callable[..., Running]) -> None:
    client = filled(serve(cortex={"queryTimeoutMs": 2000}), 3_000)
    for asked, shortest in (("0.2", 0.1), ("500", 1.9)):
        begun = time.monotonic()
        answer = client.get("/sparql", params={"query": JOIN, "timeout": asked})
        assert answer.json()["code"] == "query_timeout"
        assert shortest < time.monotonic() - begun < LONG_S


def test_a_token_has_at_most_two_queries_under_way(serve: Callable[..., Running]) -> None:
    running = serve(cortex={"queryTimeoutMs": 600_000})
    client = filled(running, 3_000)
    other = running.client(running.token("other"))

    def codes_of_twelve(seconds: float) -> set[str]:
        codes: list[str] = []

        def join() -> None:
            codes.append(client.get("/sparql", params={"query": JOIN, "timeout": str(seconds)}).json()["code"])

        threads = [threading.Thread(target=join) for _ in range(12)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert other.get("/sparql", params={"query": "ASK {}"}).json()["boolean"] is True
        assert len(codes) == 12
        return set(codes)

    # Longer where this machine is so busy that the twelve are not there at once.
    assert any(codes_of_twelve(seconds) == {"query_timeout", "graph_busy"} for seconds in (1.5, 8.0))


def test_a_short_answer_is_sent_whole_and_a_long_one_in_pieces(serve: Callable[..., Running]) -> None:
    client = filled(serve(), 3_000)
    short = client.get("/sparql", params={"query": "SELECT * { ?s ?p ?o } LIMIT 10"})
    assert int(short.headers["content-length"]) == len(short.content)
    long = client.get("/sparql", params={"query": "SELECT * { ?s ?p ?o }"})
    assert "content-length" not in long.headers
    assert len(long.json()["results"]["bindings"]) == 3_000
    head = client.head("/sparql", params={"query": "SELECT * { ?s ?p ?o } LIMIT 10"})
    assert (head.headers["content-length"], head.content) == (short.headers["content-length"], b"")


def test_an_answer_that_is_too_long_is_cut_off_and_never_looks_whole(serve: Callable[..., Running]) -> None:
    client = filled(serve(cortex={"maxAnswerBytes": 200_000}), 3_000)
    short = client.get("/sparql", params={"query": "SELECT * { ?s ?p ?o } LIMIT 10"})
    assert len(short.json()["results"]["bindings"]) == 10
    query = "SELECT * { ?a ?b ?c . ?d ?e ?f } LIMIT 100000"
    with client.stream("GET", "/sparql", params={"query": query}) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            answer.read()


def test_a_disconnect_cancels_the_query(serve: Callable[..., Running]) -> None:
    running = serve(cortex={"queryTimeoutMs": 600_000})
    client = filled(running, 3_000)
    endless = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
    for _ in range(4):  # twice as many as may be under way
        with client.stream("GET", "/sparql", params={"query": endless}) as answer:
            assert answer.status_code == 200
            next(answer.iter_bytes(1000))
    assert client.get("/sparql", params={"query": "ASK {}"}, timeout=LONG_S).json()["boolean"] is True


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_disconnect_before_the_first_byte_cancels_the_query(
    serve: Callable[..., Running], tmp_path: Path, kind: str
) -> None:
    running = serve(store="memory:" if kind == "memory" else str(tmp_path / "s"), cortex={"queryTimeoutMs": 600_000})
    client = filled(running, 3_000)
    endless = quote("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . FILTER(?c + ?f + ?i = -1) }")
    head = f"GET /sparql?query={endless} HTTP/1.1\r\nHost: {running.host}:{running.port}\r\n"
    head += f"Authorization: Bearer {running.token('all')}\r\n\r\n"
    before = _workers()
    for _ in range(3):  # each time as many as may be under way
        with contextlib.ExitStack() as stack:
            for _ in range(2):
                connection = stack.enter_context(socket.create_connection((running.host, running.port), timeout=LONG_S))
                connection.sendall(head.encode())
            _wait_for(lambda: len(_evaluating(before)) == 2)
        _wait_for(lambda: not _evaluating(before))
    assert client.get("/sparql", params={"query": "ASK {}"}, timeout=LONG_S).json()["boolean"] is True


def test_a_client_that_stops_reading_is_cut_off(serve: Callable[..., Running]) -> None:
    from cortex_skills.doors.server.protocol import ConnectionLimits

    running = serve(cortex={"queryTimeoutMs": 600_000}, limits=ConnectionLimits(stall_s=0.5))
    filled(running, 3_000)
    request = (
        f"GET /sparql?query=SELECT%20*%20%7B%3Fa%20%3Fb%20%3Fc.%3Fd%20%3Fe%20%3Ff.%3Fg%20%3Fh%20%3Fi%7D HTTP/1.1\r\n"
        f"Host: {running.host}:{running.port}\r\nAuthorization: Bearer {running.token('all')}\r\n\r\n"
    )
    before = _workers()
    with socket.create_connection((running.host, running.port), timeout=LONG_S) as connection:
        connection.sendall(request.encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
        _wait_for(lambda: not _workers() - before)  # what evaluates it is ended, and the connection with it
        with contextlib.suppress(ConnectionError):
            while connection.recv(1 << 16):
                pass
        client = running.client(running.token("all"))
        assert client.get("/sparql", params={"query": "ASK {}"}).status_code == 200


def test_one_token_does_not_block_others(serve: Callable[..., Running]) -> None:
    from cortex_skills.doors.sparql.endpoint import AT_ONCE, WAITING

    running = serve(cortex={"queryTimeoutMs": 600_000})
    filled(running, 3_000)
    triples = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l"
    body = f"SELECT (COUNT(*) AS ?n) {{ {triples} }}"
    head = f"POST /sparql?timeout=300 HTTP/1.1\r\nHost: {running.host}:{running.port}\r\n"
    head += f"Authorization: Bearer {running.token('all')}\r\nContent-Type: application/sparql-query\r\n"
    asked = []
    try:
        for _ in range(AT_ONCE + WAITING + 1):
            connection = socket.create_connection((running.host, running.port), timeout=LONG_S)
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            asked.append(connection)
        assert b"graph_busy" in _first_answer(asked)
        other = running.client(running.token("other", ("other",)))
        assert other.get("/sparql", params={"query": "ASK {}"}).json()["boolean"] is True
        assert other.get("/api/v1/triples").status_code == 200
    finally:
        for connection in asked:
            connection.close()
    # Waiting requests of closed connections are dropped: a slot is free once the running ones have ended.
    client = running.client(running.token("all"))
    until = time.monotonic() + LONG_S
    while (found := client.get("/sparql", params={"query": "ASK {}"}, timeout=LONG_S)).status_code == 503:
        assert time.monotonic() < until  # the server may not have seen yet that they are gone
    assert found.json()["boolean"] is True


def _first_answer(connections: list[socket.socket]) -> bytes:
    ready, _, _ = select.select(connections, [], [], LONG_S)
    answer = b""
    while piece := ready[0].recv(4096):
        answer += piece
        if answer.endswith(b"}"):
            break
    return answer


def _workers() -> set[psutil.Process]:
    """The query processes of this process, for any store."""
    found = set()
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if any("query_worker" in word for word in child.cmdline()):
                found.add(child)
    return found


def _evaluating(before: set[psutil.Process]) -> list[psutil.Process]:
    """New workers that are running."""
    found = []
    for worker in _workers() - before:
        with contextlib.suppress(psutil.NoSuchProcess):
            if worker.status() == psutil.STATUS_RUNNING:
                found.append(worker)
    return found


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


READ = """
import sys, httpx
url, token, query = sys.argv[1:]
lines = 0
with httpx.stream("GET", url, params={"query": query}, timeout=600, trust_env=False,
                  headers={"authorization": "Bearer " + token, "accept": "text/csv"}) as answer:
    assert answer.status_code == 200, answer.read()
    for chunk in answer.iter_bytes():
        lines += chunk.count(b"\\n")
print(lines - 1)
"""


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(500)
def test_three_million_rows_stream_in_flat_memory(serve: Callable[..., Running]) -> None:
    running = serve(cortex={"queryTimeoutMs": 480_000, "maxAnswerBytes": 1 << 40})
    filled(running, 1_733)  # its square is three million and a few
    query = f"SELECT ?a ?b ?c ?d {{ ?a <urn:x:p> ?b . ?c <urn:x:p> ?d }} LIMIT {ROWS}"
    arguments = [sys.executable, "-c", READ, f"{running.url}/sparql", running.token("all"), query]
    here, others = psutil.Process(), _workers()
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as reader:
        before = here.memory_info().rss
        most = {"server": 0, "worker": 0}
        while reader.poll() is None:
            most["server"] = max(most["server"], here.memory_info().rss - before)
            for worker in _workers() - others:
                with contextlib.suppress(psutil.NoSuchProcess):
                    most["worker"] = max(most["worker"], worker.memory_info().rss)
            time.sleep(0.1)
        assert reader.stdout
        assert int(reader.stdout.read()) == ROWS
    assert most["server"] < 64 << 20
    assert most["worker"] < 256 << 20
