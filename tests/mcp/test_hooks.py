"""What the host's hooks hear of agents that come over MCP."""

from __future__ import annotations

import asyncio
from typing import Any

from cortex_skills import CortexError
from cortex_skills.gate.hooks import AgentStart, ToolCall
from tests.mcp.conftest import over_http
from tests.server.serving import WAIT_S, Running

STATUS = {"subject": "ada", "predicate": "hasStatus", "object": "approved"}
ASK = {"predicate": "hasStatus", "scope": "namespace"}


def run(test: Any) -> None:
    asyncio.run(asyncio.wait_for(test, WAIT_S))


def test_an_agent_that_asks_for_the_context_starts(running: Running) -> None:
    started: list[AgentStart] = []
    running.plugin.on("before_agent_start", started.append)

    async def test() -> None:
        async with over_http(running, running.token("ada")) as client:
            await client.list_tools()
            assert started == []
            await client.get_prompt("cortex_context")
            await client.read_resource("cortex://context")

    run(test())
    assert started == [AgentStart("ada", running.plugin.session)] * 2


def test_a_call_triggers_hooks_before_and_after_and_may_be_refused(running: Running) -> None:
    asked: list[ToolCall] = []
    ended: list[tuple[str, str]] = []
    last: list[object] = []

    def only_queries(call: ToolCall) -> None:
        asked.append(call)
        if call.tool != "skill_graph_query":
            raise CortexError("permission_denied", "only queries by night", hint="ask in the morning")

    running.plugin.on("before_tool_call", only_queries)
    running.plugin.on("after_tool_call", lambda end: ended.append((end.record.tool, end.record.outcome)))
    running.plugin.on("session_end", last.append)

    async def test() -> None:
        async with over_http(running, running.token("ada")) as client:
            refused = await client.call_tool("skill_assert", STATUS)
            assert (refused.is_error, refused.structured_content["code"]) == (True, "permission_denied")
            assert refused.content[0].text == "permission_denied: only queries by night\nask in the morning"
            found = await client.call_tool("skill_graph_query", ASK)
            assert (found.is_error, found.structured_content["total"]) == (False, 0)
        async with over_http(running, running.token("reader", permissions=("read",))) as client:
            assert (await client.call_tool("skill_assert", STATUS)).is_error  # the token's word, before the gate

    run(test())
    assert [(call.tool, call.arguments, call.skill, call.agent) for call in asked] == [
        ("skill_assert", STATUS, "status-desk", "ada"),
        ("skill_graph_query", ASK, "status-desk", "ada"),
    ]
    assert ended == [("skill_assert", "permission_denied"), ("skill_graph_query", "ok")]
    assert last == []
    running.plugin.close()
    assert len(last) == 1
