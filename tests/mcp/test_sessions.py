"""How the sessions, calls and streams at `/mcp` are shared among the tokens."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.version import LATEST_MODERN_VERSION

from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.mcp import http as endpoint
from cortex_skills.doors.mcp.sessions import SessionTable
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests.mcp.conftest import over_http, until
from tests.mcp.test_clients import ASK, run
from tests.mcp.test_http import ACCEPT, PING, opened
from tests.server.serving import WAIT_S, Running

LIVES, GONE = 200, 404


def alive(client: httpx.Client, *sessions: dict[str, str]) -> list[int]:
    return [client.post("/mcp", json=PING, headers=session).status_code for session in sessions]


# A client that is to discover the protocol takes the older one if the machine is too busy to answer in time.
@pytest.mark.parametrize("mode", ["legacy", LATEST_MODERN_VERSION])
def test_fifty_sessions_of_one_token_with_open_streams_are_all_answered(running: Running, mode: str) -> None:
    token = running.token("ada")

    async def one(ready: asyncio.Barrier) -> list[int]:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(over_http(running, token, mode=mode))
            if mode != "legacy":  # with the handshake, the client opens a stream itself
                await stack.enter_async_context(client.listen(tools_list_changed=True))
            async with asyncio.timeout(WAIT_S):
                await ready.wait()
            answers = [await client.call_tool("skill_graph_query", ASK) for _ in range(2)]
            return [answer.structured_content["total"] for answer in answers]

    async def test() -> None:
        ready = asyncio.Barrier(50)
        assert await asyncio.gather(*(one(ready) for _ in range(50))) == [[0, 0]] * 50

    run(test())


def test_streams_take_the_place_of_no_call(serve: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "CALLS", (8, 4))
    running = serve()
    client = running.client(running.token("ada"))
    sessions = [opened(client) for _ in range(20)]
    with ExitStack() as stack:
        for session in sessions:
            stream = stack.enter_context(client.stream("GET", "/mcp", headers=session))
            assert stream.status_code == LIVES
        assert alive(client, *sessions) == [LIVES] * 20


def test_streams_beyond_the_share_of_a_token_are_refused_and_block_no_other(
    serve: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "STREAMS", (3, 2))
    running = serve()
    ada, eve = running.client(running.token("ada")), running.client(running.token("eve"))
    sessions = [opened(ada) for _ in range(3)]
    with ExitStack() as stack:
        streams = [stack.enter_context(ada.stream("GET", "/mcp", headers=session)) for session in sessions]
        assert [stream.status_code for stream in streams] == [200, 200, 503]
        assert stack.enter_context(eve.stream("GET", "/mcp", headers=opened(eve))).status_code == 200
        assert alive(ada, *sessions) == [LIVES] * 3


def test_one_token_with_many_sessions_loses_its_own_oldest_and_locks_nobody_out(
    serve: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "SESSIONS", (6, 4))
    running = serve()
    greedy, ada, eve = (running.client(running.token(name)) for name in ("greedy", "ada", "eve"))
    of_ada = [opened(ada) for _ in range(2)]
    sessions = [opened(greedy) for _ in range(4)]
    assert alive(greedy, sessions[0]) == [LIVES]  # it is no longer the oldest
    sessions.append(opened(greedy))
    assert alive(greedy, *sessions) == [LIVES, GONE, LIVES, LIVES, LIVES]
    assert alive(ada, *of_ada) == [LIVES] * 2
    of_eve = opened(eve)  # all places are taken: the caller with most sessions loses one
    assert alive(greedy, sessions[0]) == [GONE]
    assert alive(ada, *of_ada) == [LIVES] * 2
    assert alive(eve, of_eve) == [LIVES]


def test_a_session_without_a_stream_ends_before_one_with_it_whose_stream_ends_with_the_session(
    serve: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "SESSIONS", (9, 2))
    running = serve()
    client = running.client(running.token("ada"))
    listening, silent = opened(client), opened(client)
    with client.stream("GET", "/mcp", headers=listening) as stream:
        newer = opened(client)
        assert alive(client, silent, listening) == [GONE, LIVES]
        with client.stream("GET", "/mcp", headers=newer):
            opened(client)
            assert b"".join(stream.iter_raw()) == b""


def test_a_token_cannot_make_the_server_forget_the_sessions_of_another(
    serve: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "SESSIONS", (9, 2))
    running = serve()
    ada, eve = running.client(running.token("ada")), running.client(running.token("eve"))
    sessions = [opened(ada) for _ in range(2)]
    assert alive(eve, sessions[0]) == [GONE]
    sessions.append(opened(ada))
    assert alive(ada, *sessions) == [GONE, LIVES, LIVES]


def test_what_opens_no_session_takes_no_place(serve: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "SESSIONS", (9, 2))
    running = serve()
    client = running.client(running.token("ada"))
    sessions = [opened(client) for _ in range(2)]
    bodies: list[Any] = [PING, []]
    for body in bodies:
        client.post("/mcp", json=body, headers=ACCEPT)
        client.get("/mcp", headers=ACCEPT)
    assert alive(client, *sessions) == [LIVES, LIVES]
    assert client.delete("/mcp", headers=sessions[1]).status_code == 200
    sessions.append(opened(client))
    assert alive(client, *sessions) == [LIVES, GONE, LIVES]


OWNERS = "abc"
STEPS = st.lists(
    st.tuples(st.sampled_from(["open", "call", "stream", "answer", "delete"]), st.integers(0, 40)), max_size=80
)


@given(st.integers(1, 6), st.integers(1, 4), STEPS)
def test_only_idle_sessions_of_those_with_most_end_for_others(most: int, of_owner: int, steps: list[Any]) -> None:
    clock = itertools.count()
    table = SessionTable(most, of_owner, 10_000, clock=lambda: float(next(clock)))
    owners: dict[str, str] = {}
    running: list[tuple[str, bool, ExitStack]] = []
    for number, (action, place) in enumerate(steps):
        ids = list(owners)
        if action == "open":
            owner = OWNERS[place % len(OWNERS)]
            before = Counter(owners.values())
            try:
                table.check(owner)
            except HttpError:
                full = len(owners) >= most
                assert full or before[owner] >= of_owner
                assert any(not is_stream for _, is_stream, _ in running)
                continue
            ending = table.opened(f"s{number}", owner)
            owners[f"s{number}"] = owner
            assert bool(ending) == (len(owners) > most or before[owner] + 1 > of_owner)
            for session in ending:
                assert before[session.owner] >= before[owner]
                assert not any(one == session.id and not is_stream for one, is_stream, _ in running)
                del owners[session.id]
        elif action in ("call", "stream") and ids:
            one, stack = ids[place % len(ids)], ExitStack()
            stack.enter_context(table.using(one, owners[one], is_stream=action == "stream"))
            running.append((one, action == "stream", stack))
        elif action == "answer" and running:
            running.pop(place % len(running))[2].close()
        elif action == "delete" and ids:
            one = ids[place % len(ids)]
            table.ended(one, "another")
            table.ended(one, owners.pop(one))
        assert len(owners) <= most
        assert all(count <= of_owner for count in Counter(owners.values()).values())


def test_sessions_that_nothing_used_are_forgotten() -> None:
    now = [0.0]
    table = SessionTable(1, 1, 900, clock=lambda: now[0])
    assert table.opened("old", "ada") == []
    now[0] = 901
    table.check("ada")
    assert table.opened("new", "ada") == []


def test_a_session_is_of_the_caller_who_opened_it_until_it_ends() -> None:
    table = SessionTable(4, 4, 900)
    table.opened("s1", "token:ada")
    assert [table.is_of("s1", owner) for owner in ("token:ada", "token:eve")] == [True, False]
    assert [table.is_of(unknown, "token:ada") for unknown in (None, "", "s2")] == [False] * 3
    table.ended("s1", "token:ada")
    assert not table.is_of("s1", "token:ada")


def test_the_table_names_each_session_that_has_ended() -> None:
    now = [0.0]
    table, ended = SessionTable(2, 2, 10.0, lambda: now[0]), list[str]()
    table.on_end = lambda session: ended.append(session.id)
    for name in ("a", "b", "c"):  # the third one displaces the first
        table.opened(name, "ada")
        now[0] += 1
    table.ended("b", "eve")
    table.ended("b", "ada")
    now[0] = 100.0
    with table.using("c", "eve", is_stream=False):
        pass
    assert ended == ["a", "b", "c"]


def test_the_end_of_a_session_records_the_outcome_of_a_loaded_skill(serve: Callable[..., Running]) -> None:
    running = serve()
    registry = running.plugin.registry
    body = "1. **Ask the graph** — use skill_graph_query\n"
    fields = {"name": "ask-the-graph", "description": "Asks.", "body": body}
    registry.register(inline_document(fields, "mayros"), actor="ada", origin="human")
    key = SkillKey("mayros", "ask-the-graph")
    running.plugin.unload("status-desk")  # it allows no tool of the registry
    running.plugin.load(builtin_skill(NOTEBOOK))

    async def test() -> None:
        async with over_http(running, running.token("ada"), mode="legacy") as client:
            for tool, arguments in (("load_skill", {"name": "ask-the-graph"}), ("skill_graph_query", ASK)):
                answer = await client.call_tool(tool, {**arguments, "skill": NOTEBOOK})
                assert not answer.is_error, answer.content
            assert registry.record(key).quality.invocations == 0
        await until(lambda: registry.record(key).quality.invocations == 1)
        assert registry.record(key).quality.successes == 1

    run(test())
