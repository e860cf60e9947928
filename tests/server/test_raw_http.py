"""Bytes on a connection that no good client would send: smuggling, old versions, pipelines, nonsense."""

from __future__ import annotations

import socket

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.doors.server.strict_lines import StrictLines
from tests.server.serving import WAIT_S, drained, statuses, talk

HOST = b"Host: localhost\r\n"
GET = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"\r\n"
LAST = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n\r\n\r\n\r\nGARBAGE\r\n\r\n",
        b"GARBAGE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,  # TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n" + HOST + b"\r\n",
        b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\0\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X\0: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b": a\r\n\r\n",
        b"G(T / HTTP/1.1\r\n" + HOST + b"\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: +5\r\n\r\nhello",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5, 6\r\n\r\nhello",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 0x5\r\n\r\nhello",
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\nHost: localhost\n\n",
        b"GET / HTTP/1.1\r\nHost: localhost\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"\n",
        b"\nGET / HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X:\r\n\tb\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n \r\n\r\n",
        b"GET / HTTP/1.1\r\n X: a\r\n" + HOST + b"\r\n",
    ],
    ids=range(34),
)
def test_bytes_that_are_not_http_get_one_answer_and_the_connection_is_closed(server, data):
    answer = talk(server.port, data + GET)
    assert statuses(answer) == [400]
    assert b'"code":"bad_request"' in answer
    assert b"content-type: application/json" in answer
    assert b"raceback" not in answer


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nTransfer-Encoding: Chunked\r\n",
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
    ],
)
def test_a_length_given_in_two_ways_smuggles_nothing(server, headers):
    smuggled = b"0\r\n\r\nGET /api/v1/smuggled HTTP/1.1\r\n" + HOST + b"\r\n"
    answer = talk(server.port, b"POST /api/v1/query HTTP/1.1\r\n" + HOST + headers + b"\r\n" + smuggled)
    assert statuses(answer) == [400]
    assert b"connection: close" in answer
    assert b"smuggled" not in answer


def test_a_get_with_a_body_is_answered_and_what_follows_it_is_not_taken_for_a_request(server):
    hidden = b"GET /api/v1/smuggled HTTP/1.1\r\n" + HOST + b"\r\n"
    head = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(hidden)
    answer = talk(server.port, head + hidden)
    assert statuses(answer) == [200]
    assert b"connection: close" in answer


def test_http_1_0_is_answered_and_closed(server):
    answer = talk(server.port, b"GET /api/v1/health HTTP/1.0\r\n" + HOST + b"\r\n", finish=False)
    assert statuses(answer) == [200]
    assert statuses(talk(server.port, b"GET /api/v1/health HTTP/1.0\r\n\r\n", finish=False)) == [400]


def test_a_pipeline_is_answered_in_its_order(server):
    token = server.token("pipeline").encode()
    listing = b"GET /api/v1/triples HTTP/1.1\r\n" + HOST + b"Authorization: Bearer " + token + b"\r\n\r\n"
    nothing = b"GET /nothing HTTP/1.1\r\n" + HOST + b"\r\n"
    answer = talk(server.port, GET + listing + nothing + GET + LAST, finish=False)
    assert statuses(answer) == [200, 200, 404, 200, 200]


