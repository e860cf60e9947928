"""The middleware, through a real client."""

from __future__ import annotations

import json
import socket

import httpx
import pytest

from cortex_skills.doors.http.bodies import MAX_BODY
from cortex_skills.doors.http.middleware.response_headers import FOR_PROGRAMS
from cortex_skills.doors.server.app import HEADERS
from tests.server.serving import WAIT_S, drained, statuses, talk

TRIPLE = {"subject": "a", "predicate": "p", "object": 1}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST", "localhost:1", "[::1]", "[::1]:19090", "localhost."]
)
def test_a_host_name_of_this_machine_is_accepted(server, host):
    assert server.client().get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.1@evil.example",
        "127.0.0.2",
        "0.0.0.0",
        "[::]",
        "localhost:port",
        "localhost, evil.example",
        "localhost/evil",
        "127.1",
        "2130706433",
        "xn--lcalhost-54a",
    ],
)
def test_any_other_host_is_refused(server, host):
    response = server.client().get("/", headers={"Host": host})
    assert (response.status_code, response.json()["code"]) == (421, "host_not_allowed")


def test_hosts_of_the_configuration_are_accepted(serve):
    client = serve(cortex={"allowedHosts": ["Graph.Example.org"]}).client()
    assert client.get("/", headers={"Host": "graph.example.org"}).status_code == 200
    assert client.get("/", headers={"Host": "graph.example.org:443"}).status_code == 200
    assert client.get("/", headers={"Host": "example.org"}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_a_page_of_another_origin_cannot_call(server, method, headers):
    client = server.client(server.token("browser"))
    response = client.request(method, "/api/v1/triples", headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "origin_not_allowed")
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_a_page_of_the_same_origin_can(server):
    client = server.client()
    assert client.get("/", headers={"Origin": server.url, "Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert client.get("/", headers={"Sec-Fetch-Site": "none"}).status_code == 200


def test_every_answer_has_an_id_and_headers_that_restrict_browsers(server):
    client = server.client()
    ids = set()
    for path in ("/", "/nothing", "/api/v1/triples", "/api/v1/health"):
        response = client.get(path)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert response.headers["content-type"] == "application/json"
        assert "server" not in response.headers
        ids.add(response.headers["x-request-id"])
        if response.status_code >= 400:
            assert response.json()["requestId"] == response.headers["x-request-id"]
    assert len(ids) == 4


def test_a_route_may_have_other_headers(serve, monkeypatch):
    policy = "default-src 'self'"
    monkeypatch.setitem(HEADERS, "/api/v1/query", {"content-security-policy": policy})
    client = serve().client()
    for path, expected in (
        ("/api/v1/query", policy),
        ("/api/v1/query/subjects", policy),
        ("/api/v1/queryx", FOR_PROGRAMS["content-security-policy"]),
        ("/api/v1", FOR_PROGRAMS["content-security-policy"]),
    ):
        response = client.get(path)
        assert response.headers["content-security-policy"] == expected
        assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "BREW", "DELETE", "PROPFIND"])
def test_an_unsupported_method_is_refused_with_the_supported_ones(server, method):
    response = server.client().request(method, "/api/v1/triples")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, POST")
    assert response.json()["code"] == "method_not_allowed"


def test_head_is_get_without_a_body(client):
    got, head = client.get("/api/v1/triples"), client.head("/api/v1/triples")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/triples/",
        "/api/v1//triples",
        "//api/v1/triples",
        "/api/v1/../v1/triples",
        "/api/v1/./triples",
        "/api/v1/triples/%2e%2e",
        "/api/v1/triples%2f",
        "/api%2fv1%2ftriples%00",
        "/API/V1/TRIPLES",
        "/api/v1/triples;x=1",
        "/api/v1/triples%20",
        "/%",
        "/%ff",
        "/\\..\\",
        "/api/v1/triples/..;/stats",
    ],
)
def test_paths_are_not_normalized(server, path):
    token = server.token("paths")
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    answer = talk(server.port, request.encode(), finish=False)
    (status,) = statuses(answer)
    assert status in (400, 404)
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] in ("not_found", "invalid_arguments")


