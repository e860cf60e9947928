"""The endpoint `/mcp`: tokens, sessions, streams and limits."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import MCPError

from cortex_skills.doors.mcp import http as endpoint
from cortex_skills.doors.mcp.mcp_server import AT_ONCE
from cortex_skills.doors.server.protocol import ConnectionLimits
from tests.mcp import skills
from tests.mcp.conftest import over_http, until
from tests.mcp.test_clients import ASK, STATUS, run
from tests.mcp.test_life import FOREVER
from tests.server.serving import WAIT_S, Running, talk

ACCEPT = {"Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


def opened(client: httpx.Client) -> dict[str, str]:
    """The headers of a new session."""
    answer = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
    assert answer.status_code == 200, answer.text
    return {**ACCEPT, "Mcp-Session-Id": answer.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-06-18"}


def test_a_token_of_the_namespace_is_needed(running: Running) -> None:
    for token, status, code in (
        (None, 401, "unauthorized"),
        ("nonsense", 401, "unauthorized"),
        (running.token("elsewhere", ("other",)), 403, "permission_denied"),
        (running.token("writer", permissions=("write",)), 403, "permission_denied"),
    ):
        client = running.client(token)
        for answer in (
            client.post("/mcp", json=INITIALIZE, headers=ACCEPT),
            client.get("/mcp", headers=ACCEPT),
            client.delete("/mcp"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_token_that_may_not_write_sees_and_calls_no_tool_that_writes(running: Running, mode: str) -> None:
    async def test() -> None:
        async with over_http(running, running.token("reader", permissions=("read",)), mode=mode) as client:
            (tool,) = (await client.list_tools()).tools
            refused = await client.call_tool("skill_assert", STATUS)
            found = await client.call_tool("skill_graph_query", ASK)
        assert tool.name == "skill_graph_query"
        assert refused.structured_content["code"] == "permission_denied"
        assert found.structured_content["total"] == 0

    run(test())


def test_a_token_names_the_agent_and_a_call_cannot_name_another(running: Running) -> None:
    async def test() -> None:
        async with over_http(running, running.token("ada")) as client:
            tools = (await client.list_tools()).tools
            posing = await client.call_tool("skill_graph_query", {**ASK, "agent": "eve"})
            await client.call_tool("skill_assert", {**STATUS, "subject": "mayros:agent:ada"})
            mine = await client.call_tool("skill_graph_query", {"predicate": "hasStatus"})
        assert not any("agent" in tool.input_schema["properties"] for tool in tools)
        assert posing.structured_content["code"] == "invalid_arguments"
        assert mine.structured_content["total"] == 1
        async with over_http(running, running.token("eve"), query="?agent=ada") as client:
            hers = await client.call_tool("skill_graph_query", {"predicate": "hasStatus"})
        assert hers.structured_content["total"] == 0

    run(test())


def test_a_session_does_not_exist_for_another_token_or_after_its_end(running: Running) -> None:
    ada, eve = running.client(running.token("ada")), running.client(running.token("eve"))
    session = opened(ada)
    assert ada.post("/mcp", json=PING, headers=session).status_code == 200
    assert eve.post("/mcp", json=PING, headers=session).status_code == 404
    assert eve.delete("/mcp", headers=session).status_code == 404
    assert ada.delete("/mcp", headers=session).status_code == 200
    assert ada.post("/mcp", json=PING, headers=session).status_code == 404


def test_changes_before_a_session_opens_its_stream_are_sent_on_it(running: Running, tmp_path: Path) -> None:
    """A client opens its stream after its first requests: a change may come between."""
    client = running.client("of-the-host")
    sessions = [opened(client) for _ in range(2)]
    assert client.post("/mcp", json=PING, headers=sessions[0]).status_code == 200
    running.plugin.load(skills.write(tmp_path / "more", "other-desk"))
    for session in sessions:
        with client.stream("GET", "/mcp", headers=session) as stream:
            reported = [json.loads(line[6:])["method"] for line in islice(data_of(stream), 3)]
        assert sorted(reported) == [f"notifications/{what}/list_changed" for what in ("prompts", "resources", "tools")]
    current = opened(client)
    with client.stream("GET", "/mcp", headers=current) as stream:
        running.plugin.unload("other-desk")
        reported = [json.loads(line[6:])["method"] for line in islice(data_of(stream), 3)]
    assert len(set(reported)) == 3  # each once: nothing that this session knew


def data_of(stream: httpx.Response) -> Iterator[str]:
    return (line for line in stream.iter_lines() if line.startswith("data: "))


def test_pages_of_other_origins_and_hosts_are_refused(running: Running) -> None:
    client = running.client("of-the-host")
    for headers, code in (
        ({"Origin": "http://evil.example"}, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "cross-site"}, "origin_not_allowed"),
        ({"Host": "evil.example"}, "host_not_allowed"),
    ):
        answer = client.post("/mcp", json=INITIALIZE, headers=ACCEPT | headers)
        assert answer.json()["code"] == code


def test_bodies_are_limited(running: Running) -> None:
    client = running.client("of-the-host")
    huge = client.post("/mcp", content=b'"' + b"a" * (9 << 20) + b'"', headers={"Content-Type": "application/json"})
    assert huge.json()["code"] == "request_too_large"
    assert client.post("/mcp", content=b"a", headers={"Content-Type": "text/plain"}).status_code == 415
    assert client.put("/mcp").status_code == 405
    assert client.post("/mcp?colour=red", json=PING, headers=ACCEPT).json()["code"] == "invalid_arguments"
    for body in (b"{", b"[" * 100_000, b"\xff", b"[]", b"null", b"{}"):
        for extra in ({}, {"Mcp-Protocol-Version": "2026-07-28"}):
            headers = ACCEPT | {"Content-Type": "application/json"} | extra
            assert client.post("/mcp", content=body, headers=headers).status_code == 400
    assert client.post("/mcp", json=INITIALIZE, headers=ACCEPT).status_code == 200


UNREAD = {
    "repeated key": (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": 1, "a": 2}}', 4),
    "NaN": (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": NaN}}', 4),
    "UTF-8": (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": "\xff"}}', 4),
    "large": (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": "' + b"x" * 100_000 + b'\xff"}}', 4),
    "deep": (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": ' + b"[" * 100_000 + b"}}", 4),
    "fraction": (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', 1.5),
    "null": (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None),
    "surrogate": (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": "\\ud83d"}}', 4),
    "notification": (b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"a": 1, "a": 2}}', None),
}


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_body_that_is_no_message_is_answered_with_its_id_and_never_acted_upon(running: Running, version: str) -> None:
    client = running.client("of-the-host")
    headers = opened(client) | {"Content-Type": "application/json", "Mcp-Protocol-Version": version}
    for kind, (body, number) in UNREAD.items():
        answer = client.post("/mcp", content=body, headers=headers)
        assert (answer.status_code, answer.json()["id"]) == (400, number), kind
        assert answer.json()["error"]["code"] in (-32700, -32600), kind
    batch = client.post("/mcp", json=[PING, {**PING, "id": "b"}], headers=headers)
    assert (batch.status_code, [each["id"] for each in batch.json()]) == (400, [2, "b"])


def test_a_byte_order_mark_before_a_message_is_ignored(running: Running) -> None:
    client = running.client("of-the-host")
    headers = opened(client) | {"Content-Type": "application/json", "Mcp-Protocol-Version": "2025-06-18"}
    answer = client.post("/mcp", content=b"\xef\xbb\xbf" + json.dumps(PING).encode(), headers=headers)
    assert answer.status_code == 200
    assert '"id":2,"result":{}' in answer.text


def test_an_idle_session_ends(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "IDLE_S", 0.2)
    client = running.client("of-the-host")
    session = opened(client)
    end = time.monotonic() + WAIT_S
    while client.post("/mcp", json=PING, headers=session).status_code != 404:
        assert time.monotonic() < end
        threading.Event().wait(0.5)


def test_a_stream_ends_when_its_token_is_revoked(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "RECHECK_S", 0.05)
    client = running.client(running.token("ada"))
    session = opened(client)
    with client.stream("GET", "/mcp", headers=session) as stream:
        running.tokens.remove("ada")
        assert b"".join(stream.iter_raw()) == b""


def test_streams_end_at_once_when_the_server_does(serve: Callable[..., Running]) -> None:
    running = serve(limits=ConnectionLimits(shutdown_s=600))
    client = running.client("of-the-host")
    session = opened(client)
    ended = threading.Event()

    def listen() -> None:
        with client.stream("GET", "/mcp", headers=session) as stream:
            begun.set()
            for _ in stream.iter_raw():
                pass
        ended.set()

    begun = threading.Event()
    listening = threading.Thread(target=listen)
    listening.start()
    assert begun.wait(WAIT_S)
    running.end()
    assert ended.wait(WAIT_S)  # well before the time that a request under way is given
    listening.join(WAIT_S)


def test_subscriptions_end_when_the_server_does(serve: Callable[..., Running]) -> None:
    running = serve(limits=ConnectionLimits(shutdown_s=600))

    async def test() -> None:
        async with over_http(running, "of-the-host") as client, client.listen(tools_list_changed=True) as changes:
            running.end()
            assert [event async for event in changes] == []

    run(test())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_calls_are_cancelled_and_answered_when_the_server_ends(serve: Callable[..., Running], mode: str) -> None:
    running = serve(limits=ConnectionLimits(shutdown_s=600))

    async def test() -> None:
        calls = running.plugin.skills["status-desk"].calls
        async with over_http(running, running.token("ada"), mode=mode) as client:
            many = [asyncio.create_task(client.call_tool("skill_graph_query", FOREVER)) for _ in range(AT_ONCE + 2)]
            await until(lambda: calls._count == AT_ONCE)
            running.end()
            answers = await asyncio.gather(*many)
        assert [answer.structured_content["code"] for answer in answers] == ["cancelled"] * (AT_ONCE + 2)

    run(test())


def test_many_calls_of_one_token_leave_threads_for_others(running: Running) -> None:
    async def test() -> None:
        async with over_http(running, running.token("ada")) as ada, over_http(running, running.token("eve")) as eve:
            many = [asyncio.create_task(ada.call_tool("skill_graph_query", FOREVER)) for _ in range(30)]
            calls = running.plugin.skills["status-desk"].calls
            await until(lambda: calls._count == AT_ONCE)
            asserted = await eve.call_tool("skill_assert", STATUS)
            assert asserted.structured_content["created"] is True
            assert not any(call.done() for call in many[AT_ONCE:])
            for call in many:
                call.cancel()
            await asyncio.gather(*many, return_exceptions=True)
            await until(lambda: calls._count == 0)

    run(test())


def test_a_stream_outlives_the_time_limits_of_connections(tmp_path: Any, skill: Any) -> None:
    from cortex_skills import Config, Plugin
    from tests.mcp.conftest import SETTINGS
    from tests.server.serving import served

    limits = ConnectionLimits(head_s=0.8, stall_s=0.8, idle_s=1)
    cortex = {"tokenFile": str(tmp_path / "tokens.json"), "authToken": "of-the-host"}
    with served(tmp_path, limits=limits, plugin=Plugin.open(Config(cortex=cortex, **SETTINGS))) as running:

        def attempt(session: dict[str, str] | None, stack: ExitStack) -> dict[str, str] | httpx.Response | None:
            """A session, or the stream of one; None where this machine is too slow for so hasty a server."""
            try:
                client = running.client("of-the-host")
                return stack.enter_context(client.stream("GET", "/mcp", headers=session)) if session else opened(client)
            except httpx.TransportError:
                return None

        with ExitStack() as stack:
            session = next(found for found in (attempt(None, stack) for _ in range(10)) if found)
            stream = next(found for found in (attempt(session, stack) for _ in range(10)) if found)
            threading.Event().wait(2.0)
            running.plugin.load(skill)
            line = next(line for line in stream.iter_lines() if "list_changed" in line)
        assert "notifications/tools/list_changed" in line


def test_the_openapi_document_does_not_list_mcp(running: Running) -> None:
    assert "/mcp" not in running.client().get("/openapi.json").json()["paths"]


def test_hostile_bytes_are_answered(running: Running) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer of-the-host\r\n"
    answer = talk(running.port, head + b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    assert answer.startswith(b"HTTP/1.1 4") or answer == b""


def test_an_unknown_method_is_an_error_of_the_protocol(running: Running) -> None:
    async def test() -> None:
        async with over_http(running, "of-the-host", mode="legacy") as client:
            with pytest.raises(MCPError):
                await client.complete(ref=_reference(), argument={"name": "a", "value": "b"})
            await asyncio.sleep(0)

    run(test())


def _reference() -> Any:
    from mcp_types import PromptReference

    return PromptReference(name="status-desk")