def test_an_absolute_target_and_an_asterisk_are_not_found(server):
    for line in (b"GET http://localhost/api/v1/health", b"OPTIONS *", b"GET evil.example:80"):
        answer = talk(server.port, line + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
        assert statuses(answer)[0] in (400, 404)


def test_connect_and_upgrade_lead_nowhere(server):
    answer = talk(server.port, b"CONNECT localhost:22 HTTP/1.1\r\n" + HOST + b"\r\nSSH-2.0\r\n")
    assert statuses(answer)[0] in (400, 404)
    assert b"SSH" not in answer
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n"
    head = b"GET /api/v1/health HTTP/1.1\r\n" + HOST + upgrade + b"\r\n"
    answer = talk(server.port, head)
    assert statuses(answer) == [200]


@pytest.mark.parametrize(
    "body",
    [
        b"zz\r\n",
        b"-5\r\n",
        b"5\r\nhelloXX",
        b"0\r\nX" + b"y" * 50_000,
        b"2\n{}\r\n0\r\n\r\n",
        b"2\r\n{}\n0\r\n\r\n",
        b"2;a\nb\r\n{}\r\n0\r\n\r\n",
        b"2;a\rb\r\n{}\r\n0\r\n\r\n",
        b"2;" + b"x" * 300 + b"\r\n{}\r\n0\r\n\r\n",
        b"2;" + b"x" * 50_000,
        b"2\r\n{}\r\n0\nX: a\r\n\r\n",
        b"2\r\n{}\r\n0\r\nX: a\n\r\n",
        b"2\r\n{}\r\n0\r\nX: a\r\n b\r\n\r\n",
        b"2\r\n{}\r\n0\r\n\n",
    ],
    ids=range(14),
)
def test_broken_chunks_are_refused(server, body):
    answer = talk(server.port, chunked(server) + body)
    assert statuses(answer) in ([400], [431])
    assert b"raceback" not in answer


def test_chunks_without_an_end_get_no_answer(server):
    assert talk(server.port, chunked(server) + b"5\r\nhello") == b""


@pytest.mark.parametrize(
    "body", [b"2\r\n{}\r\n0\r\n\r\n", b"2;a=b\r\n{}\r\n0;c\r\nX: a\r\n\r\n"], ids=["plain", "extended"]
)
def test_chunks_with_extensions_of_usual_length_and_a_trailer_are_read(server, body):
    assert statuses(talk(server.port, chunked(server) + body, finish=False)) == [200]


def chunked(server) -> bytes:
    """The head of a request in chunks, after which the connection is closed."""
    return (
        b"POST /api/v1/query HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        b"Connection: close\r\nAuthorization: Bearer " + server.token("chunks").encode() + b"\r\n\r\n"
    )


@given(st.lists(st.binary(max_size=12), max_size=6), st.sampled_from([b"\r\n", b"\n"]), st.integers(0, 40))
def test_a_head_is_read_alike_in_whatever_parts_it_arrives(values, blank, cut):
    """The lines are those that CRLF separates, or an error; a bare LF or a fold never makes another line of them."""
    head = b"".join(b"X:" + value + b"\r\n" for value in values)
    data = head + blank
    found = []
    for parts in ((data,), (data[:cut], data[cut:])):
        buffer = StrictLines()
        try:
            lines = None
            for part in parts:
                buffer += part
                lines = buffer.maybe_extract_lines() if lines is None else lines
        except h11.RemoteProtocolError:
            lines = "refused"
        found.append(lines)
    assert found[0] == found[1] or found[1] is None or cut == 0
    if isinstance(found[0], list) and b"\r\n\r\n" not in head and b"\n" not in b"".join(values):
        assert found[0] == head.split(b"\r\n")[:-1]


@pytest.mark.parametrize("framing", ["length", "chunks"])
@pytest.mark.parametrize(("target", "status"), [("/api/v1/triples", 413), ("/nothing", 404), ("/mcp", 413)])
def test_a_client_that_sends_everything_before_it_reads_gets_the_answer(server, target, status, framing):
    token = server.token("sends-first")
    size = 24 << 20
    length = f"Content-Length: {size}" if framing == "length" else "Transfer-Encoding: chunked"
    head = (
        f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\n{length}\r\n\r\n"
    )
    part = b" " * (1 << 20)
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as connection:
        connection.sendall(head.encode())
        for _ in range(size >> 20):
            connection.sendall(part if framing == "length" else b"100000\r\n" + part + b"\r\n")
        if framing == "chunks":
            connection.sendall(b"0\r\n\r\n")
        answer = drained(connection)
    assert statuses(answer) == [status]
    assert b"connection: close" in answer
    assert answer.endswith(b"}")


def test_expect_100_continue_is_confirmed_only_if_the_body_is_wanted(server):
    token = server.token("expect").encode()
    head = (
        b"POST /api/v1/query HTTP/1.1\r\n"
        + HOST
        + b"Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as connection:
        connection.sendall(head + b"Connection: close\r\nAuthorization: Bearer " + token + b"\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(b"{}")
        connection.shutdown(socket.SHUT_WR)
        assert statuses(drained(connection)) == [200]
    assert statuses(talk(server.port, head + b"\r\n", finish=False)) == [401]


@settings(max_examples=60)
@given(st.binary(max_size=400))
def test_no_bytes_bring_the_server_down(server, data):
    answer = talk(server.port, data)
    assert b"raceback" not in answer
    assert statuses(talk(server.port, LAST, finish=False)) == [200]


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                b"GET ",
                b"POST ",
                b"/",
                b"/api/v1/query",
                b" HTTP/1.1",
                b"\r\n",
                b"\n",
                b"\r",
                b"Host: localhost\r\n",
                b"\0",
                b"Content-Length: 3\r\n",
                b"Transfer-Encoding: chunked\r\n",
                b"\r\n\r\n",
                b"0\r\n\r\n",
                b"3\r\nabc\r\n",
                b"\xff",
                b":",
                b" ",
            ]
        ),
        max_size=30,
    )
)
def test_no_mixture_of_parts_brings_the_server_down(server, parts):
    answer = talk(server.port, b"".join(parts))
    assert b"raceback" not in answer
    assert 500 not in statuses(answer)
    assert statuses(talk(server.port, LAST, finish=False)) == [200]