def raw(client: httpx.Client, content: bytes, kind: str = "application/json", **headers: str) -> httpx.Response:
    return client.post("/api/v1/triples", content=content, headers={"Content-Type": kind, **headers})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" ",
        b"{",
        b"nonsense",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"subject": "a", "predicate": "p", "object": NaN}',
        b'{"subject": "a", "predicate": "p", "object": Infinity}',
        b'{"subject": "a", "predicate": "p", "object": 1e999}',
        b'{"subject": "a", "subject": "b", "predicate": "p", "object": 1}',
        b'{"subject": "\\ud800", "predicate": "p", "object": 1}',
        b'{"subject": "a", "predicate": "p", "object": "\\udfff"}',
        b'{"subject": "a", "predicate": "p", "object": ' + b"1" * 5000 + b"}",
        b'{"subject": "a", "predicate": "p", "object": 1}{}',
        b'{"subject": "a", "predicate": "p", "object": "\x00"}',
        b"[" * 100_000,
        b"[" * 400 + b"]" * 400,
        b'{"a":' * 2000 + b"1" + b"}" * 2000,
        b'"' + b"x" * 100_000,
        json.dumps(TRIPLE).encode("utf-16"),
    ],
    ids=range(20),
)
def test_invalid_json_is_refused_and_writes_nothing(client, content):
    response = raw(client, content)
    assert response.status_code == 400
    assert response.json()["code"] == "invalid_arguments"
    assert len(response.content) < 5000
    assert client.get("/api/v1/triples").json()["total"] == 0


def test_an_integer_that_is_too_long_for_json_can_be_written_as_text(client):
    response = raw(client, b'{"subject": "a", "predicate": "p", "object": ' + b"1" * 4301 + b"}")
    assert response.json()["error"] == "the body holds an integer of more than 4,300 digits"
    whole = {"value": "1" * 4301, "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    assert client.post("/api/v1/triples", json=TRIPLE | {"object": whole}).json()["object"] == whole


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "application/json; charset=utf-16",
        "multipart/form-data",
    ],
)
def test_a_body_of_another_type_is_refused(client, kind):
    response = raw(client, json.dumps(TRIPLE).encode(), kind)
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "kind",
    ["application/json", "Application/JSON", "application/json; charset=UTF-8", 'application/json;charset="utf-8"'],
)
def test_json_in_utf_8_is_accepted_in_every_spelling_of_its_type(client, kind):
    assert raw(client, json.dumps(TRIPLE).encode(), kind).status_code == 201


def test_a_compressed_body_is_refused(client):
    response = raw(client, b"\x1f\x8b", **{"Content-Encoding": "gzip"})
    assert response.status_code == 415


def test_a_body_with_a_too_large_content_length_is_refused_unread(client):
    response = raw(client, b" " * (MAX_BODY + 1))
    assert (response.status_code, response.json()["code"]) == (413, "request_too_large")
    assert response.headers["connection"] == "close"
    assert raw(client, b" " * (MAX_BODY - 100) + json.dumps(TRIPLE).encode()).status_code == 201


def test_a_body_without_an_end_is_cut_off(server):
    token = server.token("endless")
    head = (
        "POST /api/v1/triples HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as connection:
        connection.sendall(head.encode())
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        sent = 0
        try:
            while sent < 20 * MAX_BODY:
                connection.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
        answer = drained(connection)
    assert sent < 20 * MAX_BODY
    assert statuses(answer) in ([413], [])  # the reset may overtake the answer


def test_the_body_of_a_request_without_a_token_is_not_read(server):
    head = b"POST /api/v1/triples HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 1000\r\n\r\n"
    answer = talk(server.port, head, finish=False)
    assert statuses(answer) == [401]
    assert b"connection: close" in answer


@pytest.mark.parametrize("path", [b"/api/v1/health%FF", b"/caf%E9", b"/%ED%A0%80", b"/explore/resource/%C3"])
def test_a_path_that_is_not_utf_8_is_refused_and_not_read_as_another_one(server, path):
    head = b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = talk(server.port, head, finish=False)
    assert statuses(answer) == [400]
    assert b"the path is not UTF-8" in answer


@pytest.mark.parametrize("size", [30_000, 40_000])
def test_a_url_that_is_too_long_is_refused(server, size):
    response = server.client().get("/api/v1/triples?subject=" + "x" * size)
    assert response.status_code in (414, 431)
    assert response.json()["code"] in ("url_too_long", "headers_too_large")


def test_headers_that_are_too_large_or_too_many_are_refused(server):
    large = server.client().get("/", headers={"X-Large": "x" * 40_000})
    assert (large.status_code, large.json()["code"]) == (431, "headers_too_large")
    many = server.client().get("/", headers={f"X-{n}": "x" for n in range(200)})
    assert (many.status_code, many.json()["code"]) == (431, "headers_too_large")
