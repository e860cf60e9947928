"""Addresses, credentials and the circuit breaker."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_graph import InvalidArguments
from cortex_graph.stores.http import CircuitBreaker, base_url, read_credentials
from cortex_graph.stores.remote.endpoints import read_endpoints
from tests.graph.remote.hostile import hostile, response, says

SECRET = "hunter2-of-the-tests"
ENV = {"PASSWORD": SECRET}


@pytest.mark.parametrize(
    ("where", "query", "update"),
    [
        ("http://h:7878", "http://h:7878/query", "http://h:7878/update"),
        ("http://h:7878/", "http://h:7878/query", "http://h:7878/update"),
        ("https://h/ds/query", "https://h/ds/query", "https://h/ds/update"),
        ("https://h/sparql", "https://h/sparql", "https://h/sparql"),
        ("https://h/sparql-auth", "https://h/sparql-auth", "https://h/sparql-auth"),
        ("https://h:3030/ds", "https://h:3030/ds", "https://h:3030/ds"),
        ({"query": "https://h/q", "update": "https://h/u"}, "https://h/q", "https://h/u"),
        ({"query": "https://h/query"}, "https://h/query", "https://h/update"),
    ],
)
def test_where_queries_and_updates_go(where: Any, query: str, update: str) -> None:
    endpoints = read_endpoints(where, {})
    assert (endpoints.query, endpoints.update, endpoints.credentials) == (query, update, None)


@given(st.text() | st.builds("http://{}".format, st.text()))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        assert base_url(text, "store") == text
    except InvalidArguments:
        return
    assert not {"@", "?", "#", " ", "\n"} & set(text.partition("://")[2].partition("/")[0])


@pytest.mark.parametrize(
    ("given_", "header"),
    [
        ({"type": "basic", "user": "dba", "password": "${PASSWORD}"}, b"Authorization: Basic "),
        ({"type": "bearer", "token": "${PASSWORD}"}, b"Authorization: Bearer " + SECRET.encode()),
    ],
)
def test_credentials_go_to_the_server_and_into_no_repr(given_: dict[str, str], header: bytes) -> None:
    from cortex_graph.stores.http.client import HttpClient

    credentials = read_credentials(given_, ENV)
    assert SECRET not in repr(credentials)
    with hostile(says(response())) as server:
        client = HttpClient(server.url, credentials)
        client.send("GET", server.url).read(1_000)
        client.close()
        assert header in server.requests[0]


def test_a_line_end_behind_a_secret_in_the_environment_is_no_part_of_it() -> None:
    given = {"type": "basic", "user": "${USER}", "password": "${SECRET}"}
    found = read_credentials(given, {"USER": "dba\n", "SECRET": "pass word\r\n"})
    assert (found.user, found.secret) == ("dba", "pass word")
    with pytest.raises(InvalidArguments, match="that variable is not set"):
        read_credentials(given, {"USER": "dba", "SECRET": "\n"})


def test_a_digest_is_signed_when_the_server_asks_and_holds_no_secret() -> None:
    from cortex_graph.stores.http.client import HttpClient

    credentials = read_credentials({"type": "digest", "user": "dba", "password": "${PASSWORD}"}, ENV)
    challenge = 'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth", algorithm=MD5\r\n'
    with hostile(says(response(status=401, body=b"x" * 100_000, extra=challenge), response())) as server:
        client = HttpClient(server.url, credentials)
        assert client.send("POST", server.url, body=b"twice").status == 200
        client.close()
        first, second = server.requests
        assert b"Authorization" not in first
        assert b'Authorization: Digest username="dba"' in second
        assert first.endswith(b"twice")
        assert second.endswith(b"twice")
        assert SECRET.encode() not in first + second


def test_a_breaker_opens_allows_one_probe_and_closes() -> None:
    now = [0.0]
    breaker = CircuitBreaker(threshold=2, rest_s=10, clock=lambda: now[0])
    breaker.failed()
    assert breaker.wait_s() == 0
    breaker.failed()
    assert breaker.wait_s() == 10
    now[0] = 9
    assert breaker.wait_s() == 1
    now[0] = 10
    assert [breaker.wait_s(), breaker.wait_s()] == [0, 10]
    now[0] = 20
    assert breaker.wait_s() == 0
    breaker.failed()
    assert breaker.wait_s() == 10
    now[0] = 30
    assert breaker.wait_s() == 0
    breaker.succeeded()
    assert [breaker.wait_s(), breaker.failures] == [0, 0]
