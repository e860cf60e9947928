"""Slow and many clients: each is cut off, and the others are still answered."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from cortex_graph import NamespacedGraph
from cortex_skills.doors.server.protocol import ConnectionLimits
from tests.server.serving import FAST, WAIT_S, drained, statuses, talk

HOST = b"Host: localhost\r\n"
HEALTH = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.fixture
def hasty(serve):
    """A server with small limits."""
    return serve(limits=ConnectionLimits(head_s=1, stall_s=1, idle_s=1, shutdown_s=5, connections=300), body_s=1)


def connected(server) -> socket.socket:
    return socket.create_connection((server.host, server.port), timeout=WAIT_S)


def answered(ask: Callable[[], bytes]) -> bytes:
    """The answer; repeated if the machine was too slow for the short time limits."""
    return next((answer for answer in (ask() for _ in range(10)) if answer), b"")


def trickle(connection: socket.socket, data: bytes) -> None:
    """Send byte by byte, until the other side closes."""
    with contextlib.suppress(OSError):
        for place in range(len(data)):
            connection.sendall(data[place : place + 1])
            time.sleep(0.05)


@pytest.mark.parametrize(
    "start", [b"", b"G", b"GET /api/v1/health HTTP/1.1\r\n", b"GET /api/v1/health HTTP/1.1\r\n" + HOST]
)
def test_a_connection_without_a_head_is_cut_off(hasty, start):
    with connected(hasty) as connection:
        connection.sendall(start)
        assert drained(connection) == b""


def test_a_head_sent_byte_by_byte_is_cut_off(hasty):
    with connected(hasty) as connection:
        trickle(connection, b"GET /api/v1/health HTTP/1.1\r\nX: " + b"x" * 600)
        assert drained(connection) == b""


def test_a_second_head_sent_byte_by_byte_is_cut_off_too(hasty):
    def ask() -> bytes:
        with connected(hasty) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(HEALTH)
            first = connection.recv(65536)
            if first:
                trickle(connection, b"GET /api/v1/health HTTP/1.1\r\nX: " + b"x" * 600)
            return first + drained(connection)
        return b""

    assert statuses(answered(ask)) == [200]


def test_a_connection_that_is_not_used_is_closed(hasty):
    assert statuses(answered(lambda: talk(hasty.port, HEALTH, finish=False))) == [200]


@pytest.mark.parametrize("framing", [b"Content-Length: 2000\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_a_body_that_arrives_too_slowly_gets_408(hasty, framing):
    token = hasty.token("slow").encode()
    head = (
        b"POST /api/v1/query HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nAuthorization: Bearer " + token
    )

    def ask() -> bytes:
        with connected(hasty) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(head + b"\r\n" + framing + b"\r\n")
            sending = threading.Thread(
                target=trickle, args=(connection, b"1\r\n \r\n" * 30 if b"chunk" in framing else b" " * 100)
            )
            sending.start()
            answer = drained(connection)
            sending.join(WAIT_S)
            return answer
        return b""

    answer = answered(ask)
    assert statuses(answer) == [408]
    assert b'"code":"request_timeout"' in answer
    assert b"connection: close" in answer


def test_a_body_after_its_answer_keeps_no_connection(hasty):
    head = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"Content-Length: 100000\r\n\r\n"
    assert statuses(answered(lambda: talk(hasty.port, head, finish=False))) == [200]


def test_a_client_that_reads_nothing_is_cut_off(hasty):
    graph = NamespacedGraph(hasty.plugin.graph.store, "mayros")
    for n in range(5):
        graph.create_triple({"subject": f"s{n}", "predicate": "p", "object": str(n) + "x" * 900_000})
    request = (
        b"GET /api/v1/triples?limit=10000 HTTP/1.1\r\n"
        + HOST
        + b"Authorization: Bearer "
        + hasty.token("reader").encode()
        + b"\r\n\r\n"
    )
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(WAIT_S)
        connection.connect((hasty.host, hasty.port))
        connection.sendall(request * 3)
        while True:  # until the server has closed the connection
            try:
                connection.sendall(b"\r\n")
            except OSError:
                break
            time.sleep(0.05)


def test_a_reader_that_is_slow_but_reads_gets_everything(hasty):
    graph = NamespacedGraph(hasty.plugin.graph.store, "mayros")
    graph.create_triple({"subject": "s", "predicate": "p", "object": "x" * 3_000_000})
    head = b"GET /api/v1/triples HTTP/1.1\r\n" + HOST + b"Connection: close\r\nAuthorization: Bearer "

    def read() -> int:
        received = 0
        with socket.socket() as connection, contextlib.suppress(ConnectionError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            connection.settimeout(WAIT_S)
            connection.connect((hasty.host, hasty.port))
            connection.sendall(head + hasty.token("reader").encode() + b"\r\n\r\n")
            while part := connection.recv(100_000):
                received += len(part)
                time.sleep(0.02)
        return received

    # Repeated if the machine stalled for so long that nothing was read.
    assert any(read() > 3_000_000 for _ in range(5))


def test_many_slow_clients_do_not_block_others(hasty):
    quick = b"Connection: close\r\nAuthorization: Bearer " + hasty.token("quick").encode() + b"\r\n\r\n"
    with contextlib.ExitStack() as stack:
        for n in range(200):
            connection = stack.enter_context(connected(hasty))
            connection.sendall([b"G", b"POST /api/v1/query HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n"][n % 2])
        for path in (b"triples", b"health"):
            request = b"GET /api/v1/" + path + b" HTTP/1.1\r\n" + HOST + quick
            assert statuses(answered(lambda: talk(hasty.port, request, finish=False))) == [200]  # noqa: B023


@pytest.mark.slow
def test_two_hundred_clients_at_once_are_all_answered(serve):
    server = serve(limits=ConnectionLimits(head_s=WAIT_S, idle_s=WAIT_S))
    token = server.token("crowd", ("crowd",))
    everybody = threading.Barrier(200)

    def one(n: int) -> list[int]:
        with httpx.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=WAIT_S, trust_env=False, **FAST
        ) as client:
            everybody.wait(WAIT_S)
            triple = {"subject": f"s{n}", "predicate": "p", "object": n}
            made = client.post("/api/v1/triples", json=triple)
            again = client.post("/api/v1/triples", json=triple)
            read = client.get(f"/api/v1/triples/{made.json()['id']}")
            listed = client.get("/api/v1/triples", params={"subject": f"s{n}"})
            assert [t["object"] for t in listed.json()["triples"]] == [n]
            return [made.status_code, again.status_code, read.status_code, listed.status_code]

    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(one, range(200)))
    assert answers == [[201, 200, 200, 200]] * 200
    assert server.client(token).get("/api/v1/stats").json()["graph"]["triple_count"] == 200
