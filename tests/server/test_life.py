"""How a server ends, by a signal or by a kill, and what remains."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx
import pytest

from cortex_skills import Config, Plugin
from cortex_skills.doors.cli.app import program  # noqa: F401 - what `process` starts
from cortex_skills.doors.server import create_app
from cortex_skills.doors.server.protocol import ConnectionLimits
from cortex_skills.tokens import TokenFile, new_token
from tests.ports import quiet_port
from tests.server.serving import WAIT_S, drained, served, statuses


@pytest.fixture
def token(tmp_path) -> str:
    token, text = new_token("t", ("mayros",), ("read", "write"), None, datetime.now(UTC))
    TokenFile(tmp_path / "tokens.json").add(token)
    return text


def client_of(process, token) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=process.url, headers=headers, timeout=WAIT_S, trust_env=False, verify=False)


def test_acknowledged_writes_survive_a_kill_of_the_server(process, token):
    acknowledged: list[int] = []
    port = quiet_port()
    for _ in range(2):
        server = process(port=port)
        enough = threading.Event()

        def write(start: int, server=server, enough=enough) -> None:
            with client_of(server, token) as client, contextlib.suppress(httpx.HTTPError):
                for n in range(start, start + 100_000):
                    triple = {"subject": f"s{n}", "predicate": "p", "object": n}
                    if client.post("/api/v1/triples", json=triple).status_code == 201:
                        acknowledged.append(n)
                        if len(acknowledged) % 60 == 0:
                            enough.set()

        begin = len(acknowledged)
        writers = [threading.Thread(target=write, args=((begin + k + 1) * 1_000_000,)) for k in range(4)]
        for writer in writers:
            writer.start()
        assert enough.wait(WAIT_S)
        server.signal(signal.SIGKILL)
        server.wait()
        for writer in writers:
            writer.join(WAIT_S)
            assert not writer.is_alive()
    server = process(port=port)
    with client_of(server, token) as client:
        found: set[int] = set()
        cursor = None
        while True:
            params = {"limit": 1000} | ({"cursor": cursor} if cursor else {})
            page = client.get("/api/v1/triples", params=params).json()
            found |= {triple["object"] for triple in page["triples"]}
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert set(acknowledged) <= found
        assert len(acknowledged) >= 120
        one = client.get("/api/v1/triples", params={"limit": 1, "provenance": "true"}).json()["triples"][0]
        assert one["provenance"]["agent"] == "t"  # the record was written with it


def test_a_request_under_way_is_completed_at_shutdown(process, token):
    server = process()
    body = json.dumps({"subject": "a", "predicate": "p", "object": 1}).encode()
    head = (
        f"POST /api/v1/triples HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nExpect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as slow,
        socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as idle,
    ):
        slow.sendall(head.encode())
        assert slow.recv(1000).startswith(b"HTTP/1.1 100")  # it is under way
        slow.sendall(body[:5])
        server.signal(signal.SIGTERM)
        assert drained(idle) == b""  # it has received the signal
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S)
        slow.sendall(body[5:])
        assert statuses(drained(slow)) == [201]
    code, errors = server.wait()
    assert code == 0
    assert "Traceback" not in errors
    again = process()
    with client_of(again, token) as client:
        assert client.get("/api/v1/triples").json()["total"] == 1


def test_a_request_that_never_ends_does_not_block_the_shutdown(tmp_path):
    with contextlib.ExitStack() as stack:
        with served(tmp_path, limits=ConnectionLimits(shutdown_s=1), body_s=600) as server:
            head = (
                f"POST /api/v1/triples HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {server.token('t')}\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n"
            )
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S))
            slow.sendall(head.encode())
            assert slow.recv(1000).startswith(b"HTTP/1.1 100")
        assert 201 not in statuses(drained(slow))  # the end of the block waits for the end of the server


ENDLESS = "{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?c + ?f + ?i + ?l = -1) }"
MANY = {"triples": [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(400)]}


@pytest.mark.parametrize(
    "request_of",
    [
        {"query": f"SELECT (COUNT(*) AS ?n) {ENDLESS}"},
        {"query": f"SELECT * {ENDLESS}"},
        {"update": f"INSERT {{ ?a ?b 'written' }} WHERE {ENDLESS}"},
    ],
    ids=["count", "rows", "update"],
)
def test_a_shutdown_cancels_running_queries_and_updates(tmp_path, request_of):
    """The time limits are so long that the test ends only if the query does."""
    limits, cortex = ConnectionLimits(shutdown_s=3000), {"queryTimeoutMs": 3_000_000}
    with ThreadPoolExecutor(1) as pool, served(tmp_path, limits=limits, cortex=cortex) as server:
        client = server.client(server.token("t"))
        assert client.post("/api/v1/triples/batch", json=MANY).status_code == 201
        asking = pool.submit(client.post, "/sparql", data=request_of)
        working = server.server.config.app.state.service.pools["sparql"]
        until(lambda: working.taken)
        server.end()
        answer = asking.result(WAIT_S)
        assert (answer.status_code, answer.json()["code"]) == (503, "cancelled")
        assert "shutting down" in answer.json()["error"]


def test_a_signal_cancels_a_running_query_and_the_process_ends_well(process, token):
    server = process()
    with ThreadPoolExecutor(1) as pool, client_of(server, token) as client:
        client.post("/api/v1/triples/batch", json=MANY)
        asking = pool.submit(client.post, "/sparql", data={"query": f"SELECT (COUNT(*) AS ?n) {ENDLESS}"})
        until(lambda: client.get("/api/v1/stats").json()["server"]["connected_clients"] > 1)
        server.signal(signal.SIGTERM)
        assert asking.result(WAIT_S).json()["code"] == "cancelled"
    code, errors = server.wait()
    assert code == 0
    assert "Traceback" not in errors


def until(is_so) -> None:
    end = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_sandboxes_end_with_the_server(process, token):
    server = process()
    with client_of(server, token) as client:
        sandbox = client.post("/api/v1/skills/sandbox", json={"namespace": "mayros"}).json()
        for subject in (f"{sandbox['namespace']}:s", "stays"):
            client.post("/api/v1/triples", json={"subject": subject, "predicate": "p", "object": 1})
    server.signal(signal.SIGTERM)
    assert server.wait()[0] == 0
    with client_of(process(), token) as client:
        (left,) = client.get("/api/v1/triples").json()["triples"]
        assert left["subject"] == "mayros:stays"


def test_two_servers_on_one_folder_serve_one_graph(process, token):
    first, second = process(), process()
    with client_of(first, token) as one, client_of(second, token) as other:
        made = one.post("/api/v1/triples", json={"subject": "a", "predicate": "p", "object": 1}).json()
        assert other.get(f"/api/v1/triples/{made['id']}").json()["object"] == 1
        assert other.delete(f"/api/v1/triples/{made['id']}").status_code == 204
        assert one.get("/api/v1/triples").json()["total"] == 0


async def _request(app, path: str, host: str = "localhost") -> tuple[int, bytes]:
    """One request to an application, as an ASGI server makes it."""
    sent: list[dict] = []

    async def receive() -> dict:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", host.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def test_the_application_can_be_mounted_in_another_one():
    import asyncio

    from starlette.applications import Starlette
    from starlette.routing import Mount

    with Plugin.open(Config()) as plugin:
        outer = Starlette(routes=[Mount("/cortex", app=create_app(plugin))])
        assert asyncio.run(_request(outer, "/cortex/api/v1/health"))[0] == 200
        assert asyncio.run(_request(outer, "/cortex/api/v1/triples"))[0] == 401
        assert asyncio.run(_request(outer, "/cortex/", host="evil.example"))[0] == 421
